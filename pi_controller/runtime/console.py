"""Command line of a running table: parses the judge's lines into commands. A whole game can be judged with it alone.

    toss A        hit / found / missed      answer 2        again        undo        replace found 2
    foul hider no_bead [last]               foul hitter time             hidden                forfeit B
    sensors off the drums                   clock stop                   protest B his sleeve        ruling denied seen
    close A no_show called three times        new [swapped]
    set long.A=8 middle=8; a stick had rolled away

The actions of any game are typed as in its record (`pi_controller.record.notation`): `guess left inside`, `throw 3`, or
`wkk` and `3` for a throw. If the mat has read the bones, a guess needs only its signal: `guess left`. `set` corrects
the state, with the keys of the score sheet.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any, cast, get_args

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH, Translator
from pi_controller.errors import MatError, UsageError
from pi_controller.record.model import RecordError
from pi_controller.record.notation import find_verb, format_action, parse_action
from pi_controller.record.tokens import scan
from pi_controller.referee import judge
from pi_controller.rules.base import TEAM, Game, IllegalActionError, InvalidActionError, Json
from pi_controller.rules.sheet_changes import apply_changes
from pi_controller.text import did_you_mean, join_words, strip_controls

if TYPE_CHECKING:
    from pi_controller.table.table import Table

_HELP_NOW, _HELP_ALL, _HELP_WORDS = "help", "help all", "help words"
_TABLE_FORMS: Mapping[str, str] = {
    "undo [REASON]": "undoes the last entry",
    "replace LINE": "undoes the last entry and enters LINE instead",
    "hidden": "the hiders are ready",
    "answer CHOICE": "answers the mat's question",
    "again": "the hide starts over",
    "sensors off|on [REASON]": "play without the sensors, or with them again",
    "clock stop|go [REASON]": "stops or starts the clocks",
    "forfeit SIDE": "a team or player withdraws, does not show up or is disqualified",
    "protest A|B [TEXT]": "play stops until it is decided",
    "ruling upheld|denied|play_on REASON": "decides the protest",
    "close SIDE forfeit|disqualified|no_show REASON": "they are out of the game",
    "close void": "closes the game of a match that no longer counts",
    "new [swapped]": "starts another game after this one; swapped: the teams change sides",
    "set KEY=VALUE ... ; REASON": "sets counts by hand, with the score sheet's keys: long.A=8 middle=8",
    _HELP_NOW: "lists the commands allowed now",
    _HELP_WORDS: "pronunciation and meaning of the called words",
}
"""Forms of the lines that every game accepts, with explanations."""
_FORM = 28
"""Width of the column of forms, in characters."""
_UNBROKEN = "\u00a0"
_STEPS = 12
"""Steps after which a game has used all its action words: eight players start before the first throw of patol."""


def parse_line(line: str, t: float, game: Game[Any], sheet: Mapping[str, Json] | None = None) -> judge.JudgeCommand:
    """Parse a judge's line, given at time `t`. Raises `UsageError` if it is malformed.

    The result is a valid action of `game`, which the table may still refuse as not allowed now. `sheet` is the current
    state (None: the opening), from which `set` takes all values that the line does not name.
    """
    # the journal cannot store bytes that the terminal did not decode
    line = strip_controls(line.encode("utf-8", "replace").decode()).strip()
    match line.split():
        case ["answer", choice]:
            return judge.JudgeAnswer(t, choice)
        case ["again"]:
            return judge.JudgeHideAgain(t)
        case ["new", *how] if how in ([], ["swapped"]):
            return judge.JudgeNewGame(t, swapped=bool(how))
        case ["undo", *reason]:
            return judge.JudgeUndo(t, " ".join(reason))
        case ["replace", *words] if words:
            return judge.JudgeReplace(t, _parse_action(line.split(maxsplit=1)[1], game))
        case ["set", *words] if words:
            return _set(line, t, game, sheet)
        case words:
            return _parse_table_call(words, t) or judge.JudgeAction(t, _parse_action(line, game))


def _set(line: str, t: float, game: Game[Any], sheet: Mapping[str, Json] | None) -> judge.JudgeSet:
    """Parse a `set` line: the state of `now` with the changes that the line names. Raises `UsageError`."""
    try:
        tokens, reason = scan(line)
        changes = [(token.key or token.word or token.tag, token.value) for token in tokens[1:]]
        now = game.sheet(game.opening()) if sheet is None else sheet
        return judge.JudgeSet(t, apply_changes(now, changes), reason)
    except (RecordError, InvalidActionError) as error:
        raise UsageError(
            f"not understood: {line.strip()[:60]}: {error.message}", "for example: set long.A=8 middle=8; why"
        ) from error


def _parse_table_call(words: list[str], t: float) -> judge.JudgeCommand | None:
    """Parse a command about the table itself; None if it is none."""
    match words:
        case ["hidden"]:
            return judge.JudgeHidden(t)
        case ["sensors", "on" | "off" as way, *reason]:
            return judge.JudgeSensors(t, way == "on", " ".join(reason))
        case ["clock", "go" | "stop" as way, *reason]:
            return judge.JudgeClock(t, way == "go", " ".join(reason))
        case ["protest", "A" | "a", *text]:
            return judge.JudgeProtest(t, "A", " ".join(text))
        case ["protest", "B" | "b", *text]:
            return judge.JudgeProtest(t, "B", " ".join(text))
        case ["close", "void"]:
            return judge.JudgeCloseVoid(t)
        case ["close", *rest]:
            return _parse_close(rest, t)
        case ["ruling", "upheld" | "denied" | "play_on" as ruling, *reason]:
            return judge.JudgeRuling(t, ruling, " ".join(reason))
        case _:
            return None


def _parse_close(words: list[str], t: float) -> judge.JudgeClose | None:
    """Parse the arguments of `close`: a side, whose name may have several words, a cause and a reason."""
    for at, word in enumerate(words[1:], 1):
        for cause in get_args(judge.ClosedBy):
            if word == cause:
                return judge.JudgeClose(t, " ".join(words[:at]), cause, " ".join(words[at + 1 :]))
    return None


def typed_lines() -> queue.SimpleQueue[str]:
    """Start a thread that reads lines from the terminal; return the queue it puts them on."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)

    threading.Thread(target=read, name="console", daemon=True).start()
    return lines


def execute_line(table: Table, line: str, t: float, tr: Translator = ENGLISH, width: int = 80) -> str:
    """Execute `line` at the table at time `t`; return the text to print.

    Called words are explained in the language of `tr`. Help is wrapped at `width` characters.
    """
    if not line.strip():
        return ""
    typed = " ".join(line.split())
    if typed == _HELP_NOW:
        return help_now(table, width)
    if typed == _HELP_ALL:
        return help_all(table.game, width)
    if typed == _HELP_WORDS:
        words = (fill(line, width, subsequent_indent="  ") for line in get_show(table.game.name, tr).glossary())
        return "\n".join(words) or "No words are called in this game."
    try:
        table.judge(parse_line(line, t, table.game, table.game.sheet(table.story.state)))
    except MatError as error:
        return str(error)
    return "entered"


def help_now(table: Table, width: int = 80) -> str:
    """Return the lines that the judge can type now, wrapped at `width` characters."""
    lines = _wrap_items("Now: ", _typed_now(table), width)
    if table.game.short_form and table.view.phase in ("throw", "guess"):
        lines += _wrap_items("Shorter: ", [table.game.short_form], width)
    return "\n".join([*lines, *_wrap_items("Always: ", ["undo [REASON]", _HELP_ALL, _HELP_WORDS], width)])


def help_all(game: Game[Any], width: int = 80) -> str:
    """Return all lines that the judge can type in `game`, with explanations, wrapped at `width` characters."""
    if game.hand_passes:
        hider, hitter = (join_words(game.foul_kinds[side]) for side in ("hider", "hitter"))
        forms = {
            "toss A|B": "who won the toss",
            "found [PAD], missed [PAD]": "a hit, and on which pad",
            "foul hider KIND [last]": f"KIND: {hider}; last: in the hide before; between hides: last or this",
            "foul hitter KIND [last]": f"KIND: {hitter}",
        }
        lines = _format_forms(forms, width)
    else:
        lines = _wrap_items("For example: ", _examples(game), width)
        lines += _wrap_items("Shorter: ", [game.short_form], width) if game.short_form else []
    return "\n".join([*lines, *_format_forms(_TABLE_FORMS, width)])


def _typed_now(table: Table) -> list[str]:
    """Return the lines that continue the game now; examples if there are many of the same form."""
    story, game = table.story, table.game
    if story.void and story.phase != "over":
        return ["close void"]
    if story.held_by_protest:
        return [f"ruling {ruling} REASON" for ruling in ("upheld", "denied", "play_on")]
    if game.is_over(story.state) or story.phase == "over":
        return ["new", "new swapped"]
    if story.question is not None:
        return [*(f"answer {choice}" for choice in story.question.choices), "again"]
    by_word: dict[str, list[dict[str, Json]]] = {}
    for action in game.legal_actions(story.state):
        by_word.setdefault(str(action["do"]), []).append(action)
    typed: list[str] = []
    for word, actions in by_word.items():
        if game.hand_passes and word == "hit":
            typed += ["found [PAD]", "missed [PAD]"]
        elif game.hand_passes and word == "foul":
            typed += [f"foul {by} KIND" for by in dict.fromkeys(action["by"] for action in actions)]
        elif (places := game.forms.get(word)) and places[0].words is TEAM:  # legal actions list only one team
            typed += _lines(game, ({**actions[0], places[0].path: team} for team in "AB"))
        else:
            typed += _shortest_and_longest(_lines(game, actions))
    return ["hidden", *typed] if story.phase == "hide" and game.hidden is not None else typed


def _wrap_items(head: str, items: Iterable[str], width: int) -> list[str]:
    """Return `items` after `head`, separated by bars; an item is broken only if it is wider than a line."""
    room = width - len(head)
    whole = (item if len(item) > room else item.replace(" ", _UNBROKEN) for item in items)
    lines = wrap(head + " | ".join(whole), width, subsequent_indent=" " * len(head), break_on_hyphens=False)
    return [line.replace(_UNBROKEN, " ") for line in lines]


def _format_forms(forms: Mapping[str, str], width: int) -> list[str]:
    """Return each form with its explanation beside it, or below if there is no room, wrapped at words."""
    lines: list[str] = []
    for form, does in forms.items():
        head, indent = f"  {form}  ".ljust(_FORM), " " * _FORM
        if len(head) > _FORM:
            lines += wrap(form, width, initial_indent="  ", subsequent_indent="    ")
            head = indent
        lines += wrap(does, width, initial_indent=head, subsequent_indent=indent, break_on_hyphens=False)
    return lines


def _parse_action(line: str, game: Game[Any]) -> dict[str, Json]:
    """Parse an action of `game` in the record's form; raises `UsageError`."""
    action: dict[str, Json] = {}
    try:
        action = parse_action(game.name, scan(line)[0])
        stand_ins = {place.path: place.stands_in for place in game.forms.get(action["do"], ()) if place.stands_in}
        with suppress(IllegalActionError):  # an action, only not the first of a game
            game.play(game.opening(), stand_ins | action)
    except (RecordError, InvalidActionError) as error:
        raise UsageError(
            _explain_parse_error(line, game, action, error), f"'{_HELP_NOW}' lists the commands allowed now"
        ) from error
    return action


def _explain_parse_error(line: str, game: Game[Any], action: Mapping[str, Json], error: MatError) -> str:
    """Explain why `line`, of which `action` was read, is malformed, with an example if its first word is known."""
    first = find_verb(game.name, next(iter(line.split()), ""))
    seen = _find_actions_by_word(game)
    own = next((form for form in _TABLE_FORMS if form.split()[0] == first), None)
    if own is not None:
        return f"{line.strip()[:60]} is incomplete: {own}"
    if first not in seen:
        return f"not understood: {line.strip()[:60]}{did_you_mean(first, (*seen, *_words_typed(game)))}"
    example = next(reversed(_lines(game, seen[first])), "") if seen[first] else ""
    left_out = next((place for place in game.forms.get(first, ()) if place.asks and not _has(action, place.path)), None)
    if action and left_out is not None:
        return f"{first} needs {left_out.asks}{example and f': {example}'}"
    return "; ".join(filter(None, (f"{first}: {error.message}", error.hint, example and f"for example: {example}")))


def _has(action: Mapping[str, Json], path: str) -> bool:
    """Return whether `action` has a value at `path`, such as `red.woman`."""
    here: object = action
    for key in path.split("."):
        if not isinstance(here, Mapping) or key not in here:
            return False
        here = cast("Mapping[str, Json]", here)[key]
    return True


def _words_typed(game: Game[Any]) -> Iterator[str]:
    """Yield the first words of all lines except the game's actions."""
    yield from (form.split()[0] for form in _TABLE_FORMS)
    firsts = (word for places in game.forms.values() if places for word in places[0].words or ())
    yield from (word for word in firsts if find_verb(game.name, word) != word)


def _find_actions_by_word(game: Game[Any]) -> dict[str, list[dict[str, Json]]]:
    """Return the possible actions by their first word, collected over the first steps of `game`."""
    state = game.opening()
    seen: dict[str, list[dict[str, Json]]] = {word: [] for word in game.forms}
    for _ in range(_STEPS):
        legal = game.legal_actions(state)
        if not legal:
            break
        for action in legal:
            seen.setdefault(str(action["do"]), []).append(action)
        state, _ = game.play(state, legal[0])
    return seen


def _examples(game: Game[Any]) -> list[str]:
    """Return example lines of `game`, one or two for each action word."""
    return [
        line
        for actions in _find_actions_by_word(game).values()
        if actions
        for line in _shortest_and_longest(_lines(game, actions))
    ]


def _shortest_and_longest(lines: list[str]) -> dict[str, None]:
    """Return the first of `lines`, and the longest, which leaves out the fewest parts."""
    return dict.fromkeys((lines[0], max(lines, key=len)))


def _lines(game: Game[Any], actions: Iterable[dict[str, Json]]) -> list[str]:
    return [format_action(game.name, action) for action in actions]
