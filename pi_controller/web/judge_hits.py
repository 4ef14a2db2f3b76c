"""Waveforms around the hits, for the judges: of finished hides; for the head judge of the current one too.

Of the hide in progress a stroke is shown only when it is settled: no question is open, and what the table waits for
began after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.show.hit_plot import hit_svg
from pi_controller.table.review import Kept, kept, stroke
from pi_controller.web.request_body import RefusedError
from pi_controller.web.signing.roles import may

if TYPE_CHECKING:
    from pathlib import Path

    from pi_controller.table.view import View
    from pi_controller.web.api_types import KeptHit


def shown(hit: Kept, view: View, role: str) -> bool:
    """Return whether somebody of `role` may see `hit` while the table is as `view`."""
    if hit.hide < view.hide or hit.hide == 0 or (hit.hide == view.hide and view.phase in {"show", "over"}):
        return True
    settled = bool(view.hits) and view.question is None and hit.t <= view.since
    return hit.hide == view.hide and settled and may(role, "raw")


def listed(path: Path, view: View, role: str) -> list[KeptHit]:
    """Return the hits kept at `path` that may be seen, the newest last; none where none are kept."""
    if not path.is_file():
        return []
    return [
        {"n": hit.id, "hide": hit.hide, "t": hit.t, "pads": hit.pads, "margin_db": hit.margin_db, "sure": hit.sure}
        for hit in kept(path)
        if shown(hit, view, role)
    ]


def drawn(path: Path, number: int, view: View, role: str) -> str:
    """Return hit `number` as SVG. Raises `RefusedError` where there is none that may be seen, and `ReviewError`."""
    found = next((hit for hit in kept(path, number) if shown(hit, view, role)), None) if path.is_file() else None
    if found is None:
        raise RefusedError("missing", "there is no such hit to be seen", "look at the list again")
    return hit_svg(stroke(path, number))
