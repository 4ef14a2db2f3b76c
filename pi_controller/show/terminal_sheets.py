"""The games that are told by their score sheet, in the terminal: teams or players, their sticks, and the pads or ring.

`DRAWN` holds one function a game: view, language and width in, lines out, at most 16 of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from pi_controller.games.ojibwe import value
from pi_controller.games.ojibwe_state import COUNTERS, PADS
from pi_controller.games.patol import RIVERS, STONES
from pi_controller.games.slahal_state import ALL_DEAD, PER_TEAM
from pi_controller.show import sheet_phrases
from pi_controller.show.i18n import catalogue
from pi_controller.show.lines import BOLD, DIM, bar, fit, label, solid
from pi_controller.show.names import player_name, team_name
from pi_controller.show.paint import MIDDLE, PLAYERS, RIVER, TEAM_A, TEAM_B, share

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_controller.show.paint import Light
    from pi_controller.table.view import View

_TEAMS: Mapping[str, tuple[str, Light, str]] = {"A": ("●", TEAM_A, "1"), "B": ("■", TEAM_B, "10")}
_BAR = 20


def _team(team: str, name: str, score: object, width: int) -> Text:
    shape, light, _ = _TEAMS[team]
    head = Text.assemble((f"{shape} {team}  ", solid(light)))
    if score != "":
        head.append(f"{score}  ", BOLD)
    return fit(head.append(name, solid(light)), width)


def _row(said: str, strip: Text, count: object, width: int) -> Text:
    return fit(label(f"  {said}").append_text(strip).append(f"  {count}", BOLD), width)


def _ojibwe(view: View, language: str, width: int) -> list[Text]:
    text, sheet = catalogue(language).gettext, view.sheet
    lines: list[Text] = []
    for team, (_, light, dims) in _TEAMS.items():
        counters = sheet["counters"][team]
        lines += [
            _team(team, team_name(view, team), sheet["short"][team], width),
            _row(
                sheet_phrases.role(view, team, language), bar(counters, COUNTERS, width, light, dims), counters, width
            ),
        ]
    lines.append(_row(text("pool"), bar(sheet["pool"], COUNTERS, width, MIDDLE), sheet["pool"], width))
    score = f"{sheet['short']['A']}–{sheet['short']['B']}"
    lines.append(fit(label("  " + text("short")).append(score, BOLD), width))
    pads = label("  " + text("pads"))
    for pad in PADS:
        high = pad == sheet["high"]
        pads.append(f"[{pad}] ", DIM).append(str(value(pad, sheet["high"])), BOLD)
        pads.append(f" {text('high')}" if high else "", BOLD)
        pads.append(f" {text('open')}" if pad in view.opened else "", DIM).append("   ")
    lines.append(fit(pads, width))
    hides = label("  " + text("to find")).append(str(sheet["hides_left"]), BOLD)
    if sheet["banked"]:
        hides.append("  ").append_text(label(text("banked"))).append(str(sheet["banked"]), BOLD)
    lines.append(fit(hides, width))
    return lines


def _slahal(view: View, language: str, width: int) -> list[Text]:
    text, sheet = catalogue(language).gettext, view.sheet
    lines: list[Text] = []
    for team, (_, light, dims) in _TEAMS.items():
        live, dead = sheet["live"][team], sheet["dead"][team]
        head = _team(team, team_name(view, team), sheet["sticks"][team], width)
        said = " · ".join(
            filter(None, (sheet_phrases.role(view, team, language), text("king stick") * (sheet["king"] == team)))
        )
        lines += [
            head,
            fit(Text(f"  {said}", BOLD), width),
            _row(text("live"), bar(live, PER_TEAM, width, light, dims), live, width),
            _row(text("dead"), bar(dead, ALL_DEAD, width, light, "0"), dead, width),
        ]
    out = "◖◗ " * (sheet["pairs_out"] or 0) or "–"
    lines.append(fit(label("  " + text("bones out")).append(out, BOLD), width))
    if sheet["king"] is None:
        lines.append(fit(Text("  " + text("The king stick is not won yet"), DIM), width))
    return lines


def _bageswin(view: View, language: str, width: int) -> list[Text]:
    text, sheet = catalogue(language).gettext, view.sheet
    players = sheet["players"]
    total = sheet["bank"] + sum(player["sticks"] for player in players)
    lines = [_row(text("bank"), bar(share(sheet["bank"], total, _BAR), _BAR, width, MIDDLE), sheet["bank"], width)]
    for i, player in enumerate(players):
        light, dims = PLAYERS[i % len(PLAYERS)]
        mark = "▶" if player["name"] == sheet["thrower"] and not sheet["winner"] else " "
        said = _row("", bar(share(player["sticks"], total, _BAR), _BAR, width, light, dims), player["sticks"], width)
        said.plain = f"{mark} {i + 1}" + said.plain[3:]
        said.append(f"  {text('out')}" if player["out"] else "", DIM)
        lines.append(fit(said.append("  ").append(player_name(view, player["name"]), solid(light)), width))
    return lines


def _plum_stone(view: View, language: str, width: int) -> list[Text]:
    text, sheet = catalogue(language).gettext, view.sheet
    total = sheet["pile"] + sum(sheet["counters"].values())
    lines: list[Text] = []
    for team, (_, light, dims) in _TEAMS.items():
        held = sheet["counters"][team]
        lines += [
            _team(team, player_name(view, team), "", width),
            _row(
                sheet_phrases.role(view, team, language),
                bar(share(held, total, _BAR), _BAR, width, light, dims),
                held,
                width,
            ),
            Text(""),
        ]
    lines.append(_row(text("pile"), bar(share(sheet["pile"], total, _BAR), _BAR, width, MIDDLE), sheet["pile"], width))
    return lines


def _patol(view: View, language: str, width: int) -> list[Text]:
    """Draw the ring as its four quarters, ten notches each, a horse by its player's number."""
    text, horses = catalogue(language).gettext, view.sheet["horses"]
    lines: list[Text] = []
    for river, first in RIVERS.items():
        quarter = label("  " + text(sheet_phrases.RIVERS[river]))
        for notch in range(first, first + STONES // len(RIVERS)):
            quarter.append_text(_notch(horses, notch, 3 if width < 62 else 4))
        lines.append(fit(quarter, width))
    for i, horse in enumerate(horses):
        light, _ = PLAYERS[i % len(PLAYERS)]
        throws = horse["player"] == view.sheet["thrower"] and not view.sheet["winner"]
        line = Text.assemble(("▶ " if throws else "  ", BOLD), (f"{i + 1} ", solid(light)))
        line.append(f"{sheet_phrases.horse(horse, language)}  ", DIM)
        lines.append(fit(line.append(player_name(view, horse["player"]), solid(light)), width))
    return lines


def _notch(horses: list[dict[str, Any]], notch: int, cells: int) -> Text:
    """Return one notch: the horses in it, or a river, or nothing; `+` stands for horses there is no room for."""
    here = [i for i, horse in enumerate(horses) if horse["notch"] == notch]
    said = Text()
    for n, i in enumerate(here):
        if n == cells - 2 and len(here) > cells - 1:
            said.append("+", BOLD)
            break
        said.append(str(i + 1), solid(PLAYERS[i % len(PLAYERS)][0]))
    if not here:
        river = notch in RIVERS.values()
        said.append("≈" if river else "·", solid(RIVER, bold=False) if river else DIM)
    said.append(" " * (cells - said.cell_len))
    return said


DRAWN: Mapping[str, Callable[[View, str, int], list[Text]]] = {
    "ojibwe": _ojibwe,
    "slahal": _slahal,
    "bageswin": _bageswin,
    "plum_stone": _plum_stone,
    "patol": _patol,
}
"""How each game's table is drawn, by its name."""
