"""Views of the games told by their score sheet, from games really played: any legal action, again and again."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st
from random_play import legal_action

from pi_controller.journal.score_history import build_score_history
from pi_controller.referee.facts import ActionPlayed
from pi_controller.rules import registry
from pi_controller.table.view import View

GAMES = tuple(name for name in registry.names() if not registry.game_class(name).hand_passes)
"""The games that are told by their score sheet."""

PHASES = {"ojibwe": "hide", "slahal": "hide", "bageswin": "throw", "plum_stone": "throw", "patol": "throw"}
NAMES = ("Ana", "Bo", "<b>Č</b>", "قبيلة", "日本日本", "W" * 60, "\u200b", "Ḣapéna")
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "ojibwe": [
        {},
        {"start_counters": "split_10_10", "high_reset": "never"},
        {"games": 12, "one_stick": "keeps_shooting"},
    ],
    "slahal": [{}, {"king_last": True}, {"payment": "live_dead_own"}],
    "bageswin": [{}, {"players": ",".join(NAMES)}, {"players": "A,Bo,C", "sticks": 7}],
    "plum_stone": [{}, {"counters": 5}, {"counters": 3}],
    "patol": [{}, {"players": ",".join(NAMES)}, {"players": ",".join(NAMES), "killing": False, "circuits": 3}],
}


def view_of(
    name: str,
    sheet: dict[str, Any],
    calls: tuple[str, ...] = (),
    settings: dict[str, Any] | None = None,
    **changed: Any,
) -> View:
    """Return the view of a sheet as a table without hides gives it."""
    told: dict[str, Any] = {
        "seq": 1,
        "game": name,
        "version": "1",
        "teams": {"A": "Big Coulee", "B": "Long Hollow"},
        "phase": "over" if sheet["winner"] else PHASES.get(name, "hide"),
        "hide": 0,
        "scoreboard": registry.game(name, settings or {}).scoreboard(sheet),
        "winner": sheet["winner"],
        "calls": calls,
        "sheet": sheet,
    }
    return View(**(told | changed))


def play(
    name: str,
    seed: int,
    actions: int,
    settings: dict[str, Any] | None = None,
    leaves: int | None = None,
    **changed: Any,
) -> View:
    """Return the view after `actions` legal actions, or fewer when the game is over before.

    After `leaves` of them somebody who is still in the game forfeits it.
    """
    game, chance = registry.game(name, settings or {}), random.Random(seed)
    state, calls, before, records = game.opening(), (), None, []
    for n in range(actions):
        if n == leaves and not game.is_over(state):
            sheet = game.sheet(state)
            rows = sheet.get("players") or sheet.get("horses") or ({"name": "A"}, {"name": "B"})
            left = [row.get("name") or row["player"] for row in rows if not row.get("out")]
            forfeit = {"do": "forfeit", "by": chance.choice(left)}
            before, (state, calls) = state, game.play(state, forfeit)
            records.append((len(records) + 1, ActionPlayed(float(n), forfeit, calls, "judge")))
        action = legal_action(chance, game, state)
        if action is None:
            break
        before, (state, calls) = state, game.play(state, action)
        records.append((len(records) + 1, ActionPlayed(float(n), action, calls, "judge")))
    past = None if before is None else game.scoreboard(game.sheet(before))
    course = build_score_history(game, records) if game.is_over(state) else None
    return view_of(name, game.sheet(state), calls, settings, **{"before": past, "course": course, **changed})


@st.composite
def views(draw: st.DrawFn, games: tuple[str, ...] = GAMES) -> View:
    """Return views of random games, long and short."""
    name = draw(st.sampled_from(games))
    seed, actions = draw(st.integers(0, 2**32)), draw(st.one_of(st.integers(0, 30), st.integers(0, 300)))
    leaves = draw(st.one_of(st.none(), st.none(), st.integers(0, max(0, actions - 1))))
    return play(name, seed, actions, draw(st.sampled_from(SETTINGS[name])), leaves)
