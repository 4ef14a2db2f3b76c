"""Drives the light strip on the mat board over the link, sending only changed pixels.

Only the newest frame is sent; a frame that is replaced before it could be sent is skipped. On each new link the
whole frame is sent, because the board may have restarted.
"""

from collections.abc import Sequence
from contextlib import suppress

from pi_controller.board import wire
from pi_controller.board.board_commands import BoardCommand
from pi_controller.board.connection import BoardConnection
from pi_controller.board.interfaces import Rgb, StripError, StripOptions
from pi_controller.board.session import BoardSession
from pi_controller.board.strips import CAP_MA, LimitedStrip

_MAX_RUN_PIXELS = 127
"""Largest number of pixels in a run."""
_WORTH = 3
"""From this number of pixels of one colour on, a separate run is shorter."""


class BoardStrip(LimitedStrip):
    """A strip of `count` pixels on the board at the other end of `session`.

    `brightness` is 0 to 1, `cap_ma` the current limit of all pixels together. A frame shown without a board is sent
    when one connects. `show` raises `StripError` if the connected board has no strip.
    """

    def __init__(self, count: int, session: BoardSession, brightness: float = 1.0, cap_ma: float = CAP_MA) -> None:
        super().__init__(count, brightness, cap_ma)
        self.wanted: Sequence[Rgb] = self.dark
        self._shown: Sequence[Rgb] | None = None
        self._link: int = 0
        self._refused = False
        self._session = session
        session.commands.sources.append(self._next)

    def send(self, pixels: Sequence[Rgb]) -> None:
        """Queue `pixels` for the session's next tick."""
        self.wanted = pixels
        session = self._session
        if not session.up:
            return
        if not session.has_feature(wire.HAS_STRIP):
            raise StripError("the board's firmware drives no light strip", "flash the board: firmware/README.md")
        if self._refused:
            raise StripError(
                f"the board has no strip of {self.count} pixels", "flash the board's firmware: firmware/README.md"
            )

    def close(self) -> None:
        """Turn all pixels off. The board also does so itself when the host falls silent. Closing twice is fine."""
        with suppress(StripError):
            super().close()

    def _next(self) -> BoardCommand | None:
        session = self._session
        if not session.has_feature(wire.HAS_STRIP):
            return None
        if session.commands.links != self._link:
            self._link, self._shown, self._refused = session.commands.links, None, False
        if self.wanted == self._shown or self._refused:
            return None
        frame = self.wanted
        runs = encode_changes(self._shown, frame)

        def done(result: int | None) -> None:
            if result == wire.OBEYED:
                self._shown = frame
            elif result is not None:
                self._refused = True

        def body(number: int) -> bytearray:
            return wire.lights_body(number, runs)

        return BoardCommand(body, done)


def make_board_strip(options: StripOptions) -> BoardStrip:
    """Return the strip on the board of `options.source`. Raises `StripError` if that is no board."""
    if not isinstance(options.source, BoardConnection):
        raise StripError("there is no board that could drive the light strip", "name its port in [board]")
    return BoardStrip(options.count, options.source.session, options.brightness, options.cap_ma)


def encode_changes(old: Sequence[Rgb] | None, new: Sequence[Rgb]) -> bytes:
    """Return the runs of a LIGHTS command that change `old` into `new`; all of `new` if `old` is None."""
    out = bytearray()
    head = -1  # index in `out` of the current run of differing colours
    at = 0
    while at < len(new):
        if old is not None and old[at] == new[at]:
            head = -1
            at += 1
            continue
        end = at + 1
        while (
            end < len(new)
            and end - at < _MAX_RUN_PIXELS
            and new[end] == new[at]
            and (old is None or old[end] != new[end])
        ):
            end += 1
        if end - at >= _WORTH:
            out += bytes((at, end - at | wire.SAME, *new[at]))
            head = -1
            at = end
            continue
        if head < 0 or out[head + 1] == _MAX_RUN_PIXELS:
            head = len(out)
            out += bytes((at, 0))
        out[head + 1] += 1
        out += bytes(new[at])
        at += 1
    return bytes(out)
