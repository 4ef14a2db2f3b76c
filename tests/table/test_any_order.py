"""Anything may come in any order: no mat event raises, sticks are conserved, the journal tells the same story."""

import msgspec
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.errors import MatError
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.referee import reducer
from pi_controller.referee import story as story_module
from pi_controller.referee.commitment import check
from pi_controller.referee.facts import ActionPlayed, Commit, CommitmentWithdrawn, Reveal, Undone
from pi_controller.referee.history import effective_records, fold
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeUndo
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.registry import game
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, SamplesMissing, Strike
from pi_controller.table.table import Command, Table
from pi_controller.table.view import View

DAKOTA = game("dakota", {"points": 1})
REFEREE = RefereeSettings(fouls={"pad_twice": "ask", "two_beads": "off"}, hit_seconds=20)


pads = st.integers(1, 4)
times = st.floats(0, 200)
one_bead = st.builds(Bead, pads).map(lambda bead: (bead,))
beads = st.one_of(one_bead, st.lists(st.builds(Bead, st.none() | pads), max_size=2).map(tuple))
mat = st.one_of(
    st.builds(HandIn, times, pads),
    st.builds(HandOut, times, pads),
    st.builds(BeadsAtRest, times, beads, st.booleans()),
    st.builds(BeadsAtRest, times, one_bead),
    st.builds(Button, times, st.sampled_from(["toss_a", "toss_b", "ready", "ready", "shown"])),
    st.builds(Strike, times, st.lists(pads, max_size=2, unique=True).map(tuple), st.none(), st.booleans()),
    st.builds(Strike, times, pads.map(lambda pad: (pad,))),
    st.builds(SamplesMissing, times, times),
    st.builds(Link, times, st.booleans(), st.sampled_from(["", "gone"])),
)
actions = st.one_of(
    st.fixed_dictionaries({"do": st.just("hit"), "found": st.booleans()}, optional={"pad": pads}),
    st.just({"do": "toss", "winner": "B"}),
    st.fixed_dictionaries(
        {
            "do": st.just("foul"),
            "by": st.sampled_from(["hider", "hitter"]),
            "kind": st.sampled_from(["no_bead", "time", "outside_help"]),
        },
        optional={"hide": st.sampled_from(["this", "last"])},
    ),
    st.just({"do": "nothing"}),
)
answers = st.sampled_from(["none", "1", "2", "3", "4", "play_on", "foul", "hide_again", "found", "missed"])
judge = st.one_of(
    st.builds(JudgeAction, times, actions),
    st.builds(JudgeAnswer, times, answers),
    st.builds(JudgeUndo, times),
    st.builds(JudgeHideAgain, times),
)
go_on = st.builds(complex, pads, st.integers(0, 6))
disorder = st.one_of(mat, judge, st.just("restart"), times)
steps = st.integers(0, 9).flatmap(lambda n: go_on if n < 7 else disorder)


def a_hand_under_every_pad():
    return [event for pad in (3, 1, 2, 4) for event in (HandIn(1.0, pad), HandOut(1.0, pad))]


def a_hide(pad):
    return [*a_hand_under_every_pad(), BeadsAtRest(1.0, (Bead(pad),)), Button(1.0, "ready")]


def sensible(table, pad, choice):
    """Return what would come next in an orderly game."""
    story = table.story
    if story.question:
        return [JudgeAnswer(1.0, story.question.choices[choice % len(story.question.choices)])]
    return {
        "toss": [Button(1.0, "toss_b")],
        "hide": a_hide(pad),
        "check": [BeadsAtRest(1.0, (Bead(pad),))],
        "hit": [Strike(1.0, (pad,) if choice else (pad, pad % 4 + 1))],
        "show": [Button(1.0, "shown")],
        "over": [],
    }[story.phase]


def do(table, step):
    if isinstance(step, complex):
        for event in sensible(table, int(step.real), int(step.imag)):
            do(table, event)
    elif isinstance(step, float):
        table.tick(step)
    elif isinstance(step, JudgeAction | JudgeAnswer | JudgeUndo | JudgeHideAgain):
        story = table.story
        try:
            table.judge(step)
        except MatError as error:
            assert error.message  # noqa: PT017
            assert table.story == story
    else:
        table.mat_event(step)


def sit(journal):
    nonces = iter(range(10**6))
    referee = DakotaReferee(DAKOTA, REFEREE, lambda n: (next(nonces) + 1000 * journal.batch).to_bytes(n, "big"))
    return Table(journal, DAKOTA, {"A": "Red", "B": "Blue"}, referee)


@settings(max_examples=cases(15, 150), deadline=None)
@given(given_steps=st.lists(steps, min_size=10, max_size=60))
def test_any_order(memory_journal, given_steps):
    journal = memory_journal()
    table = sit(journal)
    for step in [Link(0.0, up=True), Button(0.0, "toss_a"), *given_steps]:
        if step == "restart":
            table = sit(journal)
        else:
            do(table, step)
        view = table.view
        assert sum(view.long.values()) + view.middle == 20
        assert msgspec.json.decode(msgspec.json.encode(view), type=View) == view
        assert table.armed == (view.phase == "hit" and view.question is None)
        assert (view.phase == "over") == (view.winner is not None)
    assert fold(DAKOTA, journal.read()) == table.story
    every_seal_is_opened_or_withdrawn(journal, table.story)


def every_seal_is_opened_or_withdrawn(journal, story):
    """Of what counts, each commitment is followed by its own reveal or a withdrawal, or it is the one that stands."""
    sealed = None
    for _, fact in effective_records(journal.read()):
        match fact:
            case Commit():
                assert sealed is None
                sealed = fact
            case Reveal(hide=hide, pad=pad, nonce=nonce):
                assert check(sealed.hash, "dakota", hide, pad, nonce)
                sealed = None
            case CommitmentWithdrawn():
                sealed = None
            case _:
                pass
    assert (sealed.hash if sealed else None) == story.hide.seal.commit


def test_journal_prefix_folds_to_the_story_then(memory_journal):
    """The fold of every beginning of the journal is the story as it stood then."""
    journal = memory_journal()
    table = sit(journal)
    stood = {}
    happened = [Link(0.0, up=True), Button(0.0, "toss_a"), *a_hide(2), Strike(1.0, (1,)), JudgeUndo(2.0)]
    happened += [Strike(3.0, (1, 3)), JudgeAnswer(4.0, "3"), Strike(5.0, (2,)), JudgeUndo(6.0), JudgeUndo(6.0)]
    happened += [
        JudgeAnswer(6.5, "1"),
        JudgeAction(7.0, {"do": "hit", "found": True}),
        Button(8.0, "shown"),
        *a_hide(3),
    ]
    happened += [JudgeHideAgain(9.0), *a_hide(4), Strike(10.0, (2,)), JudgeUndo(11.0)]
    for step in happened:
        do(table, step)
        stood[journal.seq] = table.story
    assert any(isinstance(fact, Undone) for _, fact in journal.read())
    for seq, story in stood.items():
        assert fold(DAKOTA, list(journal.read())[:seq]) == story
    assert len(stood) > 10


def test_each_fact_is_applied_once(memory_journal, monkeypatch):
    applied, apply = [], reducer.apply
    monkeypatch.setattr(story_module, "apply", lambda *args: applied.append(args[2]) or apply(*args))
    journal = memory_journal()
    table = sit(journal)
    happened = [Link(0.0, up=True), Button(0.0, "toss_a"), *a_hide(2), Strike(1.0, (1, 3)), JudgeAnswer(2.0, "3")]
    happened += [Strike(3.0, (2,)), JudgeAction(7.0, {"do": "foul", "by": "hider", "kind": "no_bead", "hide": "last"})]
    for step in [*happened, Button(8.0, "shown"), *a_hide(3)]:
        do(table, step)
        table.tick(step.t)
    seen = table.view.revision
    table.command(Command(JudgeAction(9.0, {"do": "hit", "found": True}), "Ann", "judge", "key-1", seen))
    assert table.story.hide.hits
    told = [fact for _, fact in journal.read()]
    assert sum(isinstance(fact, ActionPlayed) for fact in told) == 5
    assert applied == told
    assert fold(DAKOTA, journal.read()) == table.story
