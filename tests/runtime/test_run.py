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
from pi_controller.runtime.daemon import FRAME_S
from pi_controller.runtime.run import DRAW_S, IDLE_S, REST_S, Stop, TableDesk, run_loop


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
    """A daemon, its clock and its stop flag: lights move from 0.5 s on, and a strike may come from 1 s on."""

    def __init__(self):
        self.t, self.times = 0.0, []
        self.source = SimpleNamespace(port=self)

    @property
    def idle(self):
        return self.t < 1.0

    @property
    def lights_move(self):
        return self.t >= 0.5

    @property
    def requested(self):
        return self.t >= 2.0

    def clock(self):
        return self.t

    def wait(self, seconds):
        self.t += seconds

    def step(self, t):
        self.times.append(t)


def test_steps_are_slow_until_lights_move_or_strikes_come():
    loop = Loop()
    run_loop(loop, loop.clock, loop, Notifier())
    waits = {round(b - a, 6) for a, b in pairwise(loop.times) if a < 0.5}
    moving = {round(b - a, 6) for a, b in pairwise(loop.times) if 0.5 <= a < 1.0}
    armed = {round(b - a, 6) for a, b in pairwise(loop.times) if a >= 1.0}
    assert (waits, moving, armed) == ({REST_S}, {FRAME_S}, {IDLE_S})


def test_terminal_draws_last_view_at_most_each_draw_s(monkeypatch):
    drawn, daemon, clock = [], SimpleNamespace(source=None, table=SimpleNamespace(halted="x", view=None)), [0.0]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("pi_controller.runtime.run.render_text", lambda view, _: drawn.append(view.number))
    desk = TableDesk(daemon, lambda: clock[0], Notifier())
    for number in range(21):  # a view each 50 ms, and then none
        clock[0], daemon.table.view = 0.05 * number, SimpleNamespace(phase="hide", number=number)
        desk.serve()
    clock[0] += DRAW_S
    desk.serve()
    assert drawn == [0, 5, 10, 15, 20]
