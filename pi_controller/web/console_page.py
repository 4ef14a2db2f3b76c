"""The judge's console and its sign-in page: templates, fixed texts, and the content for a view.

The server renders each page once with the texts and the state; afterwards the script updates it from the same content.
Without scripts the console shows the state and a message that scripts are needed.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from markupsafe import Markup
from msgspec.structs import replace

from pi_controller.display import game_display
from pi_controller.display.i18n import Translator
from pi_controller.display.phrases import Phrases
from pi_controller.display.shown_names import isolate_name, player_name, team_name
from pi_controller.referee.story import Protest
from pi_controller.rules.registry import game_class
from pi_controller.table.view import View
from pi_controller.web import entry_forms, game_page, live_page
from pi_controller.web.consequences import action_key
from pi_controller.web.event_log import LogLine
from pi_controller.web.event_stream import DESK_HEARTBEAT_S
from pi_controller.web.templates import render, render_regions

Action = Mapping[str, Any]


class SheetField(msgspec.Struct, frozen=True):
    """One value of the sheet at `path`. `choices` are [value, label] pairs; without them it is a whole number.

    A `fixed` field is a name that is shown but cannot be changed.
    """

    path: tuple[str | int, ...]
    label: str
    value: Any
    choices: tuple[tuple[Any, str], ...] = ()
    fixed: bool = False


FOUND_ANSWERS: Mapping[str, Action] = {
    "found": {"do": "hit", "found": True},
    "missed": {"do": "hit", "found": False},
}
"""The actions that follow from the answers to the question whether the bead was found."""

SETTLE_S = 1.5
"""How long after a turn was settled the next one cannot be entered, s: a slow second tap was meant for the last turn.
"""

FIRST_DATE_S = 1e8
"""A time of the table's clock from which it is a date, s."""
PAST = 5
"""How many of the last hides or throws the console shows."""
MAX_SIGN_IN_NAMES = 12
"""Maximum names to choose from at sign-in."""


class Asked(msgspec.Struct, frozen=True):
    """The open question as text, with a button for each answer."""

    title: str
    buttons: tuple[entry_forms.FormButton, ...]


class Again(msgspec.Struct, frozen=True):
    """How the last action is replaced: by one `button`, or by entering it again in the form `play`."""

    label: str
    button: entry_forms.FormButton | None = None
    play: entry_forms.EntryForm | None = None


class Console(msgspec.Struct, frozen=True):
    """The content of the console besides its regions. `off` is why play cannot continue, or "".

    `undo` describes what an undo would take back, or "". `fields` are the score sheet's,
    if the user may set it. `nameable` is true if the user may name the teams now.
    """

    play: entry_forms.EntryForm
    off: str
    undo: str
    question: Asked | None = None
    nameable: bool = False
    again: Again | None = None
    can_hide_again: bool = False
    fields: tuple[SheetField, ...] = ()


def console(
    view: View,
    legal: Sequence[Action],
    tr: Translator,
    *,
    undo: str = "",
    last: Action | None = None,
    options: Mapping[str, Any] | None = None,
    sets: bool = False,
    begins: bool = False,
    names: bool = False,
    effects: Mapping[str, str] | None = None,
) -> Console:
    """Return the content of the console for `view`.

    `legal` are the actions that the game allows; `undo` describes what an undo takes back, and `last` is the action
    among it, if there is one; `options` are the game's. The user's rights: `sets` to set the table, `begins` to begin
    another game, `names` to name the teams now. `effects` are the consequences of the actions (`list_consequences`).
    """
    writer = ConsoleWriter(view, tr)
    waiting = view.phase in {"hide", "check", "hit", "guess"} and not view.hits and not view.opened
    return Console(
        play=_with_effects(writer.page.entry_form(view, legal, options, begins=begins), effects or {}),
        off=writer.why_blocked(),
        undo=undo,
        question=writer.question(effects or {}),
        nameable=names,
        again=writer.make_replacement(last, legal, options),
        can_hide_again=waiting and view.hide > 0,
        fields=writer.sheet_fields() if sets else (),
    )


def console_regions(view: View, tr: Translator, before: str | None = None, *, singer: bool = False) -> dict[str, str]:
    """Return the HTML of the console's regions by name, the same for all judges.

    `before` is the team that hid in the hide just settled, None if not known. `singer` adds a reminder to ask for each
    team's singer.
    """
    writer = ConsoleWriter(view, tr)
    return render_regions(
        "judge_regions.html",
        tr,
        s=live_page.live_content(view, tr),
        facts=writer.facts(before, singer=singer),
        sides=Markup(writer.page.cards(view)),  # noqa: S704 - escaped by it
        past_turns=live_page.list_past_turns(view, PAST, tr),
    )


def desk_regions(
    view: View,
    desk: Console,
    tr: Translator,
    *,
    fouls: Sequence[entry_forms.FoulsOf] = (),
    protest: Protest | None = None,
    rulings: Sequence[str] = (),
    log: Sequence[LogLine] = (),
) -> dict[str, str]:
    """Return the HTML of the sections below the buttons for play by name, for the rights that `desk` was made with.

    `rulings` are those that the user may give on `protest`.
    """
    shape = desk.play.shape
    return render_regions(
        "judge_desk.html",
        tr,
        fouls=fouls,
        seldom=desk.play.more if shape == "guess" else (),
        teams=view.teams,
        nameable=desk.nameable and shape not in {"shoot", "guess"},  # these forms need the space
        sides=sides_in_play(view),
        protest=protest,
        rulings=rulings,
        fields=desk.fields,
        sheet=view.sheet,
        revision=view.revision,
        log=log,
        moment=_format_moment,
    )


def sides_in_play(view: View) -> list[tuple[str, str]]:
    """Return key and name of the sides that can still leave the game: the teams, or the players who are not out."""
    if view.phase in {"over", "halted"}:
        return []
    return [(side.key, player_name(view, side.key)) for side in view.scoreboard.sides if not side.out]


def _format_moment(t: float) -> str:
    """Format a time of the table's clock: seconds since 1970, or since a simulated game began."""
    return f"{datetime.fromtimestamp(t).astimezone():%H:%M:%S}" if t > FIRST_DATE_S else f"{t:.0f} s"


class ConsoleWriter:
    """Writes the parts of the console for `view`."""

    def __init__(self, view: View, tr: Translator) -> None:
        self.view, self.tr, self.say = view, tr, Phrases(tr)
        self.page = game_page.page_of(view, tr)
        self.show = self.page.show

    def sheet_fields(self) -> tuple[SheetField, ...]:
        """Return the fields of the score sheet in `view`."""
        return tuple(self._collect_fields(self.view.sheet, ()))

    def _collect_fields(self, part: Any, path: tuple[str | int, ...]) -> list[SheetField]:
        if isinstance(part, dict):
            return [field for key, value in part.items() for field in self._collect_fields(value, (*path, key))]
        if isinstance(part, list | tuple):
            return [field for i, value in enumerate(part) for field in self._collect_fields(value, (*path, i))]
        return [self._field(part, path)]

    def _field(self, value: Any, path: tuple[str | int, ...]) -> SheetField:
        key = next(str(step) for step in reversed(path) if isinstance(step, str) and step not in {"A", "B"})
        label = self._label(path)
        game = game_class(self.view.game)
        if key in game.fixed_keys:
            return SheetField(path, label, value, fixed=True)
        words: tuple[Any, ...]
        if isinstance(value, bool):
            words = (True, False)
        elif key in game.side_keys:
            words = (None, *self.view.scoreboard.scores)
        elif key == "finish":
            words = (None, *game.finishes)
        else:
            words = self.page.choices.get(key, ())
        if not words:
            return SheetField(path, label, value)
        labels = {None: self.tr.text("none"), True: self.tr.text("yes"), False: self.tr.text("no")}

        def name(one: Any) -> str:
            if one is None or isinstance(one, bool):
                return labels[one]
            return player_name(self.view, one) if key in game.side_keys else game_display.key_to_words(str(one))

        return SheetField(path, label, value, tuple((one, name(one)) for one in words))

    def _label(self, path: tuple[str | int, ...]) -> str:
        """Format a path as text: `Long: Big Coulee`, `Players 2: sticks`."""
        first, *rest = path
        label = game_display.key_to_words(str(first))
        for step in rest:
            if isinstance(step, int):
                label += f" {step + 1}"
            elif step in {"A", "B"}:
                label += f": {player_name(self.view, step)}"
            else:
                label += f": {game_display.key_to_words(step).lower()}"
        return label

    def facts(self, before: str | None, *, singer: bool) -> tuple[str, ...]:
        """Return the state of play in short sentences, and the reminders (`GameShow.reminders`)."""
        facts: list[str] = []
        hiders = self.view.scoreboard.turn
        if self.view.phase == "show" and hiders:
            team = isolate_name(team_name(self.view, hiders))
            facts.append(self.tr.text("Next: hide {n}, {team} hides", n=self.view.hide + 1, team=team))
        elif self.view.hide:
            facts.append(self.tr.text("Hide {n}", n=self.view.hide))
        facts += self.page.describe_notes(self.view)
        if self.view.calls:
            facts.append(self.say.list_calls(self.view))
        if not self.view.sensors:
            facts.append(self.tr.text("Sensors off"))
        facts += self.show.reminders(self.view, before, singer=singer)
        return tuple(facts)

    def why_blocked(self) -> str:
        """Return why play cannot continue, or ""."""
        if self.view.phase == "halted":
            return self.tr.parts(self.view.note) or self.tr.text("Stop playing: the table cannot save the game.")
        if self.view.held and not self.view.void:
            team = isolate_name(team_name(self.view, self.view.protest))
            return self.tr.text("Play is stopped: {team} protests. Decide below, or let play continue.", team=team)
        return ""

    def question(self, effects: Mapping[str, str]) -> Asked | None:
        """Return the open question, or that the match does not count; None if there is neither."""
        if self.view.void and self.view.phase not in {"halted", "over"}:
            title = f"{self.say.sentence(self.view)}. {self.say.notice(self.view)}"
            close = entry_forms.FormButton(
                "close-void", self.tr.text("Close game, take next match"), {"judge": "close_void"}, "main"
            )
            return Asked(title, (close,))
        asked = self.view.question if self.view.phase not in {"halted", "over"} else None
        if asked is None:
            return None
        buttons = tuple(
            entry_forms.FormButton(
                f"answer-{one}",
                self.say.choice(one).capitalize(),
                {"judge": "answer", "answer": one},
                key=one if one.isdecimal() else "",
                effect=effects.get(action_key(FOUND_ANSWERS.get(one, {})), "") if asked.about == "found" else "",
            )
            for one in asked.choices
        )
        return Asked(self.say.question(asked, self.view.teams), buttons)

    def make_replacement(
        self, last: Action | None, legal: Sequence[Action], options: Mapping[str, Any] | None
    ) -> Again | None:
        """Return how `last`, the last action, can be replaced; None if it cannot."""
        if last is None or last.get("do") not in self.page.replaceable_actions:
            return None
        if last["do"] == "hit":
            found = not last["found"]
            label = self.tr.text("Wrong: it was found") if found else self.tr.text("Wrong: it was missed")
            return Again(
                label,
                entry_forms.FormButton("again", label, entry_forms.make_call({**last, "found": found}, again=True)),
            )
        if last["do"] in {"toss", "lot"}:
            key = "winner" if last["do"] == "toss" else "first"
            other = "B" if last[key] == "A" else "A"
            label = self.tr.text("Wrong: it was {team}", team=isolate_name(team_name(self.view, other)))
            return Again(
                label, entry_forms.FormButton("again", label, entry_forms.make_call({**last, key: other}, again=True))
            )
        label = self.tr.text("Wrong: it was something else")
        return Again(label, play=self.page.entry_form(self.view, legal, options, again=last))


def _with_effects(form: entry_forms.EntryForm, effects: Mapping[str, str]) -> entry_forms.EntryForm:
    """Return `form` with the consequence of each of its actions."""

    def with_effect(button: entry_forms.FormButton) -> entry_forms.FormButton:
        action = button.say.get("action")
        return button if action is None else replace(button, effect=effects.get(action_key(action), ""))

    return replace(
        form,
        buttons=tuple(map(with_effect, form.buttons)),
        more=tuple(map(with_effect, form.more)),
        effects=effects if form.submit is not None else {},
    )


def sign_in(
    tr: Translator,
    names: Sequence[str] = (),
    home: str = "/judge",
    *,
    heading: str = "",
    back_s: float = 0.0,
    readable: bool = False,
) -> str:
    """Return the sign-in page of the console at `home`; `heading` (marked, English) replaces its heading.

    `names` are shown as buttons; if there are more than `MAX_SIGN_IN_NAMES` the name is typed. After `back_s` seconds
    without a touch the page returns to the public page; 0 for never. With `readable` it warns that the PIN is not
    encrypted.
    """
    shown = names if len(names) <= MAX_SIGN_IN_NAMES else ()
    return render(
        "sign_in.html", tr, heading=tr.text(heading), names=shown, home=home, back_s=f"{back_s:g}", readable=readable
    )


def page(
    regions: Mapping[str, str],
    tr: Translator,
    *,
    as_of: str = "",
    me: str = "",
    settings: bool = False,
    start: bool = False,
    beat_s: float = DESK_HEARTBEAT_S,
    settle_s: float = SETTLE_S,
) -> str:
    """Return the console with its `regions` for the signed-in user `me`; the script updates it from then on.

    With `settings` it links the settings page, with `start` that of a card's choice.
    """
    return render(
        "judge.html",
        tr,
        regions=regions,
        as_of_time=as_of,
        me=me,
        settings=settings,
        start=start,
        beat=f"{beat_s:g}",
        settle=f"{settle_s:g}",
    )
