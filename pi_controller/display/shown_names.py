"""Sanitise names for display on one line: any script, without invisible characters that break a layout."""

import re
import unicodedata
from functools import lru_cache

from pi_controller.table.view import View
from pi_controller.text import MAX_NAME_CHARS, strip_controls

_MAX_MARKS = 4  # no spelling needs more; further marks would overlap the lines above
_JOINERS = "\u200c\u200d"  # some scripts and emoji are spelled with them
_FIRST_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"
ISOLATES = re.compile(f"[{_FIRST_ISOLATE}{_POP_ISOLATE}]")


@lru_cache(maxsize=4096)
def clean_name(name: str) -> str:
    """Return `name` in NFC on one line, without control or direction characters.

    A name longer than `MAX_NAME_CHARS` is cut and ends in an ellipsis. A letter keeps at most four combining marks.
    """
    kept: list[str] = []
    marks = 0
    # compose after removal: a removed character may be between a letter and its mark
    for char in unicodedata.normalize("NFC", strip_controls(name)):
        if char.isspace() or unicodedata.category(char)[0] == "Z":
            if kept and kept[-1] != " ":
                kept.append(" ")
        else:
            marks = marks + 1 if unicodedata.category(char)[0] == "M" else 0
            if marks <= _MAX_MARKS:
                kept.append(char)
    whole = "".join(kept).strip(" " + _JOINERS)
    return whole if len(whole) <= MAX_NAME_CHARS else whole[: MAX_NAME_CHARS - 1].rstrip(" " + _JOINERS) + "…"


def team_name(view: View, team: str) -> str:
    """Return the display name of team `A` or `B`; without a name, its letter."""
    return clean_name(view.teams.get(team, "")) or f"Team {team}"


def player_name(view: View, player: str) -> str:
    """Return the display name of a side of the scoreboard; team letters become their teams' names."""
    return clean_name(view.teams.get(player, "")) or clean_name(player) or "?"


def isolate_name(name: str) -> str:
    """Return `name` for the middle of a sentence; right-to-left names are isolated from the words around them."""
    if any(unicodedata.bidirectional(char) in {"R", "AL", "AN"} for char in name):
        return f"{_FIRST_ISOLATE}{name}{_POP_ISOLATE}"
    return name
