"""The judge's words at the terminal: one line, one call. A table can be played with nothing else.

toss A        hit / found / missed      answer 2        again        undo
foul hider no_bead [last]               foul hitter time
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.errors import MatError, UsageError
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeCall, JudgeHideAgain, JudgeUndo

if TYPE_CHECKING:
    from pi_controller.table.table import Table

HELP = """The judge can type: toss A | toss B | found [PAD] | missed [PAD] | foul hider KIND [last] | foul hitter KIND
                    answer CHOICE | again (the hide starts over) | undo [REASON]"""


def understand(line: str, t: float) -> JudgeCall:
    """Return the call that `line` makes at time `t`; raises `UsageError` for a line that makes none."""
    match line.split():
        case ["toss", ("A" | "B" | "a" | "b") as team]:
            return JudgeAction(t, {"do": "toss", "winner": team.upper()})
        case [("found" | "missed") as word]:
            return JudgeAction(t, {"do": "hit", "found": word == "found"})
        case [("found" | "missed") as word, pad] if pad.isdecimal():
            return JudgeAction(t, {"do": "hit", "found": word == "found", "pad": int(pad[:9])})
        case ["foul", by, kind, *last] if last in ([], ["last"]):
            action: dict[str, Any] = {"do": "foul", "by": by, "kind": kind}
            return JudgeAction(t, action | ({"hide": "last"} if last else {}))
        case ["answer", choice]:
            return JudgeAnswer(t, choice)
        case ["again"]:
            return JudgeHideAgain(t)
        case ["undo", *reason]:
            return JudgeUndo(t, " ".join(reason))
        case _:
            raise UsageError(f"{line.strip()[:60]!r} is nothing the judge can say", HELP.split(": ", 1)[1])


def say(table: Table, line: str, t: float) -> str:
    """Let the judge say `line` to the table at `t`; return what to print."""
    if not line.strip():
        return ""
    try:
        table.judge(understand(line, t))
    except MatError as error:
        return str(error)
    return "so it stands"
