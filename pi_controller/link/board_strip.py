"""Drives the light strip on the mat board over the link; only the pixels that change are sent.

The newest frame is what is sent; one that the wire had no time for is never shown. On each new link the board is told
the whole frame, for it may have started anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.drivers.ports import StripError
from pi_controller.drivers.strips import CAP_MA, dressed
from pi_controller.link import wire
from pi_controller.link.commands import BoardCommand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.drivers.ports import Rgb
    from pi_controller.link.session import Session

_MOST = 127
"""Pixels of a run."""
_WORTH = 3
"""From so many pixels of one colour on, a run of their own is shorter."""


class BoardStrip:
    """A strip of `count` pixels on the board that `session` talks to.

    `brightness` is 0 to 1, `cap_ma` the cap of all pixels together. What is shown while there is no board shows as soon
    as there is one. `show` raises `StripError` when the board that is there has no strip.
    """

    def __init__(self, count: int, session: Session, brightness: float = 1.0, cap_ma: float = CAP_MA) -> None:
        self.count = count
        self._brightness = brightness
        self._cap_ma = cap_ma
        self.wanted: list[Rgb] = [(0, 0, 0)] * count
        self._shown: list[Rgb] | None = None
        self._link: int = 0
        self._refused = False
        self._open = True
        self._session = session
        session.orders.sources.append(self._next)

    def __repr__(self) -> str:
        return f"<BoardStrip {self.count} pixels{'' if self._open else ', closed'}>"

    def show(self, frame: Sequence[Rgb]) -> None:
        """Queue `frame`, dimmed and current-limited, for the session's next tick."""
        if not self._open:
            raise StripError("the light strip is closed", "open it again")
        self.wanted = dressed(frame, self.count, self._brightness, self._cap_ma)
        session = self._session
        if not session.up:
            return
        if not session.has(wire.HAS_STRIP):
            raise StripError("the board's firmware drives no light strip", "flash the board: firmware/README.md")
        if self._refused:
            raise StripError(
                f"the board has no strip of {self.count} pixels", "flash the board's firmware: firmware/README.md"
            )

    def close(self) -> None:
        """Turn all pixels off. The board does so too as soon as nobody talks to it. Closing twice is fine."""
        self._open = False
        self.wanted = [(0, 0, 0)] * self.count

    def _next(self) -> BoardCommand | None:
        session = self._session
        if not session.has(wire.HAS_STRIP):
            return None
        if session.orders.links != self._link:
            self._link, self._shown, self._refused = session.orders.links, None, False
        if self.wanted == self._shown or self._refused:
            return None
        frame = self.wanted
        runs = changes(self._shown, frame)

        def done(result: int | None) -> None:
            if result == wire.OBEYED:
                self._shown = frame
            elif result is not None:
                self._refused = True

        def body(number: int) -> bytearray:
            return wire.lights_body(number, runs)

        return BoardCommand(body, done)


def changes(old: Sequence[Rgb] | None, new: Sequence[Rgb]) -> bytes:
    """Return the runs of a LIGHTS that make `old` into `new`; all of `new` where `old` is None."""
    out = bytearray()
    head = -1  # where the run of differing colours that is being written begins, in `out`
    at = 0
    while at < len(new):
        if old is not None and old[at] == new[at]:
            head = -1
            at += 1
            continue
        end = at + 1
        while end < len(new) and end - at < _MOST and new[end] == new[at] and (old is None or old[end] != new[end]):
            end += 1
        if end - at >= _WORTH:
            out += bytes((at, end - at | wire.SAME, *new[at]))
            head = -1
            at = end
            continue
        if head < 0 or out[head + 1] == _MOST:
            head = len(out)
            out += bytes((at, 0))
        out[head + 1] += 1
        out += bytes(new[at])
        at += 1
    return bytes(out)
