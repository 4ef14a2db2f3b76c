"""Input forms of the judge's console: what can be entered now, as buttons and rows of choices with stable ids.

A `Play` says which of five shapes it has, and the script draws it: `choice` (buttons), `hits` (pads, found, missed),
`shoot` and `guess` (a row for each thing to be entered), `pieces` (what shows in the bowl). Each game makes its own
(`GamePage.form`), of the pieces here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from pi_controller.pinmap import pinmap
from pi_controller.record.notation import spoken
from pi_controller.show.names import inline
from pi_controller.show.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_controller.table.view import View

    Text = Callable[[str], str]
    Action = Mapping[str, Any]


class Button(msgspec.Struct, frozen=True):
    """One button. `id` is its place, `say` the command it sends, without its time, `look` its style, `key` a shortcut.

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
    """A field with up to `many` of its choices, in the order of touch; `needed`: before the form can be sent."""

    key: str
    label: str
    choices: tuple[Choice, ...]
    many: int = 1
    needed: bool = True


class Play(msgspec.Struct, frozen=True):
    """A form: `ready` is the hiders' button, `rows` are filled in before `submit`, `more` are buttons seldom used.

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


class Moment(NamedTuple):
    """What a form is made for: the view, the actions that are `legal` in it (`Game.legal_actions`), the game's options.

    With `again`, the last action, the form is for what could have been entered in its place.
    """

    view: View
    legal: Sequence[Action]
    text: Text
    options: Mapping[str, Any]
    again: Action | None = None

    @property
    def words(self) -> set[str]:
        """The first words of what can be entered."""
        return {self.again["do"]} if self.again else {action["do"] for action in self.legal}

    @property
    def actions(self) -> Sequence[Action]:
        """What can be entered, or the one action that is to be replaced."""
        return self.legal if self.again is None else [self.again]

    @property
    def title(self) -> str:
        """What is said over a form by which the last action is put right; else nothing."""
        return self.text("What was it?") if self.again else ""

    def act(self, action: Action) -> dict[str, Any]:
        """Return the call that takes `action`, or puts it in the place of the last."""
        return act(action, again=self.again is not None)


def plain_buttons(game: str, legal: Sequence[Action]) -> tuple[Button, ...]:
    """Return one button for each action that is allowed, called by the line that says it."""
    return tuple(
        Button(f"action-{i}", plain(spoken(game, action)), act(action), "", str(i) if i < 10 else "")
        for i, action in enumerate(legal, 1)
    )


def first_team(moment: Moment, action: tuple[str, str], title: str, label: str, name: Callable[..., str]) -> Play:
    """Return the form that asks which team comes first; `action` is its word and its key, `name` names a team."""
    do, key = action
    buttons = tuple(
        Button(
            f"{do}-{team}",
            label.format(team=inline(name(moment.view, team))),
            moment.act({"do": do, key: team}),
            team.lower(),
            str(number),
        )
        for number, team in enumerate("AB", 1)
    )
    return Play("choice", moment.title or title, buttons)


def ready_button(moment: Moment, label: str) -> Button | None:
    """Return the hiders' word; it has its place in every game in which something is hidden."""
    hiding = moment.view.phase in {"hide", "show"} and moment.view.question is None
    return None if moment.again else Button("hidden", label, {"judge": "hidden"}, "", "h", on=hiding)


def pads(text: Text, off: frozenset[int] = frozenset()) -> tuple[Choice, ...]:
    """Return the pads as choices, without those that are `off`."""
    return tuple(
        Choice(pad, str(pad), text("pad {pad}").format(pad=pad), on=pad not in off)
        for pad in range(1, pinmap().pads.count + 1)
    )


def no_piece(label: str) -> Row:
    """Return the row for a throw that shows nothing: else such a throw would be there from the start."""
    return Row(NONE, "", (Choice(value=True, label=label),), needed=False)


def pieces(look: str, label: str, n: int) -> tuple[Choice, ...]:
    """Return `n` pieces of one kind as choices, drawn as `look`."""
    return tuple(Choice(i, label, f"{label} {i}" if n > 1 else label, look) for i in range(1, n + 1))


def throw_form(
    moment: Moment, rows: tuple[Row, ...], slip: tuple[str, str], values: Mapping[tuple[int, ...], int] | None
) -> Play:
    """Return the form of a throw of pieces; `slip` is the word of a second tap, and its label.

    `values` is what a throw is worth by the numbers of its pieces.
    """
    submit = Button("throw", moment.text("Enter the throw"), moment.act({"do": "throw"}), "main", "e")
    worth = {"".join(map(str, counts)): value for counts, value in values.items()} if values else None
    word, label = slip
    again = Button(word, moment.text(label), moment.act({"do": word}))
    return Play("pieces", moment.title, (), rows, None, submit, (again,), worth)
