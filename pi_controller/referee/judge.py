"""What a judge can say to the referee: take an action, answer a question, undo, or hide again."""

from __future__ import annotations

from typing import Any

import msgspec


class JudgeAction(msgspec.Struct, frozen=True, tag_field="judge", tag="action"):
    """An action of the game, entered by hand: `{"do": "hit", "found": true}`."""

    t: float
    action: dict[str, Any]


class JudgeAnswer(msgspec.Struct, frozen=True, tag_field="judge", tag="answer"):
    """An answer to the open question, one of its choices."""

    t: float
    answer: str


class JudgeUndo(msgspec.Struct, frozen=True, tag_field="judge", tag="undo", omit_defaults=True):
    """Take back the last thing that changed the game."""

    t: float
    reason: str = ""


class JudgeHideAgain(msgspec.Struct, frozen=True, tag_field="judge", tag="hide_again", omit_defaults=True):
    """The hide in progress starts over; only before its first hit."""

    t: float
    reason: str = ""


JudgeCall = JudgeAction | JudgeAnswer | JudgeUndo | JudgeHideAgain
