"""Ports for servers under test."""

import random
import socket

BELOW_EPHEMERAL = range(15_000, 32_000)
"""Linux takes ports of outgoing connections, and of `bind` to port 0, from 32768 up: until the server under test
listens, another test's connection could take a port from there."""


def free_port(host="127.0.0.1"):
    """Return a port of `host` at which no program listens."""
    while True:
        port = random.SystemRandom().choice(BELOW_EPHEMERAL)
        with socket.socket() as one:
            try:
                one.bind((host, port))
            except OSError:
                continue
        return port
