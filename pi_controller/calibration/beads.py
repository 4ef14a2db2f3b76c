"""Step 4, bead: on each pad it must be read as one, as the marked one, on the right pad; measures its strength."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pi_controller.calibration.step import PadByPad
from pi_controller.calibration.view import Bar
from pi_controller.mat.bead_fit import shipped_fitter
from pi_controller.mat.bead_refine import MARKED_AM2
from pi_controller.mat.events import Beads
from pi_controller.pads import PADS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.calibration.detectors import Detectors
    from pi_controller.link.messages import Message
    from pi_controller.mat.events import MatEvent

HINT_S = 1.5
"""A reading that is not right may still be the hand on its way: only then is it said."""
WEAK = 0.6
"""Share of a marked bead's strength below which it is too weak to be told from an unmarked ball for sure."""


class BeadStep(PadByPad):
    """Asks for the bead on each pad. A reading that is not right may be corrected until a timeout."""

    name = "bead"
    title = "The bead on each pad"

    def __init__(self) -> None:
        super().__init__(PADS)

    def begin(self, detectors: Detectors, t: float) -> None:
        """Start, or start over."""
        self.restart(t)
        self._detectors = detectors
        self.moments = [0.0] * self.pads
        self._last: int | None = None
        self._why: tuple[str, str] | None = None
        self._why_since = t

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:  # noqa: ARG002 - a step's face
        """Take one message that the senses have been fed."""
        for event in events:
            if isinstance(event, Beads) and self.pad is not None:
                self._read(event, t, self.pad)

    def tick(self, t: float) -> None:
        """Let time pass to `t`."""
        self.note = ""
        if self._why is not None and t - self._why_since > HINT_S:
            what, todo = self._why
            self.note = f"{what[0].upper()}{what[1:]}: {todo}."
        if self.pad is not None and self.waited(t):
            what, todo = self._why or (
                f"no bead is read on pad {self.pad}",
                "check that it holds its magnet; 'moccasin-mat doctor' names dead magnetometers",
            )
            self.fail(what, todo)
            self._last = None
            self._leave(t)
        if self.over and not self.wrong:
            strong = ", ".join(f"{1000 * moment:.0f}" for moment in self.moments)
            self.found = [f"the bead is read as one, marked, on the right pad; strength {strong} mA m\u00b2"]

    def ask(self) -> str:
        """Return what the person is to do now."""
        return f"Lay the marked bead on pad {self.pad} and take the hand away."

    def bars(self) -> tuple[Bar, ...]:
        """Return one bar a pad: how strong the bead is there, of what a marked one should be."""
        bars: list[Bar] = []
        for pad, (moment, state) in enumerate(zip(self.moments, self.states, strict=True), 1):
            message = (
                f"{1000 * moment:.0f} mA m\u00b2"
                if moment
                else {"now": "asked for", "bad": "not right"}.get(state, "to come")
            )
            bars.append(Bar(f"pad {pad}", min(moment / MARKED_AM2 / 1.25, 1.0), message, state))
        return tuple(bars)

    def _read(self, beads: Beads, t: float, pad: int) -> None:
        """Take what lies at rest now."""
        found = list(beads.found)
        if not found:
            self._last = self._why = None
            return
        if len(found) > 1:
            self._hint(t, f"{len(found)} magnets are read while one bead lies on pad {pad}", "take other magnets away")
        elif found[0].pad != pad:
            if found[0].pad == self._last:
                return  # it has not been moved on yet
            where = f"on pad {found[0].pad}" if found[0].pad else "beside the pads"
            todo = f"lay it on pad {pad}; if it does lie there, the plugs of these pads' magnetometers are exchanged"
            self._hint(t, f"the bead asked for on pad {pad} is read {where}", todo)
        elif not beads.sure:
            self._hint(t, f"the bead on pad {pad} is read unsurely", "take phones and keys away from the mat")
        else:
            self._accept(t, pad, marked=found[0].marked)

    def _accept(self, t: float, pad: int, *, marked: bool) -> None:
        self.moments[pad - 1] = self._moment()
        if not marked:
            self.fail(f"the bead on pad {pad} is read as an unmarked ball", "use the bead with the strong magnet")
        elif self.moments[pad - 1] < WEAK * MARKED_AM2:
            self.fail(f"the bead on pad {pad} is weak", "use a bead with a magnet of 6 x 6 mm, N42")
        self._last = pad
        self._leave(t)

    def _moment(self) -> float:
        """Return the strength of the bead that lies there, A m^2."""
        base = self._detectors.beads.baseline
        if base is None or not self._detectors.scans:
            return 0.0
        ut, ok = self._detectors.field()
        fit = shipped_fitter().fit(ut - base.offsets, ok & base.known, noise=1.0, most=1)
        return float(np.linalg.norm(fit.beads[0].moment)) if fit.beads else 0.0

    def _hint(self, t: float, what: str, todo: str) -> None:
        self._why, self._why_since = (what, todo), t

    def _leave(self, t: float) -> None:
        self._why = None
        self.next_pad(t)
