"""Effects of Hampa Apena's actions on the hide: the two hits, and the foul that settles it or the one before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pi_controller.referee.story import Hit, Story

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.games.base import Game, Json


def settle(game: Game[Any], before: Story, after: Story, action: Mapping[str, Json]) -> Story:
    """Return the story after `action`, which was taken in `before`; `after` has the state it led to and its words."""
    sheet, over, hide = game.sheet(after.state), game.over(after.state), after.hide
    do, kind = action.get("do"), action.get("kind")
    if do == "toss":
        return replace(after, phase="hide")
    if do == "forfeit":
        return replace(after, phase="over", hide=replace(hide, passes=()))
    foul = (before.hide.foul_seen or kind) if do == "foul" else None
    if do == "foul" and action.get("hide") == "last":
        if after.phase not in ("show", "over"):
            return replace(after, phase="over") if over else after
        return replace(after, phase="over" if over else "show", hide=replace(hide, foul=foul))
    hide = replace(hide, begun=True)
    if do == "hit":
        if not after.calls and hide.hits:  # a second hit that calls nothing leaves the first one's words standing
            after = replace(after, calls=before.calls)
        waived = tuple(each for each in hide.waived if each != "time")  # each hit has its own
        hide = replace(hide, hits=(*hide.hits, Hit(action.get("pad"), bool(action.get("found")))), waived=waived)
    elif sheet == game.sheet(before.state):
        return replace(after, hide=hide)  # a warning
    elif kind == "time" and sheet["owed"] == "second":
        hide = replace(hide, hits=(*hide.hits, Hit(None, found=False)))
    if over or sheet["owed"] == "first":
        return replace(after, phase="over" if over else "show", hide=replace(hide, passes=(), foul=foul))
    return replace(after, phase="hit", hide=hide)
