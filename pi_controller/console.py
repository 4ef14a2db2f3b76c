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
from contextlib import suppress
from typing import TYPE_CHECKING, Any, get_args

from pi_controller.errors import MatError, UsageError
from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.games.restoring import changed
from pi_controller.games.wording import nearest, printable
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
    from collections.abc import Iterable, Mapping

    from pi_controller.games.base import Game, Json
    from pi_controller.table.table import Table

_OF_THE_TABLE = """
                    replace LINE (undo, and this in its place) | hidden (the hiders are ready)
                    sensors off|on [REASON] | clock stop|go [REASON]
                    forfeit SIDE (a team or player withdraws, does not come or is disqualified)
                    protest A|B [TEXT] | ruling upheld|denied|play_on REASON
                    close A|B forfeit|disqualified|no_show REASON (they are out of the game)
                    new [swapped] (when the game is over: another one; swapped: each team at the other's side)
                    set KEY=VALUE ... ; REASON (what stands otherwise, by the score sheet's keys: long.A=8 middle=8)
                    help words (how the words called sound, and what they mean)"""
HELP = f"""The judge can type: toss A | toss B | found [PAD] | missed [PAD] | foul hider KIND [last] | foul hitter KIND
                    answer CHOICE | again (the hide starts over) | undo [REASON]{_OF_THE_TABLE}"""
"""What can be typed where the mat plays along."""
_OTHER_WORDS = f"                    undo [REASON] | help (examples of what can be typed now){_OF_THE_TABLE}"
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
            f"{line.strip()[:60]!r} is nothing the judge can say: {error.what}", "set long.A=8 middle=8; why"
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


def run_line(table: Table, line: str, t: float, language: str = "en") -> str:
    """Execute `line` at the table at `t`; return what to print, the words called explained in `language`."""
    if not line.strip():
        return ""
    if line.strip() == "help":
        return help_now(table)
    if line.split() == ["help", "words"]:
        return "\n".join(glossary(table.game.name, language)) or "No words are called in this game."
    try:
        table.judge(understand(line, t, table.game, table.game.sheet(table.story.state)))
    except MatError as error:
        return str(error)
    return "so it stands"


def help_for(game: Game[Any]) -> str:
    """Return what can be typed in `game`: for one that the judge alone keeps, examples of each of its words."""
    if game.hand_passes:
        return HELP
    return f"The judge can type, for example: {' | '.join(_examples(game))}\n{_OTHER_WORDS}"


def help_now(table: Table) -> str:
    """Return what can be typed at the table now, one line for all actions that come to the same."""
    now = table.game.legal_actions(table.story.state)
    if table.game.hand_passes or not now:
        return help_for(table.game)
    return f"Now the judge can type, for example: {' | '.join(_lines(table.game, now))}\n{_OTHER_WORDS}"


def _parse_action(line: str, game: Game[Any]) -> dict[str, Json]:
    """Return the action of `game` that `line` says; raises `UsageError`."""
    return game.shorthand(line.split()) or _action(line, game)


def _action(line: str, game: Game[Any]) -> dict[str, Json]:
    """Return the action that `line` says in the record's form; raises `UsageError`."""
    try:
        action = parse_action(game.name, scan(line)[0])
        with suppress(IllegalActionError):  # an action, only not the first of a game
            game.play(game.opening(), action)
    except (RecordError, InvalidActionError) as error:
        first, words = next(iter(line.split()), ""), tuple(_seen(game))
        known = first.lower() in words
        why = "; ".join(filter(None, (f": {error.what}", error.todo))) if known else nearest(first, words)
        raise UsageError(
            f"{line.strip()[:60]!r} is nothing the judge can say{why}", help_for(game).split(": ", 1)[1]
        ) from error
    return action


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
