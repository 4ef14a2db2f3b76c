"""Waveforms of the hits for the judges: of finished hides; the head judge may also see the current hide.

A hit of the current hide is visible only after it is settled: no question is open, and the table's current wait began
after the hit.
"""

from pathlib import Path

from pi_controller.display import hit_plot
from pi_controller.recording.hits import RecordedStroke, strokes
from pi_controller.referee.story import SETTLED
from pi_controller.table.view import View
from pi_controller.web import (
    api,
    requests,
    roles,
)


def can_see_hit(hit: RecordedStroke, view: View, role: str) -> bool:
    """Return whether a user with `role` may see `hit` in the current `view`."""
    if hit.hide < view.hide or hit.hide == 0 or (hit.hide == view.hide and view.phase in SETTLED):
        return True
    settled = bool(view.hits) and view.question is None and hit.t <= view.since
    return hit.hide == view.hide and settled and roles.has_right(role, "raw")


def list_hits(path: Path, view: View, role: str) -> list[api.KeptHit]:
    """Return the recorded hits at `path` that the user may see, the newest last; [] if hits are not recorded."""
    if not path.is_file():
        return []
    return [
        {"n": hit.id, "hide": hit.hide, "t": hit.t, "pads": hit.pads, "margin_db": hit.margin_db, "sure": hit.sure}
        for hit in strokes(path)
        if can_see_hit(hit, view, role)
    ]


def draw_hit(path: Path, number: int, view: View, role: str) -> str:
    """Return hit `number` as SVG. Raises `RequestError` if it is missing or secret, and `RecordingError`."""
    found = strokes(path, number=number) if path.is_file() else []
    if not found or not can_see_hit(found[0], view, role):
        raise requests.RequestError("missing", "there is no such hit", "look at the list again")
    return hit_plot.hit_svg(found[0])
