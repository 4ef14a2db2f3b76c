"""All that leaves a running table, to the byte and the moment, is the same for all places until a hit shows the bead.

`cli.tables.run` itself plays on virtual time; `secrecy_channels.py` lists what is watched.
"""

import pytest
import secrecy_tables
from cases import ALL_CASES
from secrecy_channels import CHANNELS, REPORTED, difference
from secrecy_people import strikes

from pi_controller.referee.judge import JudgeAction, JudgeClock, JudgeProtest, JudgeSet, JudgeUndo
from pi_controller.table.table import Table
from pi_controller.tournament import decisions as d

CUT_T = secrecy_tables.READY_T + 0.8
"""The program is killed while the bead is sealed."""
TEAMS = ("Big Coulee", "Long Hollow")
PLACES = (1, 2, 3, 4)
TWO_PLACES = PLACES if ALL_CASES else (2, 3)
"""Where the bead lies in variants of a hide: by day at the two places with which `test_leaks.py` finds each leak."""


def gives_match(t, tournament="cup"):
    """The director gives the table a match at `t`."""
    plan = d.Planned(tournament, options={"points": 2}, calling="director")
    entered = d.Entered(tuple(d.Entry(team) for team in TEAMS))
    called = d.Assigned("W1-1", "t01", "0123456789abcdef")
    yield t, lambda table: table.venue.decide(plan, entered, d.TeamsDrawn(order=TEAMS), called)


def hub_away(t):
    """The hub is killed at `t` and comes back."""
    yield t, lambda table: table.venue.kill_hub()
    yield t + 0.3, lambda table: table.venue.start_hub()


SAID = {
    "nothing": [],
    "words": [
        (CUT_T, lambda table: table.judge(JudgeClock(0.0, running=False), "judge")),
        (CUT_T, lambda table: table.judge(JudgeProtest(0.0, by="B", text="a hand came twice"), "judge")),
        (CUT_T, lambda table: table.judge(JudgeAction(0.0, {"do": "toss", "winner": "A"}), "scorekeeper")),
        (CUT_T, lambda table: table.judge(JudgeSet(0.0, {}, reason="to see what is told"), "judge")),
        (CUT_T, lambda table: table.lines.put("found 7")),
    ],
    "undo": [(CUT_T, lambda table: table.judge(JudgeUndo(0.0), "scorekeeper"))],
    "two pads": list(strikes(CUT_T, 2, also=3)),
    "a match that the table refuses": list(gives_match(CUT_T)),
    "a match that is played": list(gives_match(0.6)),
    "the hub killed": list(hub_away(CUT_T)),
    "the line cut": [(CUT_T, lambda table: table.venue.cut()), (CUT_T + 0.3, lambda table: table.venue.mend())],
    "unplugged": [(CUT_T, lambda table: table.mat.unplug()), (CUT_T + 0.3, lambda table: table.mat.plug())],
}
BY_NIGHT = {"undo", "a match that the table refuses", "the hub killed"}
"""By day one test has the refused match and the killed hub together, with every field looked at."""


def alike(told, end):
    """Fail with what first tells two of the tables apart."""
    first, *others = [one.until(end) for one in told]
    for other in others:
        assert difference(first, other) == ""


@pytest.mark.slow
def test_short_game_output_is_same_until_revealing_hit(tmp_path):
    told = [secrecy_tables.game(tmp_path, pad) for pad in (PLACES if ALL_CASES else (1, 2, 3))]
    alike(told, secrecy_tables.LAST_HIT_T)
    alike(told[1:], secrecy_tables.LAST_HIT_T + 1.5)  # pad 1 was hit and missed
    for one in told[1:]:
        assert b'"game"' in one.of("row")[-2]
    assert difference(told[1].until(secrecy_tables.GAME_END_T), told[2].until(secrecy_tables.GAME_END_T))
    seen = {channel for _, channel, _ in told[1].until(secrecy_tables.LAST_HIT_T + 1.5)}
    assert seen == set(CHANNELS) - {"crash"}


@pytest.mark.parametrize(
    "said",
    [pytest.param(said, id=name, marks=pytest.mark.slow if name in BY_NIGHT else ()) for name, said in SAID.items()],
)
@pytest.mark.slow
def test_hide_output_is_same_despite_judge_lines(said, tmp_path):
    told = [secrecy_tables.hide(tmp_path, pad, also=said) for pad in (TWO_PLACES if said else PLACES)]
    assert any(b'"kind":"commit"' in row for row in told[0].of("row"))
    alike(told, secrecy_tables.HIT_T)


@pytest.mark.slow
def test_report_of_sealed_bead_is_same(tmp_path):
    """A match is refused, and the hub comes back, while the bead is sealed."""
    also = [*gives_match(CUT_T), *hub_away(CUT_T + 0.2)]
    told = [secrecy_tables.hide(tmp_path, pad, also=also) for pad in TWO_PLACES]
    for channel, fields in REPORTED.items():
        sent = [entry for entry in told[0].until(secrecy_tables.HIT_T) if entry[1] == channel]
        assert all(any(f'"{field}":'.encode() in data for _, _, data in sent) for field in fields - {"state"}), channel
        while_sealed = [data for t, _, data in sent if t >= CUT_T]
        assert any(b'"taken":false' in data for data in while_sealed) == (channel == "report")
    alike(told, secrecy_tables.HIT_T)


@pytest.mark.slow
def test_output_is_same_after_kill_with_sealed_bead(tmp_path):
    told = [secrecy_tables.hide(tmp_path, pad, kills=(CUT_T,), end=secrecy_tables.HIT_T + 2.0) for pad in TWO_PLACES]
    assert any(b'"kind":"void"' in row for row in told[0].of("row"))
    alike(told, secrecy_tables.HIT_T + 2.0)


@pytest.mark.slow
def test_a_program_that_fails_leaves_the_same_behind(tmp_path, monkeypatch):
    def fails(self, t):
        if self.story.hide.seal.commit is not None:
            raise RuntimeError("something else went wrong")
        return real(self, t)

    real = Table.tick
    monkeypatch.setattr(Table, "tick", fails)
    told = [secrecy_tables.hide(tmp_path, pad) for pad in TWO_PLACES]
    assert len(told[0].of("crash")) == 1
    alike(told, secrecy_tables.HIT_T)


def test_the_marked_ball_is_under_any_pad(tmp_path):
    told = [secrecy_tables.balls(tmp_path, pad) for pad in TWO_PLACES]
    assert any(b'"kind":"commit"' in row for row in told[0].of("row"))
    alike(told, secrecy_tables.HIT_T + 1.0)


@pytest.mark.slow
def test_the_bones_are_in_any_hands(tmp_path):
    told = [secrecy_tables.bones(tmp_path, pads) for pads in ((1, 3), (1, 4), (2, 3), (2, 4))[:: 1 if ALL_CASES else 3]]
    assert any(b'"kind":"commit"' in row for row in told[0].of("row"))
    alike(told, secrecy_tables.HIT_T)
