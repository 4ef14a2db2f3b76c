"""The games in the phases that look different, for pictures and for what must hold on every page."""

from __future__ import annotations

from typing import Any

import msgspec
from made_views import change_view, make_view
from played import play

from pi_controller.journal.file import DISK_FULL_HINT
from pi_controller.journal.score_history import ScoreHistory
from pi_controller.referee.commitment import CommitmentContext, commitment
from pi_controller.referee.story import PlayedTurn, ShownNotice
from pi_controller.sensing.events import SensorFault
from pi_controller.table.view import Hit, Opening, QuestionView, View

NONCE = bytes(range(32))
BOUND = CommitmentContext("Ann & Bo’s  Table", "0f" * 16, 41)
SEAL = commitment("dakota", 7, 4, NONCE, BOUND)
TEAMS = {"A": "Big Coulee", "B": "Long Hollow"}
DAKOTA = make_view(
    seq=40,
    teams=TEAMS,
    hide=7,
    long={"A": 8, "B": 5},
    middle=7,
    commit=SEAL,
    since=1000.0,
    limit=30.0,
    past=(
        PlayedTurn(3, "B", ({"do": "hit", "found": False}, {"do": "hit", "found": False}), ()),
        PlayedTurn(4, "B", ({"do": "hit", "found": True, "pad": 3},), ()),
        PlayedTurn(5, "A", ({"do": "foul", "by": "hider", "kind": "pad_skipped"},), ("foul",)),
        PlayedTurn(
            6, "B", ({"do": "hit", "found": False, "pad": 1}, {"do": "hit", "found": True, "pad": 4}), ("paguga",)
        ),
    ),
)
PLAYERS = {"players": "Ana,Bo,Chaska,Dawn,Eli,Fern,Gus,Hope"}
ALL = {"ojibwe": {}, "slahal": {}, "bageswin": PLAYERS, "plum_stone": {}, "patol": PLAYERS}
PLAYED = {"slahal": (0, 14), "bageswin": (17, 10)}
"""Seed and actions of the games that are over sooner than the others."""
NOW = 1012.0
"""A time at which the clocks of these views run."""


COURSE = ScoreHistory(
    17,
    {
        "A": (0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3),
        "B": (0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5),
    },
    2,
    7,
)


def _dakota(hid: str | None = None, held: dict[str, int] | None = None, **changed: Any) -> View:
    """Return the view with `changed`; `hid` is who hid in the hide just settled, `held` the sticks before it."""
    view = change_view(DAKOTA, **changed)
    before = change_view(view, hider=hid, long=held or view.sheet["long"]).scoreboard if hid else None
    return msgspec.structs.replace(view, before=before)


PHASES: dict[str, View] = {
    "toss": _dakota(
        phase="toss",
        hider=None,
        owed=None,
        hide=0,
        long={"A": 0, "B": 0},
        middle=20,
        short={"A": 0, "B": 0},
        commit=None,
        limit=None,
        past=(),
    ),
    "hide": _dakota(phase="hide", commit=None, limit=None, calls=("paguga",)),
    "hit": _dakota(),
    "second": _dakota(owed="second", hits=(Hit(2, found=False),), paused=1010.0, stood=1010.0),
    "show": _dakota(
        hid="A",
        held={"A": 12, "B": 4},
        phase="show",
        limit=None,
        hits=(Hit(2, found=False), Hit(4, found=True)),
        calls=("paguga", "wheya"),
        opening=Opening(7, SEAL, 4, NONCE.hex(), *BOUND),
        situation="wheya",
        long={"A": 16, "B": 4},
        middle=0,
    ),
    "point": _dakota(situation="sahdogan", calls=("sahdogan",), long={"A": 12, "B": 8}, middle=0, protest="A"),
    "asked": _dakota(
        question=QuestionView("passes_unsure", ("foul", "play_on", "hide_again"), (1, 2, 3, 4)), limit=None
    ),
    "unasked": _dakota(
        question=QuestionView("no_reading", ("play_on", "hide_again"), (), unasked="hide_again", until=1027.0),
        stood=1007.0,
    ),
    "noticed": _dakota(phase="show", notice=ShownNotice("nobody_hid"), commit=None, limit=None),
    "held": msgspec.structs.replace(_dakota(protest="B", sensors=False), held=True),
    "wide": _dakota(teams={"A": "W" * 60, "B": "日本" * 30}, calls=("paguga", "eyeya_obojun", "game")),
    "foul": _dakota(phase="hide", foul="pad_skipped", calls=("foul",), commit=None, link=False, limit=None),
    "over": _dakota(
        phase="over", winner="B", owed=None, short={"A": 3, "B": 5}, calls=("obojun", "game"), limit=None, course=COURSE
    ),
    "found": _dakota(
        hid="B",
        held={"A": 4, "B": 9},
        phase="show",
        limit=None,
        hits=(Hit(3, found=True),),
        opening=Opening(7, SEAL, 3, NONCE.hex(), *BOUND),
    ),
    "halted": _dakota(
        phase="halted",
        note=f"it cannot be written: the disk is full: {DISK_FULL_HINT}",
        limit=None,
    ),
    "faults": _dakota(faults=(SensorFault("disc", 2, "dead"), SensorFault("strip", 3, "dead", 1))),
}
"""Hampa Apena, phase by phase."""
for _game, _options in ALL.items():
    PHASES[_game] = play(
        _game,
        *PLAYED.get(_game, (4, 19)),
        _options,
        seq=60,
        commit="ab" * 32 if _game in {"ojibwe", "slahal"} else None,
    )
    PHASES[f"{_game} over"] = play(_game, 3, 3000, _options, seq=61)
PHASES["slahal"] = msgspec.structs.replace(PHASES["slahal"], ends=NOW + 754, limit=60.0, since=1000.0)
PHASES["ojibwe"] = msgspec.structs.replace(PHASES["ojibwe"], calls=("found", "high_ball"))
PHASES["pair"] = play("patol", 2, 9, {}, seq=62)
"""Pa-tol as most people play it: two players, each with a river and a direction."""
