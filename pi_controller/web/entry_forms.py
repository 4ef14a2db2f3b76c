"""Input forms of the judge's console: possible actions as buttons and rows of choices with stable ids.

A `Play` has one of five shapes, which the script draws: `choice` (buttons), `hits` (pads, found, missed), `shoot` and
`guess` (a row for each value), `piece_choices` (the visible pieces in the bowl). Each game builds its form
(`GamePage.form`) from the parts in this module.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from pi_controller.display import game_display
from pi_controller.display.i18n import Translator
from pi_controller.display.shown_names import isolate_name
from pi_controller.pinmap import pinmap
from pi_controller.record.notation import format_action
from pi_controller.table.view import View

Action = Mapping[str, Any]


class FormButton(msgspec.Struct, frozen=True):
    """One button: `id` fixes its place, `say` is the command without its time, `look` its style, `key` a shortcut.

    `on` is whether the rules allow it now. With `confirm` the first touch shows that text and the second sends the
    command. `effect` is its consequence by the rules (`consequences`), or "".
    """

    id: str
    label: str
    say: dict[str, Any]
    look: str = ""
    key: str = ""
    on: bool = True
    confirm: str = ""
    effect: str = ""


class FormChoice(msgspec.Struct, frozen=True):
    """One choice of a row; `look` is its picture, `said` its text for screen readers."""

    value: Any
    label: str
    said: str = ""
    look: str = ""
    on: bool = True


class ChoiceRow(msgspec.Struct, frozen=True):
    """A field for up to `many` of its choices, in the order of touch; a `needed` one must be filled in."""

    key: str
    label: str
    choices: tuple[FormChoice, ...]
    many: int = 1
    needed: bool = True


class EntryForm(msgspec.Struct, frozen=True):
    """A form: `ready` is the hiders' button, `rows` are filled in before `submit`, `more` are rarely used buttons.

    `values` is the worth of a throw by the counts of its pieces, such as `0100`; other throws are worth 0. `effects`
    are the consequences of the actions that the rows can be filled in to (`consequences.action_key`).
    """

    shape: str
    title: str
    buttons: tuple[FormButton, ...] = ()
    rows: tuple[ChoiceRow, ...] = ()
    ready: FormButton | None = None
    submit: FormButton | None = None
    more: tuple[FormButton, ...] = ()
    values: dict[str, int] | None = None
    effects: Mapping[str, str] = {}


NO_PIECE_KEY = "none"
"""The key of the row whose only choice means that none of the pieces shows."""


def make_call(action: Action, *, again: bool = False) -> dict[str, Any]:
    """Return the call for `action`; with `again` the call that replaces the last action by it."""
    return {"judge": "replace" if again else "action", "action": dict(action)}


WhichHide = Literal["this", "last"]


class FoulButton(msgspec.Struct, frozen=True):
    """One foul to enter: `say` is the call without its time, `outcome` describes its effect."""

    by: str
    kind: str
    hide: WhichHide
    label: str
    outcome: str
    say: dict[str, Any]


class FoulsOf(msgspec.Struct, frozen=True):
    """The fouls of one hide; `label` names the hide and its hiders, `chosen` is whether it is shown first."""

    hide: WhichHide
    label: str
    chosen: bool
    buttons: tuple[FoulButton, ...]

    def group_by_outcome(self) -> list[tuple[str, list[tuple[str, list[FoulButton]]]]]:
        """Return the buttons by who made the foul, then by outcome: an outcome stands once, above what leads to it."""
        groups: dict[str, dict[str, list[FoulButton]]] = {"hider": {}, "hitter": {}}
        for one in self.buttons:
            groups[one.by].setdefault(one.outcome, []).append(one)
        return [(by, list(outcomes.items())) for by, outcomes in groups.items() if outcomes]


class FormContext(NamedTuple):
    """The input of a form: the view, its `legal` actions (`Game.legal_actions`), and the game's options.

    With `again`, the last action, the form is for replacing that action.
    """

    view: View
    legal: Sequence[Action]
    tr: Translator
    options: Mapping[str, Any]
    again: Action | None = None

    @property
    def words(self) -> set[str]:
        """The names of the possible actions."""
        return {self.again["do"]} if self.again else {action["do"] for action in self.legal}

    @property
    def actions(self) -> Sequence[Action]:
        """The possible actions, or the one action to be replaced."""
        return self.legal if self.again is None else [self.again]

    @property
    def title(self) -> str:
        """The title of a form that replaces the last action; else ""."""
        return self.tr.text("What was it?") if self.again else ""

    def make_call(self, action: Action) -> dict[str, Any]:
        """Return the call for `action`, or the call that replaces the last action by it."""
        return make_call(action, again=self.again is not None)


def plain_buttons(game: str, legal: Sequence[Action]) -> tuple[FormButton, ...]:
    """Return one button for each legal action, labelled by its notation."""
    labels = (game_display.key_to_words(format_action(game, action)) for action in legal)
    return tuple(
        FormButton(f"action-{i}", label, make_call(action), "", str(i) if i < 10 else "")
        for i, (label, action) in enumerate(zip(labels, legal, strict=True), 1)
    )


def first_team(
    moment: FormContext, action: tuple[str, str], title: str, label: str, name: Callable[..., str]
) -> EntryForm:
    """Return the form that asks which team comes first; `action` is the action's name and key, `name` names a team."""
    do, key = action
    buttons = tuple(
        FormButton(
            f"{do}-{team}",
            label.format(team=isolate_name(name(moment.view, team))),
            moment.make_call({"do": do, key: team}),
            team.lower(),
            str(number),
        )
        for number, team in enumerate("AB", 1)
    )
    return EntryForm("choice", moment.title or title, buttons)


def ready_button(moment: FormContext, label: str) -> FormButton | None:
    """Return the hiders' button; it has the same place in every game with hiding."""
    hiding = moment.view.phase in {"hide", "show"} and moment.view.question is None
    return None if moment.again else FormButton("hidden", label, {"judge": "hidden"}, "", "h", on=hiding)


def pad_choices(tr: Translator, off: frozenset[int] = frozenset()) -> tuple[FormChoice, ...]:
    """Return the pads as choices; those in `off` are disabled."""
    return tuple(
        FormChoice(pad, str(pad), tr.text("pad {pad}", pad=pad), on=pad not in off)
        for pad in range(1, pinmap().pads.count + 1)
    )


def no_piece(label: str) -> ChoiceRow:
    """Return the row for a throw without visible pieces, so that an empty form is not such a throw."""
    return ChoiceRow(NO_PIECE_KEY, "", (FormChoice(value=True, label=label),), needed=False)


def piece_choices(look: str, label: str, n: int) -> tuple[FormChoice, ...]:
    """Return `n` pieces of one kind as choices with the picture `look`."""
    return tuple(FormChoice(i, label, f"{label} {i}" if n > 1 else label, look) for i in range(1, n + 1))


def throw_form(
    moment: FormContext,
    rows: tuple[ChoiceRow, ...],
    slip: tuple[str, str],
    values: Mapping[tuple[int, ...], int] | None,
) -> EntryForm:
    """Return the form of a throw of pieces; `slip` is the name of a second button's action, and its label.

    `values` is the worth of a throw by the counts of its pieces.
    """
    submit = FormButton("throw", moment.tr.text("Enter the throw"), moment.make_call({"do": "throw"}), "main", "e")
    worth = {"".join(map(str, counts)): value for counts, value in values.items()} if values else None
    word, label = slip
    again = FormButton(word, moment.tr.text(label), moment.make_call({"do": word}))
    return EntryForm("pieces", moment.title, (), rows, None, submit, (again,), worth)
