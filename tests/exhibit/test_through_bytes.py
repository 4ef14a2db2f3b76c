"""The installation on a mat with sensors: the real firmware, a simulated board, its bytes by a pseudo-terminal."""

from contextlib import ExitStack

import pytest
from cases import ALL_CASES
from pty_mat import PtyMat

from pi_controller.config import read_settings
from pi_controller.journal.verify import verify_journal
from pi_controller.runtime.assembly import assemble_exhibit

STEP_S = 0.02
DAY = 86_400.0 * 20_000


class Visitors:
    """Two sides at an installation on a simulated mat, in step with it; `t` is its time."""

    def __init__(self, folder, stack, seed, hides):
        self.mat = stack.enter_context(PtyMat(seed))
        settings = folder / "table.toml"
        settings.write_text(
            f'[web]\nport = 0\n[board]\nport = "{self.mat.device}"\n[strips]\nkind = "memory"\n'
            f'[exhibit]\nmat = "sensors"\nrecord = true\nhides = {hides}\nanswer_s = 30\n'
        )
        self.daemon = assemble_exhibit(read_settings(settings), folder, lambda: DAY + self.mat.world.t, stack)
        self.installation = self.daemon.table
        self.exhibit = self.installation.exhibit
        self.struck, self.hidden = [], []

    @property
    def t(self):
        return DAY + self.mat.world.t

    @property
    def game(self):
        return self.exhibit.game

    def wait(self, seconds):
        end = self.mat.world.t + seconds
        while self.mat.world.t < end:
            self.mat.advance(STEP_S)
            self.daemon.step(self.t)

    def until(self, wanted, limit_s=60.0):
        end = self.mat.world.t + limit_s
        while not wanted():
            assert self.mat.world.t < end, f"{self.exhibit.stage} {self.game and (self.game.awaits, self.game.view)}"
            self.wait(STEP_S)

    def until_then(self, then):
        self.wait(max(0.0, then - self.mat.world.t))

    def touch(self, name):
        assert self.exhibit.touch(self.t, name, self.exhibit.turn), (name, self.exhibit.touches)

    def hide(self, pad):
        world = self.mat.world
        world.carry("bead")
        for one in (1, 2, 3, 4):
            self.until_then(world.hand_in(one))
            self.wait(0.3)
            if one == pad:
                world.drop("bead", one)
            self.until_then(world.hand_out(one))
            self.wait(0.2)
        self.until_then(world.hand_home())
        self.wait(0.8)
        self.touch("ready")

    def strike(self, pad):
        self.wait(0.6)  # who hits looks first
        self.struck.append((self.game.view.hide, pad))
        self.mat.world.strike(pad)
        self.wait(1.5)

    def play(self, places):
        """Play until the session is over; `places` is where each hide leaves the bead."""
        while self.exhibit.stage.name == "play":
            game, view = self.game, self.game.view
            if game.awaits == "ready":
                self.hidden.append(places[len(self.hidden) % len(places)])
                self.hide(self.hidden[-1])
            elif game.awaits == "strike":
                tried = {hit.pad for hit in view.hits}
                self.strike(next(pad for pad in (2, 3, 1, 4) if pad not in tried))
            elif game.awaits == "question":
                self.touch(next(do for do in game.touches if do.startswith("answer:")))
            elif view.phase in ("show", "over"):
                self.mat.world.take("bead")
                self.wait(1.0)
            else:
                self.wait(0.1)


@pytest.mark.parametrize("seed", [3, 8] if ALL_CASES else [3])
@pytest.mark.slow
def test_session_on_mat_records_the_game_played(tmp_path, seed):
    with ExitStack() as stack:
        at = Visitors(tmp_path, stack, seed, hides=3)
        at.until(lambda: at.exhibit.board is not None and at.exhibit.board.up)
        at.wait(6.0)
        assert at.exhibit.stage.name == "attract", "the empty mat begins nothing"
        assert not at.exhibit.sensor_faults
        at.until_then(at.mat.world.hand_in(2))
        at.until(lambda: at.exhibit.stage.name == "choose")
        at.until_then(at.mat.world.hand_home())
        at.touch("game:teams")
        at.play((2, 4, 3))
        view = at.game.view
        assert at.exhibit.stage.name == "result"
        assert len(at.hidden) == 3 or view.winner, "no more hides than the settings say"
        assert [hide for hide, _ in at.struck] == sorted(hide for hide, _ in at.struck)
        at.until(lambda: at.exhibit.stage.name == "attract", 120.0)
    (journal,) = tmp_path.glob("exhibit-*.sqlite")
    assert verify_journal(journal).whole
    from pi_controller.journal.journal import Journal
    from pi_controller.referee.facts import Reveal, StrikeFelt

    with Journal(journal, read_only=True) as kept:
        facts = [fact for _, fact in kept.read()]
    pads = [fact.pads for fact in facts if isinstance(fact, StrikeFelt)]
    assert pads == [(pad,) for _, pad in at.struck], "each stroke was felt where it fell, and nothing else was"
    places = [fact.pad for fact in facts if isinstance(fact, Reveal)]
    assert places == at.hidden
    assert len(places) >= 2


def test_the_cable_is_pulled_and_comes_back(tmp_path):
    with ExitStack() as stack:
        at = Visitors(tmp_path, stack, 5, hides=2)
        at.until(lambda: at.exhibit.board is not None and at.exhibit.board.up)
        at.mat.unplug()
        at.until(lambda: not at.exhibit.board.up, 5.0)
        assert any("does not respond" in fault for fault in _faults(at))
        at.mat.plug()
        at.until(lambda: at.exhibit.board.up, 10.0)
        at.wait(2.0)
        assert not any("does not respond" in fault for fault in _faults(at))


def _faults(at):
    at.installation.staff.refresh(at.t)
    return [one.message for one in at.installation.staff.page.shown.faults]
