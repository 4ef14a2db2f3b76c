"""The consequence of an action before it is entered: the game's rules play it, and the scoreboards are compared.

A state is never changed by playing it. All possible entries of a form are played alike, whatever is hidden.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any

from pi_controller.display.game_display import GameShow, get_show
from pi_controller.display.i18n import Translator
from pi_controller.display.shown_names import isolate_name, player_name
from pi_controller.errors import MatError
from pi_controller.rules.base import Game
from pi_controller.rules.scoreboard import Scoreboard, gains
from pi_controller.table.view import View
from pi_controller.web.entry_forms import NO_PIECE_KEY, Action, ChoiceRow, EntryForm


def action_key(action: Action) -> str:
    """Return a name of the action that the page's script can make, too: `ball=2 do=shoot hit=1 opened=3`.

    >>> action_key({"do": "throw", "red": {"woman": 1, "fish": 0}})
    'do=throw fish=0 woman=1'
    """
    return " ".join(sorted(f"{key}={_value_text(value)}" for key, value in _flatten(action)))


def _flatten(action: Action) -> Iterator[tuple[str, Any]]:
    for key, value in action.items():
        if isinstance(value, Mapping):
            yield from _flatten(value)  # pyright: ignore[reportUnknownArgumentType] - JSON
        else:
            yield key, value


def _value_text(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case list() | tuple():
            return ",".join(map(str, value))
        case _:
            return str(value)


def list_entries(form: EntryForm) -> Iterator[dict[str, Any]]:
    """Yield the actions that the rows of `form` can be filled in to, as the page's script makes them."""
    if form.submit is None:
        return
    action, rows = form.submit.say["action"], {row.key: row for row in form.rows}
    match form.shape:
        case "shoot":
            opened = [
                list(some) for n in range(rows["opened"].many + 1) for some in permutations(_values(rows["opened"]), n)
            ]
            for pads, hit, ball in product(opened, (None, *_values(rows["hit"])), _values(rows["ball"])):
                if (hit is None) == (pads[-1:] == [ball]):
                    yield {**action, "opened": pads, "hit": hit, "ball": ball}
        case "guess":
            marks = [dict[str, bool](), *({key: True} for key in ("block", "mirror") if key in rows)]
            for signal, actual, mark in product(_values(rows["signal"]), _values(rows["actual"]), marks):
                yield {**action, "signal": signal, "actual": actual, **mark}
        case _:
            pieces = [row for row in form.rows if row.key != NO_PIECE_KEY]
            for counts in product(*(range(row.many + 1) for row in pieces)):
                found = dict(zip((row.key for row in pieces), counts, strict=True))
                yield {**action, **({"red": found} if "woman" in found else found)}


def _values(row: ChoiceRow) -> Sequence[Any]:
    return [choice.value for choice in row.choices]


def list_consequences(
    form: EntryForm, view: View, game: Game[Any], state: Any, tr: Translator, more: Sequence[Action] = ()
) -> dict[str, str]:
    """Return the consequence of each action of `form`, and of `more`, by `action_key`; illegal ones are left out."""
    buttons = filter(None, (*form.buttons, *form.more, form.submit, form.ready))
    actions = [one.say["action"] for one in buttons if one.say.get("judge") == "action"]
    found: dict[str, str] = {}
    for action in (*actions, *list_entries(form), *more):
        try:
            after, _ = game.play(state, action)
        except MatError:
            continue
        # a guess is entered by small buttons
        found[action_key(action)] = describe_consequence(view, game, state, after, tr, brief=form.shape == "guess")
    return found


def describe_consequence(
    view: View, game: Game[Any], before: Any, after: Any, tr: Translator, *, brief: bool = False
) -> str:
    """Return what changes from the state `before` to `after`: `four to Big Coulee, then Big Coulee hides`.

    `brief`: only what is won.
    """
    was, now = (game.scoreboard(game.sheet(state)) for state in (before, after))
    show = get_show(view.game, tr)
    if now.winner is not None:
        return tr.text("the game to {side}", side=isolate_name(player_name(view, now.winner)))
    said = _describe_moves(view, was, now, show, tr)
    if brief:
        return ", ".join(said)
    if game.phase_of(after) == "hit":
        said.append(tr.text("then the second hit"))
    elif now.turn is not None:
        does = show.label(now.side(now.turn).role)
        said.append(tr.text("then {side} {does}", side=isolate_name(player_name(view, now.turn)), does=does))
    return ", ".join(said)


def _describe_moves(view: View, was: Scoreboard, now: Scoreboard, show: GameShow[Any], tr: Translator) -> list[str]:
    """Return the points won, or else what each side gains of its stake; players may lose something, too."""
    names = {side: isolate_name(player_name(view, side)) for side in now.scores}
    if now.goal and (scored := [side for side, n in now.scores.items() if n > was.scores.get(side, n)]):
        return [tr.text("a point to {side}", side=names[side]) for side in scored]
    moved = gains(was, now)
    said = [tr.text("{n} to {side}", n=show.number(n), side=names[side]) for side, n in moved.items() if n > 0]
    if not now.of_teams:
        lost = {side: -n for side, n in moved.items() if n < 0}
        said += [tr.text("{side} loses {n}", n=show.number(n), side=names[side]) for side, n in lost.items()]
    return said or [tr.text("nothing moves")]
