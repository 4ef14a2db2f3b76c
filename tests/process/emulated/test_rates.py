"""What the firmware manages at the pace of a real chip, at any uptime: its rates, its loop's passes and its memory."""

import pytest
from cases import ALL_CASES
from emulated_board import edited, firmware
from emulated_host import Host

from pi_controller.board.messages import Piezo, Touch

pytestmark = pytest.mark.emulated

TURN_S = (1 << 30) / 1e6
"""The board's clock turns over so often: 17.9 minutes."""
AGES = {"at once": 0, "at 18 minutes": 1, "at 60 days": round(60 * 86400 / TURN_S)}
SETTLED_S = 1.6
"""The self test at the start of each link is over by then."""
SECONDS = 2.5

MEASURE = """            work.step()
            if machine.mem32[0x40058018]:
                before = gc.mem_alloc()
                for _ in range(50):
                    work.step()
                machine.mem32[0x40058010] = gc.mem_alloc() - before
                gc.collect()
                machine.mem32[0x40058014] = gc.mem_free()
                machine.mem32[0x40058018] = 0"""
"""Goes into main.py: when scratch 3 is set, it puts the bytes that 50 passes take into scratch 1, those free into 2.

Its question in each pass is part of the passes that are measured.
"""


def aged(turns):
    main = firmware()["main.py"].decode().replace("            work.step()", MEASURE)
    aged = edited("board.py", "self._turns = 0", f"self._turns = {turns}")
    return aged | {"main.py": f"import gc, machine\n{main}".encode()}


@pytest.mark.parametrize("age", AGES if ALL_CASES else ["at 60 days"])
@pytest.mark.slow
def test_board_meets_its_rates_without_leaking_memory(board, age):
    board.power_on(aged(AGES[age]))
    host = Host(board)
    host.connect()
    host.go(SETTLED_S)
    rates = host.rates(SECONDS)
    print(age, rates)
    assert rates["touch"] >= 49.5
    assert rates["field"] >= 19.8
    assert rates["piezo"] == pytest.approx(125, abs=0.5)
    assert rates["mean_ms"] < 5
    assert rates["longest_ms"] < 30
    assert ("slow", 0) not in host.events()
    stats = host.session.stats
    assert (stats.bad, stats.lost, stats.refused, stats.missing_samples) == (0, 0, 0, 0)
    health = host.health()
    assert (health.overflows, health.i2c_errors, health.bad_frames) == (0, 0, 0)
    assert health.uptime_s == pytest.approx(host.t + AGES[age] * TURN_S, abs=1.1)
    newest = [next(one for one in reversed(host.messages) if isinstance(one, kind)) for kind in (Piezo, Touch)]
    assert all(host.t - 0.1 < one.t <= host.t for one in newest)
    board.change("scratch", [3, 1])
    host.go(0.3)
    _, taken, free, still = board.state()["scratch"][:4]
    print(taken, "bytes in 50 passes,", free, "free")
    assert not still
    assert taken < 1000
    assert free > 60_000


@pytest.mark.slow
def test_rates_hold_without_cache_misses(board):
    board.power_on(firmware(), miss_cycles=0)
    host = Host(board)
    host.connect()
    host.go(0.2)
    rates = host.rates(0.6)
    assert rates["touch"] >= 48
    assert rates["piezo"] == pytest.approx(125, abs=2)
