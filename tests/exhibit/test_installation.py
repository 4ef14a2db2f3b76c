"""The installation on the daemon of a table: its buttons, its simulated visitors, and how it is closed."""

import random
import shutil
from contextlib import ExitStack

import pytest

from pi_controller.board.buttons import MockButtons
from pi_controller.board.interfaces import StripError
from pi_controller.board.strips import MemoryStrip
from pi_controller.config import read_settings
from pi_controller.exhibit.orders import ScreenTouch
from pi_controller.exhibit.session_games import has_open_seal
from pi_controller.journal.verify import verify_journal
from pi_controller.runtime import assembly
from pi_controller.runtime.assembly import assemble_exhibit
from pi_controller.simulation.visitors import ABSENCE_S, Visitors

NOW = 1_700_000_000.0


@pytest.fixture
def assembled(tmp_path):
    """Return a function that builds an exhibit of some settings from `NOW` on; all is closed at the end."""
    with ExitStack() as stack:

        def assemble(toml="", *observers, **options):
            (tmp_path / "table.toml").write_text(f"[web]\nport = 0\n[exhibit]\n{toml}")
            settings = read_settings(tmp_path / "table.toml")
            return assemble_exhibit(settings, tmp_path, lambda: NOW, stack, observers, **options)

        assemble.close = stack.close
        yield assemble


def stages(daemon, begin, seconds, step_s=0.1):
    """Step `daemon` for some seconds; return the stages seen."""
    found = []
    for n in range(round(seconds / step_s)):
        daemon.step(NOW + begin + n * step_s)
        found.append(daemon.table.exhibit.stage.name)
    return found


@pytest.mark.parametrize(("mat", "after"), [("eye", ["choose", "play"]), ("screen", ["attract", "attract"])])
def test_buttons_start_game_unless_mat_is_screen(assembled, monkeypatch, mat, after):
    buttons = MockButtons()
    monkeypatch.setattr(assembly, "make_buttons", lambda settings, clock: buttons)
    daemon = assembled(f'mat = "{mat}"\n')
    found = []
    for n, name in enumerate(("ready", "toss_b")):
        buttons.press(name, NOW + n + 0.5)
        found.append(stages(daemon, n, 1.0)[-1])
    assert found == after
    if mat == "eye":
        assert daemon.table.exhibit.kind == "teams"


def test_simulated_visitors_go_when_somebody_touches_the_page(assembled):
    visitors = Visitors(random.Random(4))
    daemon = assembled("", visitors, sim=True)
    began = next(n for n, stage in enumerate(stages(daemon, 0.0, 120.0)) if stage == "play")
    assert began
    assert visitors._visitor is not None
    exhibit = daemon.table.exhibit
    daemon.table.orders.put(ScreenTouch("low", exhibit.turn))
    daemon.step(NOW + 120.0)
    assert visitors._visitor is None
    assert exhibit.stage.name == "choose", "the game is the real visitor's"
    assert sum(visitors.came.values()) == 1
    stages(daemon, 120.1, ABSENCE_S - 1.0)
    assert sum(visitors.came.values()) == 1, "nobody disturbs"


def test_ignored_touch_does_not_count_as_use(assembled):
    daemon = assembled()
    daemon.table.orders.put(ScreenTouch("ready", daemon.table.exhibit.turn))
    daemon.step(NOW)
    assert not daemon.table.touched
    daemon.table.orders.put(ScreenTouch("start", daemon.table.exhibit.turn))
    daemon.table.orders.put(ScreenTouch("ready", daemon.table.exhibit.turn))
    daemon.step(NOW + 0.1)
    assert daemon.table.touched
    daemon.step(NOW + 0.2)
    assert not daemon.table.touched


def test_closing_ends_game_and_completes_its_journal(assembled, tmp_path):
    daemon = assembled("record = true\nusage = true\n")
    daemon.table.serve()
    exhibit = daemon.table.exhibit
    exhibit.touch(NOW, "start")
    exhibit.touch(NOW, "game:mat")
    assert stages(daemon, 0.0, 20.0)[-1] == "play"
    assembled.close()
    (journal,) = tmp_path.glob("exhibit-*.sqlite")
    assert verify_journal(journal).whole
    assert daemon.table.usage.csv().splitlines()[1].split(",")[6] == "1", "left"
    assert daemon.table.page._server.thread is None, "nothing is served any more"


def test_killed_exhibit_withdraws_its_seal_at_next_start(assembled, tmp_path):
    daemon = assembled("record = true\n")
    exhibit = daemon.table.exhibit
    exhibit.touch(NOW, "start")
    exhibit.touch(NOW, "game:mat")
    journal, t = exhibit.game.table.journal.path, NOW
    while not has_open_seal(journal):
        assert t < NOW + 120.0
        t += 0.25
        exhibit.tick(t)
        touches = [one for one in exhibit.touches if one not in ("leave", "how")]
        if touches:
            exhibit.touch(t, touches[0], exhibit.turn)
    killed = shutil.copytree(tmp_path, tmp_path / "after a kill")
    exhibit.end_session(t)
    assert not has_open_seal(journal), "visitors who go leave none either"
    with ExitStack() as stack:
        settings = read_settings(killed / "table.toml")
        daemon = assemble_exhibit(settings, killed, lambda: NOW + 200.0, stack)
        assert not has_open_seal(killed / journal.name)
        (fact,) = (one for one in daemon.table.staff.page.shown.machine if one.name == "Games cut off")
        assert fact.value.startswith("1:")
    assert verify_journal(killed / journal.name).whole


def test_broken_lights_are_a_fault(assembled, monkeypatch):
    class Broken(MemoryStrip):
        def show(self, frame):
            raise StripError("the strip is gone", "check its cable")

    monkeypatch.setattr(assembly, "make_strip", lambda settings, source: Broken(69))
    daemon = assembled('mat = "eye"\n')
    assert set(stages(daemon, 0.0, 5.0)) == {"attract"}
    (fault,) = (one for one in daemon.table.staff.page.shown.faults if one.kind == "lights")
    assert "the strip is gone" in fault.message
