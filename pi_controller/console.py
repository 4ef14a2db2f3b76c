"""Command line of a running table: parses the judge's lines into commands. A table can be played with nothing else.

toss A        hit / found / missed      answer 2        again        undo        replace found 2
foul hider no_bead [last]               foul hitter time             hidden                forfeit B
sensors off the drums                   clock stop                   protest B his sleeve        ruling denied seen
close A no_show called three times        new [swapped]
set long.A=8 middle=8; a stick had rolled away

Any game takes its actions as its record writes them (`pi_controller.record.notation`): `guess left inside`, `throw 3`.
A throw takes one touch a piece: the first letter of each piece that shows red (bageswin: w f k b), of each moon and
each white (plum stones: m w), the number of marked faces (patol), or 0 for none. A guess whose bones the mat has read
needs no more than its signal: `guess left`. `set` says what is otherwise than the table has it, under the score sheet's
keys.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any, cast, get_args

from pi_controller.errors import MatError, UsageError
from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.games.dakota_state import HIDER_FOULS, HITTER_FOULS
from pi_controller.games.forms import TEAM
from pi_controller.games.restoring import changed
from pi_controller.games.wording import listed, nearest, printable
from pi_controller.record.model import RecordError
from pi_controller.record.notation import parse_action, spoken
from pi_controller.record.values import scan
from pi_controller.referee.judge import (
    ClosedBy,
    JudgeAction,
    JudgeAnswer,
    JudgeCall,
    JudgeClock,
    JudgeClose,
    JudgeHidden,
    JudgeHideAgain,
    JudgeNewGame,
    JudgeProtest,
    JudgeReplace,
    JudgeRuling,
    JudgeSensors,
    JudgeSet,
    JudgeUndo,
)
from pi_controller.show.words import glossary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_controller.games.base import Game, Json
    from pi_controller.table.table import Table

_HELP_NOW, _HELP_ALL, _HELP_WORDS = "help", "help all", "help words"
_OF_THE_TABLE: Mapping[str, str] = {
    "undo [REASON]": "takes back the last thing that was entered",
    "replace LINE": "undo, and LINE in its place",
    "hidden": "the hiders are ready",
    "answer CHOICE": "answers the mat's question",
    "again": "the hide starts over",
    "sensors off|on [REASON]": "play goes on without what the mat feels, or with it again",
    "clock stop|go [REASON]": "stops the clocks, or lets them run on",
    "forfeit SIDE": "a team or player withdraws, does not come or is disqualified",
    "protest A|B [TEXT]": "play stands until it is decided",
    "ruling upheld|denied|play_on REASON": "decides the protest",
    "close SIDE forfeit|disqualified|no_show REASON": "they are out of the game",
    "new [swapped]": "another game, when this one is over; swapped: each team at the other's side",
    "set KEY=VALUE ... ; REASON": "what stands otherwise, by the score sheet's keys: long.A=8 middle=8",
    _HELP_NOW: "what can be typed now",
    _HELP_WORDS: "how the words called sound, and what they mean",
}
"""What can be typed in every game, and what it does."""
_OF_HIDES: Mapping[str, str] = {
    "toss A|B": "who won the toss",
    "found [PAD], missed [PAD]": "a hit, and on which pad",
    "foul hider KIND [last]": f"KIND: {listed(HIDER_FOULS)}; last: in the hide before",
    "foul hitter KIND": f"KIND: {listed(HITTER_FOULS)}",
}
"""What can be typed where the mat plays along."""
_FORM = 28
"""Characters before what a line does."""
_UNBROKEN = "\u00a0"
_STEPS = 12
"""So far into a game all its words have come up: eight players start before the first throw of patol."""


def understand(line: str, t: float, game: Game[Any], sheet: Mapping[str, Json] | None = None) -> JudgeCall:
    """Return the call that `line` makes at time `t`; raises `UsageError` for a line that makes none.

    What is returned is an action of `game`; whether it is allowed now is the table's to say. `sheet` is how the table
    stands, the opening if it is None: what `set` does not name stays so.
    """
    # the journal cannot keep bytes that the terminal did not decode
    line = printable(line.encode("utf-8", "replace").decode()).strip()
    match line.split():
        case ["answer", choice]:
            return JudgeAnswer(t, choice)
        case ["again"]:
            return JudgeHideAgain(t)
        case ["new", *how] if how in ([], ["swapped"]):
            return JudgeNewGame(t, swapped=bool(how))
        case ["undo", *reason]:
            return JudgeUndo(t, " ".join(reason))
        case ["replace", *words] if words:
            return JudgeReplace(t, _parse_action(line.split(maxsplit=1)[1], game))
        case ["set", *words] if words:
            return _set(line, t, game, sheet)
        case words:
            return _of_table(words, t) or JudgeAction(t, _parse_action(line, game))


def _set(line: str, t: float, game: Game[Any], sheet: Mapping[str, Json] | None) -> JudgeSet:
    """Return the call that sets the table as it stands but for what `line` names; raises `UsageError`."""
    try:
        tokens, reason = scan(line)
        changes = [(token.key or token.word or token.tag, token.value) for token in tokens[1:]]
        now = game.sheet(game.opening()) if sheet is None else sheet
        return JudgeSet(t, changed(now, changes), reason)
    except (RecordError, InvalidActionError) as error:
        raise UsageError(
            f"not understood: {line.strip()[:60]}: {error.what}", "write it so: set long.A=8 middle=8; why"
        ) from error


def _of_table(words: list[str], t: float) -> JudgeCall | None:
    """Return what is said of the table itself, or None where it is something else."""
    match words:
        case ["hidden"]:
            return JudgeHidden(t)
        case ["sensors", "on" | "off" as way, *reason]:
            return JudgeSensors(t, way == "on", " ".join(reason))
        case ["clock", "go" | "stop" as way, *reason]:
            return JudgeClock(t, way == "go", " ".join(reason))
        case ["protest", "A" | "a", *text]:
            return JudgeProtest(t, "A", " ".join(text))
        case ["protest", "B" | "b", *text]:
            return JudgeProtest(t, "B", " ".join(text))
        case ["close", *rest]:
            return _closed(rest, t)
        case ["ruling", "upheld" | "denied" | "play_on" as ruling, *reason]:
            return JudgeRuling(t, ruling, " ".join(reason))
        case _:
            return None


def _closed(words: list[str], t: float) -> JudgeClose | None:
    """Return the call that closes the game for a side, whose name may be of several words."""
    for at, word in enumerate(words[1:], 1):
        for cause in get_args(ClosedBy):
            if word == cause:
                return JudgeClose(t, " ".join(words[:at]), cause, " ".join(words[at + 1 :]))
    return None


def typed_lines() -> queue.SimpleQueue[str]:
    """Return the lines typed at the terminal from now on; a thread of its own waits for them."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)

    threading.Thread(target=read, name="console", daemon=True).start()
    return lines


def run_line(table: Table, line: str, t: float, language: str = "en", width: int = 80) -> str:
    """Execute `line` at the table at `t`; return what to print, the words called explained in `language`.

    Help is in lines of at most `width` characters.
    """
    if not line.strip():
        return ""
    typed = " ".join(line.split())
    if typed == _HELP_NOW:
        return help_now(table, width)
    if typed == _HELP_ALL:
        return help_all(table.game, width)
    if typed == _HELP_WORDS:
        words = (fill(line, width, subsequent_indent="  ") for line in glossary(table.game.name, language))
        return "\n".join(words) or "No words are called in this game."
    try:
        table.judge(understand(line, t, table.game, table.game.sheet(table.story.state)))
    except MatError as error:
        return str(error)
    return "so it stands"


def help_now(table: Table, width: int = 80) -> str:
    """Return what can be typed at the table as it stands, in lines of at most `width` characters."""
    lines = _filled("Now: ", _typed_now(table), width)
    if table.game.short_form and table.view.phase in ("throw", "guess"):
        lines += _filled("Shorter: ", [table.game.short_form], width)
    return "\n".join([*lines, *_filled("Always: ", ["undo [REASON]", _HELP_ALL, _HELP_WORDS], width)])


def help_all(game: Game[Any], width: int = 80) -> str:
    """Return all that can be typed in `game` and what it does, in lines of at most `width` characters."""
    if game.hand_passes:
        lines = _explained(_OF_HIDES, width)
    else:
        lines = _filled("For example: ", _examples(game), width)
        lines += _filled("Shorter: ", [game.short_form], width) if game.short_form else []
    return "\n".join([*lines, *_explained(_OF_THE_TABLE, width)])


def _typed_now(table: Table) -> list[str]:
    """Return the lines that take the game on from where it stands; examples where there are many alike."""
    story, game = table.story, table.game
    if story.held:
        return [f"ruling {ruling} REASON" for ruling in ("upheld", "denied", "play_on")]
    if game.over(story.state):
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
        elif (places := game.forms.get(word)) and places[0].words is TEAM:  # legal actions leave out the other alike
            typed += _lines(game, ({**actions[0], places[0].path: team} for team in "AB"))
        else:
            typed += _shortest_and_longest(_lines(game, actions))
    return ["hidden", *typed] if story.phase == "hide" and game.hidden is not None else typed


def _filled(head: str, items: Iterable[str], width: int) -> list[str]:
    """Return `items` behind `head` with bars between them, broken in an item only where it is wider than a line."""
    room = width - len(head)
    whole = (item if len(item) > room else item.replace(" ", _UNBROKEN) for item in items)
    lines = wrap(head + " | ".join(whole), width, subsequent_indent=" " * len(head), break_on_hyphens=False)
    return [line.replace(_UNBROKEN, " ") for line in lines]


def _explained(forms: Mapping[str, str], width: int) -> list[str]:
    """Return each line with what it does beside or, where there is no room, below it, broken at words."""
    lines: list[str] = []
    for form, does in forms.items():
        head, indent = f"  {form}  ".ljust(_FORM), " " * _FORM
        if len(head) > _FORM:
            lines += wrap(form, width, initial_indent="  ", subsequent_indent="    ")
            head = indent
        lines += wrap(does, width, initial_indent=head, subsequent_indent=indent, break_on_hyphens=False)
    return lines


def _parse_action(line: str, game: Game[Any]) -> dict[str, Json]:
    """Return the action of `game` that `line` says; raises `UsageError`."""
    return game.shorthand(line.split()) or _action(line, game)


def _action(line: str, game: Game[Any]) -> dict[str, Json]:
    """Return the action that `line` says in the record's form; raises `UsageError`."""
    action: dict[str, Json] = {}
    try:
        action = parse_action(game.name, scan(line)[0])
        with suppress(IllegalActionError):  # an action, only not the first of a game
            game.play(game.opening(), action)
    except (RecordError, InvalidActionError) as error:
        raise UsageError(
            _not_understood(line, game, action, error), f"'{_HELP_NOW}' tells what can be typed now"
        ) from error
    return action


def _not_understood(line: str, game: Game[Any], action: Mapping[str, Json], error: MatError) -> str:
    """Return what is wrong with `line`, of which `action` was read, with an example where its first word is known."""
    first, seen = next(iter(line.split()), "").lower(), _seen(game)
    own = next((form for form in _OF_THE_TABLE if form.split()[0] == first), None)
    if own is not None:
        return f"{line.strip()[:60]} is not whole: {own}"
    if first not in seen:
        return f"not understood: {line.strip()[:60]}{nearest(first, (*seen, *_words_typed(game)))}"
    example = next(reversed(_lines(game, seen[first])), "") if seen[first] else ""
    left_out = next((place for place in game.forms.get(first, ()) if place.asks and not _has(action, place.path)), None)
    if action and left_out is not None:
        return f"{first} needs {left_out.asks}{example and f': {example}'}"
    return "; ".join(filter(None, (f"{first}: {error.what}", error.todo, example and f"for example: {example}")))


def _has(action: Mapping[str, Json], path: str) -> bool:
    """Return whether something of `action` stands at `path`, such as `red.woman`."""
    here: object = action
    for key in path.split("."):
        if not isinstance(here, Mapping) or key not in here:
            return False
        here = cast("Mapping[str, Json]", here)[key]
    return True


def _words_typed(game: Game[Any]) -> Iterator[str]:
    """Yield the words that a line can begin with, but for those of the game's actions."""
    yield from (form.split()[0] for form in _OF_THE_TABLE)
    yield from ("found", "missed") if game.hand_passes else ()


def _seen(game: Game[Any]) -> dict[str, list[dict[str, Json]]]:
    """Return each word of `game`, with the actions that begin with it as they come up at its beginning."""
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
    """Return lines of `game`, one or two for each of its words."""
    return [
        line for actions in _seen(game).values() if actions for line in _shortest_and_longest(_lines(game, actions))
    ]


def _shortest_and_longest(lines: list[str]) -> dict[str, None]:
    """Return the first of `lines`, and the longest, which leaves the least out."""
    return dict.fromkeys((lines[0], max(lines, key=len)))


def _lines(game: Game[Any], actions: Iterable[dict[str, Json]]) -> list[str]:
    return [spoken(game.name, action) for action in actions]
