"""What was undone does not count; an undo that was itself taken back does nothing."""

import random

import pytest
from cases import cases
from random_play import RandomPlay

from pi_controller.errors import MatError
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.referee import history as history_module
from pi_controller.referee.facts import (
    UNDO_PROOF_FACTS,
    ActionPlayed,
    BeadShown,
    GameOpened,
    HandPass,
    LinkSeen,
    Undone,
)
from pi_controller.referee.history import History, effective_records, fold, with_status
from pi_controller.referee.reducer import apply_batch, blank
from pi_controller.rules.base import IllegalActionError
from pi_controller.rules.registry import game
from pi_controller.sensing.events import Link

DAKOTA = game("dakota")


def numbered(*batches_of_facts):
    return [(n, fact) for n, facts in enumerate(batches_of_facts, 1) for fact in facts]


def hit(found, pad=None):
    return ActionPlayed(0.0, {"do": "hit", "found": found, **({"pad": pad} if pad else {})}, (), "judge")


TOSS = ActionPlayed(0.0, {"do": "toss", "winner": "A"}, (), "judge")
OPENED = GameOpened(0.0, "dakota", "1", "", {}, {"A": "Red", "B": "Blue"})


def test_empty_record_folds_to_opening():
    assert fold(DAKOTA, []) == blank(DAKOTA)


@pytest.mark.parametrize(
    ("undos", "gone"),
    [
        ({}, set()),
        ({5: 4}, {4}),
        ({5: 2}, {2, 3, 4}),
        ({5: 4, 6: 3}, {3, 4, 5}),
        ({4: 3, 5: 4}, {4}),  # the undo in 4 is taken back: 3 counts again
        ({4: 3, 5: 4, 6: 5}, {3, 5}),  # and that one too
        ({4: 3, 6: 2}, {2, 3, 4, 5}),
    ],
)
def test_which_batches_count(undos, gone):
    records = [(n, Undone(0.0, undos[n]) if n in undos else HandPass(0.0, 1, 0.0)) for n in range(1, 8)]
    assert {batch for batch, _, counts in with_status(records) if not counts} == gone


def test_a_second_thought_about_a_hit():
    story = fold(DAKOTA, numbered([OPENED], [TOSS], [hit(True, 2)], [Undone(0.0, 3)], [hit(False, 3)]))
    assert [(h.pad, h.found) for h in story.hide.hits] == [(3, False)]
    assert DAKOTA.sheet(story.state)["owed"] == "second"
    assert story.undo_target.batch == 5


def test_undo_leaves_link_state():
    story = fold(
        DAKOTA,
        numbered([OPENED], [LinkSeen(0.0, up=True)], [TOSS], [LinkSeen(1.0, up=False, why="gone")], [Undone(2.0, 3)]),
    )
    assert (story.phase, story.link.up, story.link.why) == ("toss", False, "gone")


def test_the_hands_taken_back_are_in_doubt():
    records = numbered(
        [OPENED], [TOSS], [hit(True)], [BeadShown(0.0)], [HandPass(0.0, 1, 0.0)], [Undone(0.0, 3, hide=2)]
    )
    story = fold(DAKOTA, records)
    assert (story.hide.number, story.hands.doubt, story.hide.passes) == (1, 2, ())


def test_illegal_action_raises_when_folding():
    with pytest.raises(IllegalActionError):
        fold(DAKOTA, numbered([OPENED], [TOSS], [TOSS]))


def test_stories_are_values():
    records = numbered([OPENED], [TOSS], [hit(False, 1)])
    assert fold(DAKOTA, records) == fold(game("dakota"), records)
    assert len({fold(DAKOTA, records), fold(DAKOTA, records), blank(DAKOTA)}) == 2


def test_effective_keeps_order_and_numbers():
    records = numbered([OPENED], [TOSS], [hit(True)], [Undone(0.0, 3)], [hit(False)])
    assert [number for number, _ in effective_records(records)] == [1, 2, 4, 5]


def naive(records):
    """Fold from nothing, as slowly as it can be done: the batches that count, and what lasts of the others."""
    batches = {}
    for batch, fact in records:
        batches.setdefault(batch, []).append(fact)
    gone, until = set(), None
    for batch in sorted(batches, reverse=True):
        if until is not None and batch >= until:
            gone.add(batch)
            continue
        for fact in batches[batch]:
            if isinstance(fact, Undone):
                until = fact.batch if fact.batch < batch else until
    story = blank(DAKOTA)
    for batch, facts in batches.items():
        story = apply_batch(
            DAKOTA, story, batch, [fact for fact in facts if batch not in gone or isinstance(fact, UNDO_PROOF_FACTS)]
        )
    return story, gone


class Judge:
    """One who does anything the rules allow, by way of a referee."""

    def __init__(self, chance):
        self.chance, self.history, self.records = chance, History(DAKOTA), []
        self.play = RandomPlay(chance, DAKOTA)
        self.referee = DakotaReferee(DAKOTA, None, bytes)

    def write(self, draft):
        if draft.facts:
            assert draft.story == self.history.commit(draft)
        self.records += [(draft.batch, fact) for fact in draft.facts]

    def call(self):
        self.play.later(0.5, 1.5)
        if self.chance.random() < 0.15:
            return Link(self.play.now, self.chance.random() < 0.5, self.chance.choice(["", "gone"]))
        return self.play.judge_call(self.history.now)

    def step(self):
        if self.history.batch > 2 and self.chance.random() < 0.1:  # no judge can say this: any batch, also an undo
            undone = Undone(self.play.later(0.5, 1.5), self.chance.randint(2, self.history.batch), hide=1)
            self.write(self.history.extend(self.history.begin(), [undone]))
            return
        try:
            self.write(self.history.resolve_event(self.call(), self.referee.decide))
        except MatError:
            assert self.history.now == naive(self.records)[0]


@pytest.mark.parametrize("seed", range(cases(10, 60)))
def test_history_equals_full_fold_after_each_step(seed):
    judge = Judge(random.Random(seed))
    judge.write(judge.history.extend(judge.history.begin(), [OPENED]))
    stories = []
    for _ in range(40):
        judge.step()
        story, gone = naive(judge.records)
        assert judge.history.now == story
        assert {batch for batch, fact, counts in with_status(judge.records) if not counts} <= gone
        stories.append(story)
    again = History(DAKOTA)
    steps = list(again.walk(judge.records))
    assert again.now == judge.history.now == fold(DAKOTA, judge.records)
    assert [step.after for step in steps[:-1]] == [step.before for step in steps[1:]]
    assert {step.batch for step in steps if not step.counts} <= gone
    assert all(step.counts == (step.batch not in gone) for step in steps if not isinstance(step.fact, UNDO_PROOF_FACTS))
    assert len(set(stories)) > 10


def test_undo_proof_fact_survives_undone_batch():
    records = numbered([OPENED], [TOSS], [LinkSeen(1.0, up=True), HandPass(1.0, 1, 1.0)], [Undone(2.0, 2)])
    assert [counts for _, _, counts in with_status(records)] == [True, False, True, False, True]


def test_undo_of_own_or_later_batch_is_ignored():
    for batch in (3, 4, 9):
        story = fold(DAKOTA, numbered([OPENED], [TOSS], [Undone(1.0, batch)]))
        assert (story.phase, story.hide.seal.state) == ("hide", "none")


def test_undone_illegal_action_does_not_block_fold():
    """An action that the rules once allowed, and that was taken back, does not stand in the way of the rest."""
    records = numbered([OPENED], [TOSS], [TOSS], [Undone(1.0, 3)], [hit(True)])
    assert fold(DAKOTA, records).phase == "show"


def test_refused_fact_leaves_history_unchanged():
    history = History(DAKOTA)
    history.append([OPENED])
    with pytest.raises(IllegalActionError):
        history.add(2, hit(True))
    assert (history.batch, history.now) == (1, fold(DAKOTA, numbered([OPENED])))
    history.append([TOSS])
    assert (history.batch, history.now.phase, history.now.undo_target.batch) == (2, "hide", 2)


def test_undo_cost_is_independent_of_history_length(monkeypatch):
    told = []
    whole = history_module.apply_batch
    monkeypatch.setattr(history_module, "apply_batch", lambda *args: told.append(1) or whole(*args))
    for length in (10, 1000):
        history = History(DAKOTA)
        history.append([OPENED])
        history.append([TOSS])
        for n in range(length):
            history.append([HandPass(1.0 * n, 1, 1.0 * n)])
        told.clear()
        history.append([Undone(5.0, 2)])
        assert len(told) == 1
