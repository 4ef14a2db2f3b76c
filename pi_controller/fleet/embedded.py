"""A broker in the hub's own process, for a first try on one machine: it listens to that machine alone."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from pi_controller.errors import MatError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class BrokerError(MatError, OSError):
    """The hub's own broker cannot run."""

    code = "broker"


@asynccontextmanager
async def embedded_broker(port: int) -> AsyncGenerator[None]:
    """Run a broker at this machine's `port`. Raises `BrokerError`."""
    try:
        amqtt = import_module("amqtt.broker")  # only a hub without Mosquitto needs it
        refused = import_module("amqtt.errors").BrokerError
    except ImportError as error:
        todo = "apt install mosquitto and 'moccasin-mat hub setup', or pip install '.[hub]' in the clone"
        raise BrokerError("there is no broker", todo) from error
    for name in ("amqtt", "transitions"):
        logging.getLogger(name).setLevel(logging.ERROR)
    broker = amqtt.Broker(
        {
            "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
            "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
        }
    )
    try:
        await broker.start()
    except (refused, OSError) as error:
        raise BrokerError(
            f"the broker cannot listen at port {port}: {error}", "stop what holds it, or set [broker] port in hub.toml"
        ) from error
    try:
        yield
    finally:
        await broker.shutdown()
