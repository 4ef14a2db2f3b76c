"""Probes a port with HELLO and reads the board's identity.

This is an edge: it reads the clock and waits for bytes.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import msgspec

from pi_controller.link import wire
from pi_controller.link.session import HELLO_S, REASONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.drivers.serial_port import SerialPort

ANSWER_S = 1.2
"""A mat that runs answers within milliseconds."""
STAY = b"\r\x03"
"""What a mat that runs hears as the wish to copy files: it starts anew without its program."""
_PROMPT = re.compile(rb">>> |raw REPL|MicroPython|CircuitPython")


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A board's identity (WELCOME); of another major protocol only `protocol` is known."""

    protocol: str
    firmware: str = ""
    board: str = ""
    starts: int = 0
    reason: str = ""

    @property
    def understood(self) -> bool:
        """Whether this program can talk with it."""
        return self.protocol.partition(".")[0] == str(wire.PROTOCOL[0])

    def text(self) -> str:
        """Return it in one line."""
        if not self.understood:
            return f"speaks protocol {self.protocol}, this program {ours()}"
        return f"board {self.board}, firmware {self.firmware}, protocol {self.protocol}"

    def start(self) -> str:
        """Return the board's boot count and reset cause."""
        return f"start {self.starts}, by {self.reason}"


class ProbeResult(msgspec.Struct, frozen=True):
    """Result of a probe: a mat's `answer`, or the `prompt` of a MicroPython without our firmware, or neither."""

    answer: Answer | None
    prompt: bool


def ours() -> str:
    """Return the protocol that this program speaks."""
    return "{}.{}".format(*wire.PROTOCOL)


def ask(
    port: SerialPort,
    seconds: float = ANSWER_S,
    clock: Callable[[], float] = time.monotonic,
    *,
    starting_s: float = 0.0,
) -> ProbeResult:
    """Say HELLO until a mat answers, at most `seconds`, then BYE. Raises `PortError` when the port is lost.

    A board that is starting gives signs of life: with `starting_s` each makes the wait begin anew, `starting_s` long in
    all, and MicroPython's prompt, where a program that failed leaves it, ends it at once.
    """
    decoder = wire.Decoder(wire.TO_HOST, wire.WELCOME)
    number, received = 0, b""
    began = clock()
    end, next_hello = began + seconds, began
    while (now := clock()) < end:
        if now >= next_hello:
            port.write(wire.seal(wire.hello_body(), number))
            number, next_hello = number + 1, now + HELLO_S
        port.wait(min(end, next_hello) - now)
        data = port.read()
        received = (received + data)[-4096:]
        for kind, _, payload in decoder.feed(data):
            if kind == wire.WELCOME:
                port.write(wire.seal(wire.bye_body(), number))
                return ProbeResult(_answer(payload), prompt=False)
        if data and starting_s:
            if _PROMPT.search(received):
                break
            end = max(end, min(clock() + seconds, began + starting_s))
    return ProbeResult(None, _PROMPT.search(received) is not None)


def _answer(payload: bytes) -> Answer:
    protocol = f"{payload[0]}.{payload[1]}"
    if payload[0] != wire.PROTOCOL[0]:
        return Answer(protocol)
    _, _, x, y, z, name, starts, reason, *_ = wire.welcome(payload)
    return Answer(protocol, f"{x}.{y}.{z}", name.hex(), starts, REASONS.get(reason, "an unknown reason"))
