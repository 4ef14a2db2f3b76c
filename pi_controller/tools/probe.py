"""Probes a port with HELLO, and reads the board's identity."""

import re
import time
from collections.abc import Callable

import msgspec

from pi_controller.board import wire
from pi_controller.board.messages import REASONS
from pi_controller.board.serial_port import SerialPort
from pi_controller.board.session import HELLO_S

ANSWER_S = 1.2
"""A mat that runs answers within milliseconds."""
INTERRUPT = b"\r\x03"
"""A running mat takes this as the request to copy files, and restarts without its program."""
_PROMPT = re.compile(rb">>> |raw REPL|MicroPython|CircuitPython")


class BoardIdentity(msgspec.Struct, frozen=True, omit_defaults=True):
    """A board's identity (WELCOME); for another major protocol only `protocol` is known."""

    protocol: str
    firmware: str = ""
    board: str = ""
    starts: int = 0
    reason: str = ""

    @property
    def is_supported(self) -> bool:
        """True if this program supports the board's protocol."""
        return self.protocol.partition(".")[0] == str(wire.PROTOCOL[0])

    def text(self) -> str:
        """Return the identity in one line."""
        if not self.is_supported:
            return f"speaks protocol {self.protocol}, this program {own_protocol()}"
        return f"board {self.board}, firmware {self.firmware}, protocol {self.protocol}"

    def start(self) -> str:
        """Return the board's boot count and reset cause in a few words."""
        return f"start {self.starts}, by {self.reason}"


class ProbeResult(msgspec.Struct, frozen=True):
    """Result of a probe: a mat's `answer`, or the `prompt` of a MicroPython without our firmware, or neither."""

    answer: BoardIdentity | None
    prompt: bool


def own_protocol() -> str:
    """Return this program's protocol version."""
    return "{}.{}".format(*wire.PROTOCOL)


def probe(
    port: SerialPort,
    seconds: float = ANSWER_S,
    clock: Callable[[], float] = time.monotonic,
    *,
    starting_s: float = 0.0,
) -> ProbeResult:
    """Send HELLO until a mat answers, for at most `seconds`, then BYE. Raises `PortError` if the port is lost.

    A starting board sends data from time to time: with `starting_s` any data restarts the wait, up to `starting_s` in
    all, and MicroPython's prompt, which a failed program leaves, ends it at once.
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


def _answer(payload: bytes) -> BoardIdentity:
    protocol = f"{payload[0]}.{payload[1]}"
    if payload[0] != wire.PROTOCOL[0]:
        return BoardIdentity(protocol)
    _, _, x, y, z, name, starts, reason, *_ = wire.welcome(payload)
    return BoardIdentity(protocol, f"{x}.{y}.{z}", name.hex(), starts, REASONS.get(reason, "an unknown reason"))
