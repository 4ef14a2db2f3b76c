"""What no section can see alone: pins that two things would drive, boards or names that cannot be meant, chances."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from pi_controller.pinmap import pinmap
from pi_controller.referee.settings import TOURNAMENT
from pi_controller.table.settings_file import Fault
from pi_controller.table.settings_game import GameSection, RefereeSection, TeamsSection, named_by_players
from pi_controller.table.settings_hardware import (
    BoardSection,
    ButtonsSection,
    MatSection,
    SecondBoardSection,
    StripsSection,
)
from pi_controller.table.settings_table import RecordingSection, WebSection


def clashes(data: dict[str, Any]) -> list[Fault]:
    """Return what is amiss between the sections of the file `data`."""
    return [*_pin_clashes(data), *_mat_clashes(data), *_chances_at_a_tournament(data), *_teams_of_players(data)]


def _chances_at_a_tournament(data: dict[str, Any]) -> list[Fault]:
    """Return a fault where chances of winning, a learning aid, would be shown at a tournament."""
    try:
        web = WebSection.model_validate(data.get("web", {}))
        referee = RefereeSection.model_validate(data.get("referee", {}))
    except ValidationError:
        return []
    if not web.chances or referee.preset not in TOURNAMENT:
        return []
    return [Fault(("web", "chances"), f'must be false where [referee] preset is "{referee.preset}"')]


def _teams_of_players(data: dict[str, Any]) -> list[Fault]:
    """Return a fault for each team that is named where players play, each alone: nobody would ever read it."""
    try:
        name = GameSection.model_validate(data.get("game", {})).name
        teams = TeamsSection.model_validate(data.get("teams", {}))
    except ValidationError:
        return []
    if not named_by_players(name):
        return []
    usual = TeamsSection()
    return [
        Fault(("teams", key), f'is of no use in {name}: name the players, [game.options] players = "Ann, Bo"')
        for key, said in teams
        if said != getattr(usual, key)
    ]


def _mat_clashes(data: dict[str, Any]) -> list[Fault]:
    """Return what is amiss between the mats and their boards. A section's own faults are told by itself."""
    try:
        seats = MatSection.model_validate(data.get("mat", {})).seats
        a = BoardSection.model_validate(data.get("board", {}))
        b = SecondBoardSection.model_validate(data.get("board_b", {}))
        recording = RecordingSection.model_validate(data.get("recording", {}))
    except ValidationError:
        return []
    if seats != "each":
        return [] if b.port == "none" else [Fault(("board_b", "port"), 'is read only where [mat] seats = "each"')]
    found = [
        Fault((name, "port"), 'must be "none" or the path of one board: there are two')
        for name, one in (("board", a), ("board_b", b))
        if one.port == "auto"
    ]
    if a.port == b.port != "none" and not found:
        found.append(Fault(("board_b", "port"), "is the board of [board]"))
    kept = (key for key in ("hits", "sensors") if getattr(recording, key))
    return found + [Fault(("recording", key), "cannot be kept of two mats yet: leave it false") for key in kept]


def _pin_clashes(data: dict[str, Any]) -> list[Fault]:
    """Return the pins that two things would drive. A section's own faults are told by itself."""
    try:
        strips = StripsSection.model_validate(data.get("strips", {}))
        buttons = ButtonsSection.model_validate(data.get("buttons", {}))
        board = BoardSection.model_validate(data.get("board", {}))
    except ValidationError:
        return []
    found: list[Fault] = []
    taken: dict[int, str] = {}
    if strips.kind == "board" and board.port in {"none", "pins"}:
        found.append(Fault(("strips", "kind"), f'is the board\'s, but [board] port is "{board.port}"'))
    if board.port == "pins":
        pi = pinmap().pi
        taken |= dict.fromkeys(pi.mcp3008.pins, "the MCP3008") | dict.fromkeys(pi.mpr121.pins, "the MPR121")
    if strips.kind == "pi":
        if strips.pin in taken:
            todo = "18 is free, but needs root on a Pi up to 4"
            found.append(Fault(("strips", "pin"), f"pin {strips.pin} is taken by {taken[strips.pin]}; {todo}"))
        taken.setdefault(strips.pin, "the light strips")
    if buttons.kind == "pi":
        found += [
            Fault(("buttons", "pins", key), f"pin {pin} is taken by {taken[pin]}")
            for key, pin in buttons.pins
            if pin in taken
        ]
    return found
