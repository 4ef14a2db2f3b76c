"""The fouls a judge can enter, each with the hide it is of, the team it is for, and how the sticks lie after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from pi_controller.games.base import IllegalActionError, other
from pi_controller.games.dakota_state import HIDER_FOULS, HITTER_FOULS, State
from pi_controller.show import phrases
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import inline, team_name
from pi_controller.show.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.games.base import Game
    from pi_controller.table.view import View

    Text = Callable[[str], str]

Which = Literal["this", "last"]


class FoulButton(msgspec.Struct, frozen=True):
    """One foul to enter: `say` is the call without its time, `outcome` what follows from it."""

    by: str
    kind: str
    hide: Which
    label: str
    outcome: str
    say: dict[str, Any]


class FoulsOf(msgspec.Struct, frozen=True):
    """The fouls of one hide; `label` says which it is and who hides in it, `chosen` whether it is shown first."""

    hide: Which
    label: str
    chosen: bool
    buttons: tuple[FoulButton, ...]


def fouls(view: View, game: Game[Any], state: object, language: str = "en") -> tuple[FoulsOf, ...]:
    """Return the fouls that the rules allow now, by the hide they are of: the one in progress, the one just settled.

    While the bead is shown the hide just settled comes first: a foul seen then is nearly always of that one.
    """
    if not isinstance(state, State):
        return ()
    found: list[FoulsOf] = []
    settled = view.phase in {"show", "over"}
    for hide in ("last", "this") if settled else ("this", "last"):
        began = state.last if hide == "last" else state
        if began is None or began.hider is None:
            continue
        buttons = _buttons(view, game, state, hide, began, language)
        if buttons:
            label = _label(view, hide, began, settled=settled, language=language)
            found.append(FoulsOf(hide, label, not found, buttons))
    return tuple(found)


def _label(view: View, hide: Which, began: State, *, settled: bool, language: str) -> str:
    text = catalogue(language).gettext
    number = view.hide + (settled and hide == "this") - (not settled and hide == "last")
    said = text("Hide {n}, just settled: {team} hid") if hide == "last" else text("Hide {n}: {team} hides")
    return said.format(n=number, team=inline(team_name(view, began.hider or "A")))


def _buttons(
    view: View, game: Game[Any], state: State, hide: Which, began: State, language: str
) -> tuple[FoulButton, ...]:
    buttons: list[FoulButton] = []
    for by, kinds in (("hider", HIDER_FOULS), ("hitter", HITTER_FOULS)):
        for kind in kinds:
            action = {"do": "foul", "by": by, "kind": kind} | ({"hide": "last"} if hide == "last" else {})
            try:
                after, _ = game.play(state, action)
            except IllegalActionError:
                continue
            outcome = _outcome(view, game, by, began, state, after, language)
            buttons.append(
                FoulButton(by, kind, hide, foul_label(kind, language), outcome, {"judge": "action", "action": action})
            )
    return tuple(buttons)


def _outcome(view: View, game: Game[Any], by: str, began: State, now: State, after: State, language: str) -> str:
    """Return whom the foul is for, and how both teams stand then."""
    text, plural = catalogue(language).gettext, catalogue(language).ngettext
    if game.sheet(now) == game.sheet(after):
        return text("A warning: nothing changes.")
    assert began.hider
    team = other(began.hider) if by == "hider" else began.hider
    opponents = other(team)
    if after.winner:
        said = text("For {team}: {sticks}, {points}, and the game")
    elif after.owed == "second":
        said = text("For {team}: {sticks}, {points} ({opponents}: {count}). The second hit is owed")
    elif after.hider == team:
        said = text("For {team}: {sticks}, {points} ({opponents}: {count}). They hide next")
    else:
        said = text("For {team}: {sticks}, {points} ({opponents}: {count}). They hit next")
    return said.format(
        team=inline(team_name(view, team)),
        opponents=inline(team_name(view, opponents)),
        sticks=plural("{n} stick", "{n} sticks", after.sticks[team]).format(n=after.sticks[team]),
        points=plural("{n} point", "{n} points", after.points(team)).format(n=after.points(team)),
        count=after.sticks[opponents],
    )


def foul_label(kind: str, language: str = "en") -> str:
    """Return a foul as a button says it: a few words."""
    return phrases.foul(kind, language).rstrip(".") or plain(kind)
