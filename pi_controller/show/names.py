"""Sanitises names for display on one line: any script, without invisible characters that break a layout."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from pi_controller.games.wording import printable

if TYPE_CHECKING:
    from pi_controller.table.view import View

MAX_CHARACTERS = 40
_MAX_MARKS = 4  # more combining marks than any spelling stacks would climb over the lines above
_JOINERS = "\u200c\u200d"  # some scripts and emoji are spelled with them
_FIRST_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"
ISOLATES = re.compile(f"[{_FIRST_ISOLATE}{_POP_ISOLATE}]")


def clean(name: str) -> str:
    """Return `name` in NFC on one line: no control or direction characters, at most 40 characters, marks bounded."""
    kept: list[str] = []
    marks = 0
    # only what stays is composed: a sign that goes may stand between a letter and its mark
    for char in unicodedata.normalize("NFC", printable(name)):
        if char.isspace() or unicodedata.category(char)[0] == "Z":
            if kept and kept[-1] != " ":
                kept.append(" ")
        else:
            marks = marks + 1 if unicodedata.category(char)[0] == "M" else 0
            if marks <= _MAX_MARKS:
                kept.append(char)
    return "".join(kept)[:MAX_CHARACTERS].strip(" " + _JOINERS)


def team_name(view: View, team: str) -> str:
    """Return the name to show for team `A` or `B`; a team without one is called by its letter."""
    return clean(view.teams.get(team, "")) or f"Team {team}"


def player_name(view: View, player: str) -> str:
    """Return the name to show for a player of the score sheet; team letters are shown by their teams' names."""
    return clean(view.teams.get(player, "")) or clean(player) or "?"


def inline(name: str) -> str:
    """Return `name` for the middle of a sentence: one that runs right to left is isolated from the words around it."""
    if any(unicodedata.bidirectional(char) in {"R", "AL", "AN"} for char in name):
        return f"{_FIRST_ISOLATE}{name}{_POP_ISOLATE}"
    return name
