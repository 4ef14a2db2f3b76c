"""The supplies: no scene comes near the cap, the last pixel has its volts, wires and fuse fit each other."""

from __future__ import annotations

import random
from typing import Any

import harness
import msgspec
import numpy as np
import played
import power
import pytest
from played import GAMES
from values import HARDWARE, values

from pi_controller.board.strips import current_ma, prepare_frame
from pi_controller.display.lights import frame
from pi_controller.pinmap import pinmap
from pi_controller.table.view import QuestionView

P = power.values()
LIGHTS = pinmap().lights


def stick_views(view: Any) -> list[Any]:
    """Hampa Apena in every phase with every number of sticks that pulls most."""
    found = []
    for phase in ("toss", "hide", "check", "hit", "show", "over", "halted"):
        for a, b, middle in ((20, 0, 0), (0, 20, 0), (0, 0, 20), (10, 10, 0), (7, 7, 6)):
            for hider, owed, question in (("A", "second", None), ("B", None, QuestionView("found", ("yes", "no"), ()))):
                found.append(
                    view(
                        phase=phase,
                        long={"A": a, "B": b},
                        middle=middle,
                        short={"A": 5, "B": 4},
                        hider=hider,
                        owed=owed,
                        question=question,
                        winner=hider if phase == "over" else None,
                    )
                )
    return found


def sheet_views(name: str) -> list[Any]:
    """Positions of games really played, and each of them halted and asked."""
    chance = random.Random(name)
    seen = [
        played.play(name, chance.getrandbits(32), chance.randrange(120), settings)
        for settings in played.SETTINGS[name]
        for _ in range(4)
    ]
    halted = [msgspec.structs.replace(one, phase="halted") for one in seen[:2]]
    asked = [msgspec.structs.replace(one, question=QuestionView("found", ("yes", "no"), ())) for one in seen[:2]]
    return [*seen, *halted, *asked]


@pytest.mark.parametrize("name", ["dakota", *GAMES])
def test_no_scene_exceeds_cap_or_starves_last_pixel(view, name):
    views = stick_views(view) if name == "dakota" else sheet_views(name)
    frames = [frame(one, t) for one in views for t in (0.0, 1.0, 2.9)]
    worst = max(frames, key=current_ma)  # at full brightness; the default is half
    lowest = min(power.lowest_volt(P, one) for one in frames)
    print(f"\n{name}: {len(frames)} frames, at most {current_ma(worst):.0f} mA, lowest pixel {lowest:.2f} V")
    assert current_ma(worst) <= power.cap_ma()
    assert list(worst) == prepare_frame(worst, LIGHTS.count, 1.0, power.cap_ma()), "the cap leaves scenes as they are"
    assert lowest >= P.strip.lowest_volt


def test_no_frame_under_the_cap_starves_a_pixel():
    assert power.worst_under_cap(P) >= P.strip.lowest_volt


def test_feed_at_start_alone_starves_last_pixel():
    assert P.strip.fed == "both"
    assert power.worst_under_cap(P, "start") < P.strip.lowest_volt


def test_the_ladder_is_ohms_law():
    last = [0.0] * (LIGHTS.count - 1) + [1000.0]
    way = P.supply.fuse_ohm + 4 * P.supply.plug_ohm + P.ohm("feed") + sum(power.steps_ohm(P))
    assert power.volts(P, last, "start")[-1] == pytest.approx(P.supply.low_volt - way)
    assert power.volts(P, [0.0] * LIGHTS.count) == pytest.approx(np.full(LIGHTS.count, P.supply.low_volt))


def test_both_feeds_are_never_worse_than_one():
    white = power.drawn_ma([power.WHITE] * LIGHTS.count)
    assert (power.volts(P, white, "both") >= power.volts(P, white, "start")).all()


def test_resistance_steps_follow_light_board_links():
    steps = power.steps_ohm(P)
    assert len(steps) == LIGHTS.count - 1
    links = {LIGHTS.a - 1, LIGHTS.a + LIGHTS.b - 1, LIGHTS.a + LIGHTS.b + LIGHTS.middle - 1}
    assert {i for i, ohm in enumerate(steps) if ohm > min(steps)} == links


def test_cap_fuse_supply_and_wires_fit_each_other():
    cap = power.cap_ma() / 1000
    assert 1.25 * cap <= P.supply.fuse_amp < P.supply.amp, (
        "the fuse bears the cap, and blows before the supply is spent"
    )
    for name in P.wires:
        assert P.gauge(name).amp >= P.supply.fuse_amp, f"{name}: the fuse must go before the wire"
    assert current_ma([power.WHITE] * LIGHTS.count) / 1000 > P.supply.amp, "without the cap it would be too much"


def test_the_strip_is_never_fed_by_the_pi():
    for sheet in (harness.table_pi(), harness.light()):
        for start, _, end in sheet.document()["connections"]:
            ends = {*start, *end}
            if ends & {"Strip, start", "Strip, end"}:
                assert ends & {"5 V supply", "74AHCT125"}
                assert not ends & {"Raspberry Pi", "Zero 2 W"}


def test_the_boards_regulator_bears_everything_at_once():
    total = sum(power.board_ma(P).values())
    assert total <= 0.6 * P.board.regulator_ma
    assert total <= P.board.usb_ma


def test_clamped_blows_do_not_lift_the_boards_supply():
    most = values().limits["both"]["clamp_milliamp"][1]
    assert pinmap().pads.count * most < P.board.rp2040_ma


def test_the_page_shows_the_wires():
    page = (HARDWARE / "power.md").read_text("utf-8")
    assert power.wire_table(P) in page, "put the output of power.py into power.md"
    assert f"{power.worst_under_cap(P, 'both'):.2f} V" in page
