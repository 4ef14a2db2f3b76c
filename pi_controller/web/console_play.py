"""What a judge can say of the game just now, as buttons and rows of choices under fixed places.

A `Play` says which of five shapes it has, and the script draws it: `choice` (buttons), `hits` (pads, found, missed),
`shoot` and `guess` (a row for each thing to be told), `pieces` (what shows in the bowl). The same shape without `legal`
is what the last action can be replaced by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_controller.games.bageswin import PIECES as COUNTS
from pi_controller.games.bageswin import VALUES as FISH_VALUES
from pi_controller.games.plum_stone import VALUES as PLUM_VALUES
from pi_controller.games.registry import floor, kind
from pi_controller.games.slahal_state import ONE_PAIR
from pi_controller.pinmap import pinmap
from pi_controller.show.i18n import catalogue, mark
from pi_controller.show.names import inline, player_name, team_name
from pi_controller.show.sheet_phrases import DIRECTIONS, PIECES, RIVERS, SIGNALS, SLIPS
from pi_controller.web.plain import named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_controller.table.view import View

    Text = Callable[[str], str]
    Action = Mapping[str, Any]


class Button(msgspec.Struct, frozen=True):
    """One thing to say. `id` is its place, `say` the call without its time, `look` how it is drawn, `key` a shortcut.

    `on` is whether the rules allow it now. With `confirm` the first touch only shows that, and the second one says it.
    """

    id: str
    label: str
    say: dict[str, Any]
    look: str = ""
    key: str = ""
    on: bool = True
    confirm: str = ""


class Choice(msgspec.Struct, frozen=True):
    """One of a row's choices; `said` is what it is where no picture is seen, `look` its picture."""

    value: Any
    label: str
    said: str = ""
    look: str = ""
    on: bool = True


class Row(msgspec.Struct, frozen=True):
    """A thing to be told by up to `many` of its choices, in the order they are touched; `needed` before all is told."""

    key: str
    label: str
    choices: tuple[Choice, ...]
    many: int = 1
    needed: bool = True


class Play(msgspec.Struct, frozen=True):
    """What can be said: `ready` is the hiders' word, `rows` are told before `submit`, `more` is said seldom.

    `values` is what a throw is worth by the numbers of its pieces, `0100`; a throw that is not there is worth nothing.
    """

    shape: str
    title: str
    buttons: tuple[Button, ...] = ()
    rows: tuple[Row, ...] = ()
    ready: Button | None = None
    submit: Button | None = None
    more: tuple[Button, ...] = ()
    values: dict[str, int] | None = None


NONE = "none"
"""The key of the row by whose one choice a throw is told in which no piece shows what is touched."""


def act(action: Action, *, again: bool = False) -> dict[str, Any]:
    """Return the call that takes `action`, or with `again` the one that puts it in the place of the last."""
    return {"judge": "replace" if again else "action", "action": dict(action)}


def play(
    view: View,
    legal: Sequence[Action],
    language: str = "en",
    options: Mapping[str, Any] | None = None,
    again: Action | None = None,
    *,
    begins: bool = False,
) -> Play:
    """Return what can be said now; with `again`, the last action, what could have been said in its place.

    `legal` are the actions that the game allows (`Game.legal_actions`), `options` the game's: what throws are worth.
    `begins`: who looks may begin another game once this one is over.
    """
    text = catalogue(language).gettext
    dos = {again["do"]} if again else {action["do"] for action in legal}
    replaces = again is not None
    title = text("What was it?") if replaces else ""
    if view.phase == "over" and not replaces:  # a foul of the hide just settled may still be called, and is below
        return Play("over", text("The game is over"), _new_games(view, text, options or {}) if begins else ())
    if not kind(view.game).hand_passes and floor(view.game, "web.games") is None:
        return Play("choice", title, _plain(view, legal if not replaces else [again or {}], replaces))
    if "toss" in dos or "lot" in dos:
        do, key = ("toss", "winner") if "toss" in dos else ("lot", "first")
        said = text("{team} hides first") if do == "toss" else text("{team} throws first")
        title = title or (text("Who won the toss?") if do == "toss" else text("Who drew the lot?"))
        return Play("choice", title, _teams(view, do, key, said, replaces))
    if "duel" in dos:
        return Play("choice", title or text("Who guessed the bones?"), _duel(view, text, replaces))
    if "start" in dos and "throw" not in dos:  # who is next to start may wait until their turn
        return Play("choice", title, _starts(legal if not replaces else [again or {}], text, replaces))
    if kind(view.game).hand_passes and (dos & {"hit", "foul"}):
        return _hits(view, "hit" in dos, title, text, replaces)
    if "shoot" in dos:
        return _shot(view, title, text, options or {}, replaces)
    if "guess" in dos:
        return _guess(view, title, text, replaces, two=replaces or view.sheet["pairs_out"] != 1, legal=legal)
    if "throw" in dos:
        return _throw(view, title, text, options or {}, replaces)
    if legal and not replaces and view.phase != "over":
        return Play("choice", title, _plain(view, legal, replaces))
    return Play("choice", title or text("Nothing to enter"))


def _new_games(view: View, text: Text, options: Mapping[str, Any]) -> tuple[Button, ...]:
    """Another game by the same rules, and for teams one in which each sits where the other did."""
    confirm = text("Touch again: this game is kept, and another begins")
    say = {"judge": "new_game"}
    if "players" in options:
        return (Button("new-game", text("New game"), say, confirm=confirm),)
    swapped = text("Rematch, sides changed: {a} at B, {b} at A")
    names = {key: inline(team_name(view, team)) for key, team in (("a", "A"), ("b", "B"))}
    return (
        Button("new-game", text("Rematch"), say, confirm=confirm),
        Button("new-game-swapped", swapped.format(**names), {**say, "swapped": True}, confirm=confirm),
    )


def _plain(view: View, legal: Sequence[Action], again: bool) -> tuple[Button, ...]:
    """One button for each action that is allowed, called by the line that says it."""
    return tuple(
        Button(f"action-{i}", named(view.game, action), act(action, again=again), "", str(i) if i < 10 else "")
        for i, action in enumerate(legal, 1)
    )


def _teams(view: View, do: str, key: str, said: str, again: bool) -> tuple[Button, ...]:
    name = team_name if do == "toss" else player_name
    return tuple(
        Button(
            f"{do}-{team}",
            said.format(team=inline(name(view, team))),
            act({"do": do, key: team}, again=again),
            team.lower(),
            str(number),
        )
        for number, team in enumerate("AB", 1)
    )


def _duel(view: View, text: Text, again: bool) -> tuple[Button, ...]:
    only = text("Only {team}")
    told = (
        (True, False, only.format(team=inline(team_name(view, "A"))), "a"),
        (False, True, only.format(team=inline(team_name(view, "B"))), "b"),
        (True, True, text("Both, or neither: again"), ""),
    )
    return tuple(
        Button(f"duel-{i}", said, act({"do": "duel", "A": a, "B": b}, again=again), look, str(i))
        for i, (a, b, said, look) in enumerate(told, 1)
    )


def _starts(legal: Sequence[Action], text: Text, again: bool) -> tuple[Button, ...]:
    player = next(one["player"] for one in legal if one["do"] == "start")
    return tuple(
        Button(
            f"start-{river}-{way}",
            text("{river}, {direction}").format(river=text(said), direction=text(told)),
            act({"do": "start", "player": player, "river": river, "direction": way}, again=again),
        )
        for river, said in RIVERS.items()
        for way, told in DIRECTIONS.items()
    )


def _ready(view: View, text: Text, said: str, again: bool) -> Button | None:
    """The hiders' word; it has its place in every game in which something is hidden."""
    hiding = view.phase in {"hide", "show"} and view.question is None
    return None if again else Button("hidden", text(said), {"judge": "hidden"}, "", "h", on=hiding)


def _pads(text: Text, off: frozenset[int] = frozenset()) -> tuple[Choice, ...]:
    return tuple(
        Choice(pad, str(pad), text("pad {pad}").format(pad=pad), on=pad not in off)
        for pad in range(1, pinmap().pads.count + 1)
    )


def _hits(view: View, owed: bool, title: str, text: Text, again: bool) -> Play:
    second = view.owed == "second" and not again
    struck = frozenset(hit.pad for hit in view.hits if second and hit.pad is not None)
    buttons = (
        Button("found", text("Found"), act({"do": "hit", "found": True}, again=again), "found", "f", on=owed),
        Button("missed", text("Missed"), act({"do": "hit", "found": False}, again=again), "missed", "m", on=owed),
    )
    row = Row("pad", text("Pad hit, if you want it kept"), _pads(text, struck), needed=False)
    return Play("hits", title, buttons, (row,), _ready(view, text, mark("Hidden"), again))


def _shot(view: View, title: str, text: Text, options: Mapping[str, Any], again: bool) -> Play:
    pads = _pads(text)
    rows = (
        Row("opened", text("Opened, in order"), pads, int(options.get("max_open") or 2), needed=False),
        Row("hit", text("Struck"), pads, needed=False),
        Row("ball", text("The marked ball lay under"), pads),
    )
    submit = Button("shoot", text("Enter the shot"), act({"do": "shoot"}, again=again), "main", "e")
    return Play("shoot", title, (), rows, _ready(view, text, mark("Hidden"), again), submit)


def _guess(view: View, title: str, text: Text, again: bool, *, two: bool, legal: Sequence[Action]) -> Play:
    signals = tuple(Choice(name, text(said), look=name, on=two or name in ONE_PAIR) for name, said in SIGNALS.items())
    said = {"block": text("Block: one holder at a time, the one at the guesser's left first")} if two else {}
    if not two or again:
        said["mirror"] = text("Mirrored: shown with the bones that were caught")
    rows = (
        *(Row(key, "", (Choice(value=True, label=label),), needed=False) for key, label in said.items()),
        Row("signal", text("The guess, as the guesser shows it"), signals),
        Row("actual", text("What would have caught the bones out"), signals),
    )
    submit = Button("guess", text("Enter the guess"), act({"do": "guess"}, again=again), "main", "e")
    more = () if again else tuple(_seldom(view, legal, text))
    return Play("guess", title, (), rows, _ready(view, text, mark("Hands out"), again), submit, more)


def _seldom(view: View, legal: Sequence[Action], text: Text) -> list[Button]:
    buttons: list[Button] = []
    for action in legal:
        if action["do"] in SLIPS:
            buttons.append(Button(action["do"], text(SLIPS[action["do"]]), act(action)))
        elif action["do"] == "king_moved":
            said = text("{team} moved the king stick too early").format(team=inline(team_name(view, action["by"])))
            buttons.append(Button(f"king-{action['by']}", said, act(action)))
    return buttons


def _throw(view: View, title: str, text: Text, options: Mapping[str, Any], again: bool) -> Play:
    if view.game == "patol":
        label = text("{n} marked")
        buttons = tuple(
            Button(f"marked-{n}", label.format(n=n), act({"do": "throw", "marked": n}, again=again), "", str(n))
            for n in range(4)
        )
        return Play("choice", title or text("How many marked faces are up?"), buttons)
    submit = Button("throw", text("Enter the throw"), act({"do": "throw"}, again=again), "main", "e")
    slip = kind(view.game).second_tap or ""
    more = (Button(slip, text(SLIPS[slip]), act({"do": slip}, again=again)),) if slip in SLIPS else ()
    if view.game == "plum_stone":
        rows = (
            Row(
                "moons", text("Touch each stone that shows its moon"), _pieces("moon", text("moon"), 2), 2, needed=False
            ),
            Row(
                "whites", text("Touch each stone that shows white"), _pieces("white", text("white"), 3), 3, needed=False
            ),
            _none(text("No moon and no white shows")),
        )
        worth = {"".join(map(str, counts)): value for counts, value in PLUM_VALUES.items()}
        return Play("pieces", title, (), rows, None, submit, more, worth)
    rows = tuple(
        Row(
            kind,
            text("Touch each piece that shows red") if i == 0 else "",
            _pieces(kind, text(PIECES[kind]), n),
            n,
            False,
        )
        for i, (kind, n) in enumerate(COUNTS.items())
    )
    rows = (*rows, _none(text("No piece shows red")))
    table = FISH_VALUES.get(str((options or {}).get("table")))
    values = {"".join(map(str, counts)): value for counts, value in table.items()} if table else None
    return Play("pieces", title, (), rows, None, submit, more, values)


def _none(label: str) -> Row:
    """The row that tells a throw in which nothing is touched: without it such a throw would be there from the start."""
    return Row(NONE, "", (Choice(value=True, label=label),), needed=False)


def _pieces(look: str, label: str, n: int) -> tuple[Choice, ...]:
    return tuple(Choice(i, label, f"{label} {i}" if n > 1 else label, look) for i in range(1, n + 1))
