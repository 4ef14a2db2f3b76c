"""`moccasin-mat mat calibrate` as people start it, with the simulated mat; and what it must never do."""

import contextlib
import io

import msgspec
import pytest
from board_faults import break_simulations
from cases import cases
from travel import travelling
from visit import visitor

from pi_controller import cli
from pi_controller.calibration import profile as profiles
from pi_controller.journal.hidden_bead import may_hide_bead
from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import ActionPlayed, GameOpened
from pi_controller.rules.registry import game
from pi_controller.simulation.simulation import Simulation
from pi_controller.tools import calibrate, walk_page


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(f'[table]\njournal = "{tmp_path}/j.sqlite"\n[web]\nport = 0\n', "utf-8")
    return path


def run(*args):
    return cli.main(["mat", "calibrate", *map(str, args)])


def kept(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def hall(tmp_path_factory):
    """Calibrate once; return the profile's content and what was printed."""
    folder = tmp_path_factory.mktemp("calibrated")
    settings, told = folder / "table.toml", io.StringIO()
    settings.write_text(f'[table]\njournal = "{folder}/j.sqlite"\n[web]\nport = 0\n', "utf-8")
    with contextlib.redirect_stdout(told):
        assert run("--settings", settings, "--profile", "hall", "--sim") == 0
    assert kept(folder) == ["hall.profile.json", "table.toml"]
    return (folder / "hall.profile.json").read_bytes(), told.getvalue()


@pytest.fixture
def calibrated(hall, tmp_path):
    """Return the file of a profile of the whole mat beside the settings."""
    path = tmp_path / "hall.profile.json"
    path.write_bytes(hall[0])
    return path


@pytest.mark.slow
def test_complete_walk_saves_profile_and_backup(settings, hall, calibrated, tmp_path):
    told = hall[1]
    assert profiles.load_profile(tmp_path, "hall").board_id
    assert told.count(" pass") == 4
    assert '[board] profile = "hall"' in told
    first = calibrated.read_bytes()
    assert run("--settings", settings, "--profile", "hall", "--sim") == 0
    assert (tmp_path / "hall.bak").read_bytes() == first
    assert settings.read_text("utf-8").count("profile") == 0, "the settings are the host's own"


@pytest.mark.slow
def test_simulated_walk_leaves_table_profile_name_unused(settings, tmp_path):
    settings.write_text(settings.read_text("utf-8") + '[board]\nprofile = "hall"\n', "utf-8")
    assert run("--settings", settings, "--sim") == 0
    assert kept(tmp_path) == ["simulated.profile.json", "table.toml"]


@pytest.mark.slow
def test_fault_is_reported_without_saving_profile(settings, tmp_path, capsys, monkeypatch):
    break_simulations(monkeypatch, calibrate, "dead-touch=5")
    assert run("--settings", settings, "--sim") == 1
    assert "touch strip 5 (pad 2, middle): dead: no reading" in capsys.readouterr().out
    assert kept(tmp_path) == ["table.toml"]


def test_ctrl_c_saves_no_profile(settings, tmp_path, monkeypatch):
    ticks = []
    tick = calibrate.SimulatedMat.tick

    def interrupted(self):
        ticks.append(1)
        if len(ticks) > 300:
            raise KeyboardInterrupt
        return tick(self)

    monkeypatch.setattr(calibrate.SimulatedMat, "tick", interrupted)
    assert run("--settings", settings, "--sim") == 130
    assert kept(tmp_path) == ["table.toml"]


@pytest.mark.slow
def test_web_option_serves_calibration_page(settings, capsys, monkeypatch):
    pages = []

    class Page(walk_page.WalkPage):
        def start(self):
            pages.append(self)

    monkeypatch.setattr(calibrate, "FINAL_VIEW_S", 0.0)
    monkeypatch.setattr(calibrate, "WalkPage", Page)
    assert run("--settings", settings, "--web", "--sim") == 0
    assert "calibration page: http://127.0.0.1:" in capsys.readouterr().out
    with travelling() as loop, visitor(pages[0]._server.app, loop) as web:
        assert "The mat is calibrated" in web.get("/").text


@pytest.mark.parametrize("args", [["--profile", "a/b"], ["--nothing"]])
def test_invalid_options_are_refused(settings, args, capsys):
    assert run("--settings", settings, *args) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_a_table_without_a_board_cannot_be_calibrated(settings, capsys):
    settings.write_text('[board]\nport = "none"\n', "utf-8")
    assert run("--settings", settings) == 2
    assert "without a board" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["dakota", "ojibwe", "slahal"][:: cases(2, 1)])
def test_bead_may_be_hidden_from_toss_to_end(tmp_path, name):
    path = tmp_path / "j.sqlite"
    assert not may_hide_bead(path)
    seen = set()
    with Simulation(2, path, game(name)) as played:
        while played.t < 25.0:
            played.tick(0.5)
            phase = played.view.phase
            seen.add(phase)
            assert may_hide_bead(path) == (phase != "toss"), phase
    assert {"hide", "guess" if name == "slahal" else "hit"} <= seen


def test_game_without_hiding_allows_calibration(tmp_path):
    path = tmp_path / "j.sqlite"
    with Simulation(2, path, game("bageswin")) as played:
        played.play(limit_s=20.0)
        assert played.view.phase == "throw"
        assert not may_hide_bead(path)


def hiding(path):
    """Return the journal of a game whose toss is done: the hider may be at it."""
    journal = Journal(path)
    journal.append([GameOpened(0.0, "dakota", game("dakota").version, "", {}, {"A": "Big Coulee", "B": "Long Hollow"})])
    journal.append([ActionPlayed(1.0, {"do": "toss", "winner": "A"}, (), "judge")])
    return journal


def test_unreadable_journal_counts_as_game(tmp_path):
    path = tmp_path / "j.sqlite"
    path.write_bytes(b"this is no journal" * 100)
    assert may_hide_bead(path)


def test_calibration_is_refused_during_game(settings, tmp_path, capsys):
    with hiding(tmp_path / "j.sqlite"):
        assert run("--settings", settings) == 2
    assert "a game is in progress" in capsys.readouterr().err


def two_mats(settings, tmp_path):
    settings.write_text(
        f'[table]\njournal = "{tmp_path}/j.sqlite"\n[mat]\nseats = "each"\n'
        f'[board]\nport = "{tmp_path}/a"\nprofile = "mine"\n[board_b]\nport = "none"\n',
        "utf-8",
    )


@pytest.mark.slow
def test_mat_b_gets_its_own_profile(settings, tmp_path, capsys):
    two_mats(settings, tmp_path)
    assert run("--settings", settings, "--mat", "b", "--profile", "theirs", "--sim") == 0
    assert '[board_b] profile = "theirs"' in capsys.readouterr().out
    assert "theirs.profile.json" in kept(tmp_path)
    assert run("--settings", settings, "--mat", "a", "--profile", "mine", "--sim") == 0
    assert "profile = " not in capsys.readouterr().out, "the settings name it already"


def test_missing_mat_b_is_named_by_section(settings, tmp_path, capsys):
    two_mats(settings, tmp_path)
    assert run("--settings", settings, "--mat", "b") == 2
    assert "[board_b]" in capsys.readouterr().err


def test_mat_b_is_refused_with_one_mat(settings, capsys):
    assert run("--settings", settings, "--mat", "b", "--sim") == 2
    assert 'seats = "each"' in capsys.readouterr().err


@pytest.mark.usefixtures("calibrated")
@pytest.mark.slow
def test_bead_step_alone_keeps_taps_and_hands(settings, tmp_path, capsys):
    before = profiles.load_profile(tmp_path, "hall")
    assert run("--settings", settings, "--profile", "hall", "--only", "bead", "--sim") == 0
    after = profiles.load_profile(tmp_path, "hall")
    assert (after.strikes, after.touch) == (before.strikes, before.touch)
    assert capsys.readouterr().out.count("left out") == 2


@pytest.mark.parametrize("fault", ["dead-chip", "rail-piezo=2"])
@pytest.mark.slow
def test_bead_step_alone_ignores_strip_and_disc_faults(settings, tmp_path, monkeypatch, fault):
    break_simulations(monkeypatch, calibrate, fault)
    assert run("--settings", settings, "--only", "bead", "--sim") == 0
    found = profiles.load_profile(tmp_path, "simulated")
    assert (found.strikes, found.touch) == (None, None)
    assert found.magnets is not None


@pytest.mark.usefixtures("calibrated")
@pytest.mark.slow
def test_bead_step_alone_drops_results_of_other_board(settings, tmp_path):
    profile = profiles.load_profile(tmp_path, "hall")
    profiles.save_profile(tmp_path, msgspec.structs.replace(profile, board_id="another"))
    assert run("--settings", settings, "--profile", "hall", "--only", "bead", "--sim") == 0
    assert profiles.load_profile(tmp_path, "hall").strikes is None


def test_bead_step_without_magnetometers_is_refused(settings, capsys):
    settings.write_text(settings.read_text("utf-8") + '[referee]\nbeads = "judge"\n', "utf-8")
    assert run("--settings", settings, "--only", "bead", "--sim") == 2
    assert "without magnetometers" in capsys.readouterr().err
