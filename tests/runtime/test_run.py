"""`moccasin-mat run` without its clock: what it opens, and when its loop reads the board."""

from contextlib import ExitStack, closing
from itertools import pairwise
from types import SimpleNamespace

import pytest

from pi_controller.cli import main
from pi_controller.config import Settings, read_settings
from pi_controller.host.notify import Notifier
from pi_controller.runtime.assembly import assemble, open_table
from pi_controller.runtime.console import execute_line
from pi_controller.runtime.run import READ_INTERVAL_S, Stop, run_loop


def test_second_table_on_same_journal_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Stop, "at_signals", lambda _: None)  # pytest keeps its own
    settings = tmp_path / "table.toml"
    settings.write_text(f'[table]\njournal = "{tmp_path}/j.sqlite"\n[board]\nport = "none"\n[web]\nport = 0\n', "utf-8")
    with closing(open_table(read_settings(settings), 0.0).journal):
        assert main(["run", "--settings", str(settings)]) == 2
    assert capsys.readouterr().err == (
        "moccasin-mat: journal j.sqlite: another table is writing it\n  stop the other one, or choose another file\n"
    )


@pytest.mark.parametrize("port", ["none", "/dev/no-such-board"])
def test_slahal_table_runs_without_board_link(tmp_path, port):
    settings = Settings.model_validate(
        {
            "table": {"journal": tmp_path / "j.sqlite"},
            "game": {"name": "slahal"},
            "teams": {"a": "Upper", "b": "Lower"},
            "board": {"port": port},
            "web": {"enabled": False},
        }
    )
    with ExitStack() as stack:
        daemon = assemble(settings, tmp_path, lambda: 0.0, stack).daemon
        for n in range(3):
            daemon.step(n / 10)
        view = daemon.table.view
    assert (view.game, view.phase, view.link, view.scoreboard.turn) == ("slahal", "toss", False, None)
    assert view.teams == {"A": "Upper", "B": "Lower"}
    assert view.sheet["phase"] == "duo"


def test_players_in_game_options_replace_team_names(tmp_path):
    settings = Settings.model_validate(
        {
            "table": {"journal": tmp_path / "j.sqlite"},
            "game": {"name": "patol", "options": {"players": "Kate,Zoë"}},
            "teams": {"a": "Upper", "b": "Lower"},
        }
    )
    table = open_table(settings, 0.0)
    assert table.view.teams == {"A": "A", "B": "B"}
    assert [horse["player"] for horse in table.view.sheet["horses"]] == ["Kate", "Zoë"]
    assert execute_line(table, "start Kate north clockwise", 1.0) == "entered"
    table.journal.close()
    again = open_table(settings, 2.0)
    assert again.view.sheet["horses"][0]["river"] == "north"
    again.journal.close()


class Loop:
    """A daemon, its clock and its stop flag: `times` has the times of the steps that read the board."""

    def __init__(self, strike_from):
        self.t, self.times, self.steps = 0.0, [], 0
        self.strike_from = strike_from
        self.source = SimpleNamespace(port=self)

    @property
    def idle(self):
        return self.t < self.strike_from

    @property
    def requested(self):
        return self.t >= 2.0

    def clock(self):
        return self.t

    def wait(self, seconds):
        self.t += seconds

    def step(self, t, read=True):
        self.steps += 1
        if read:
            self.times.append(t)


def test_board_reads_are_slow_until_strikes_are_possible():
    loop = Loop(strike_from=1.0)
    run_loop(loop, loop.clock, loop, Notifier())
    before = [t for t in loop.times if t < 1.0]
    after = [t for t in loop.times if t >= 1.0]
    assert all(b - a >= READ_INTERVAL_S for a, b in pairwise(before))
    assert after[0] < 1.0 + READ_INTERVAL_S / 2
    assert all(b - a < READ_INTERVAL_S / 2 for a, b in pairwise(after))
    assert loop.steps > len(loop.times)
