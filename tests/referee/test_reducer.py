"""Single facts applied to a story: each rule of the reducer that a whole hide shows only by chance."""

import pytest

from pi_controller.referee.facts import (
    ActionPlayed,
    Answer,
    BeadShown,
    ClockGap,
    ClockSet,
    Commit,
    CommitmentWithdrawn,
    GameOpened,
    HandPass,
    HideAgain,
    LinkSeen,
    MatchGiven,
    MatchVoid,
    Notice,
    ProtestMade,
    ProtestRuled,
    Question,
    Ready,
    Reveal,
    RoundBegun,
    RoundBroken,
    RoundClock,
    SensorsSeen,
    StateSet,
    StrikeFelt,
    StrikeKept,
    TeamsNamed,
    Undone,
)
from pi_controller.referee.history import fold
from pi_controller.referee.story import Hide, Seal
from pi_controller.rules.registry import game
from pi_controller.sensing.events import SensorFault

DAKOTA, SLAHAL, OJIBWE = game("dakota"), game("slahal"), game("ojibwe")
PLUM_STONE, BAGESWIN = game("plum_stone"), game("bageswin")


def played(source="judge", /, **action):
    return ActionPlayed(0.0, action, (), source)


TOSS = played(do="toss", winner="A")
BONES_WON = played(do="duo", A=True, B=False)


def story_after(*facts, of=DAKOTA):
    """Return the story after facts that came one by one, each a batch of its own."""
    return fold(of, enumerate(facts, 1))


def test_commit_ends_the_withdrawn_seal():
    facts = TOSS, Ready(1.0), Commit(1.0, 1, "aa"), CommitmentWithdrawn(2.0, "the bead moved")
    assert story_after(*facts).hide.seal == Seal("withdrawn", None, ("aa",))
    assert story_after(*facts, Commit(3.0, 1, "bb")).hide.seal == Seal("sealed", "bb", ("aa",))


def test_ready_ends_the_withdrawn_seal():
    # in slahal the commitment outlasts its hide: withdrawn then, it says nothing of what is hidden next
    guess = played(do="guess", signal="left", actual="right")
    facts = BONES_WON, Ready(1.0), Commit(1.0, 1, "aa"), guess, CommitmentWithdrawn(2.0, "lost")
    before, after = story_after(*facts, of=SLAHAL), story_after(*facts, Ready(3.0), of=SLAHAL)
    assert (before.phase, before.hide.number, before.hide.seal.state) == ("hide", 2, "withdrawn")
    assert (after.phase, after.hide.number, after.hide.seal.state) == ("check", 2, "none")


def test_opening_names_the_commitments_withdrawn():
    sealed = Ready(1.0), Commit(1.0, 1, "aa"), CommitmentWithdrawn(2.0, "the bead moved"), Commit(3.0, 1, "bb")
    story = story_after(TOSS, *sealed, Reveal(4.0, 1, 2, "cc"))
    assert (story.opening.hash, story.opening.withdrawn) == ("bb", ("aa",))
    assert story.hide.seal == Seal()


@pytest.mark.parametrize(("passes", "doubted"), [([], 0), ([HandPass(1.0, 1, 1.0)], 1)])
def test_link_gap_doubts_passes_made_before(passes, doubted):
    story = story_after(LinkSeen(0.0, up=True), TOSS, *passes, LinkSeen(2.0, up=True))
    assert story.hands.doubt == doubted


def test_protest_doubts_the_hands():
    assert story_after(TOSS).hands.doubt == 0
    assert story_after(TOSS, ProtestMade(1.0, "A")).hands.doubt == 1  # no hand is felt while play stands


def test_second_stop_keeps_the_first_time():
    stopped = ClockSet(5.0, running=False), ClockSet(9.0, running=False)
    assert story_after(TOSS, *stopped).clocks.paused == 5.0
    assert story_after(TOSS, *stopped, ClockSet(10.0, running=True)).clocks.paused is None


def test_each_hit_has_its_own_time():
    late, peek = (Question(2.0, about, ("play_on",), foul=foul) for about, foul in (("foul", "time"), ("peek", "")))
    let_pass = [each for asked in (late, peek) for each in (asked, Answer(3.0, asked.about, "play_on"))]
    facts = TOSS, Ready(1.0), Commit(1.0, 1, "aa"), *let_pass
    assert story_after(*facts).hide.waived_fouls == ("time", "peek")
    assert story_after(*facts, played(do="hit", found=False, pad=1)).hide.waived_fouls == ("peek",)


def test_foul_on_last_hide_keeps_state_before_it():
    facts = LinkSeen(0.0, up=True), TOSS, HandPass(1.0, 1, 1.0), played(do="hit", found=True, pad=1)
    hit = story_after(*facts)
    fouled = story_after(*facts, played(do="foul", by="hitter", kind="outside_help", hide="last"))
    assert hit.phase == "show"
    assert fouled.state != hit.state
    assert fouled.previous_state == hit.previous_state


def test_forfeit_is_no_turn():
    hit, forfeit = played(do="hit", found=True), played(do="forfeit", by="B")
    story = story_after(TOSS, HandPass(1.0, 1, 1.0), forfeit)
    assert (story.phase, story.recent_turns, story.hide.passes) == ("over", (), ())
    assert [turn.actions for turn in story_after(TOSS, hit, forfeit).recent_turns] == [(hit.action,)]


@pytest.mark.parametrize(("pad", "left"), [(2, [(3,)]), (1, [(2,), (3,)]), (4, [(1,), (2,), (3,)])])
def test_strokes_after_counted_hit_stay_queued(pad, left):
    strokes = [StrikeKept(2.0, (each,)) for each in (1, 2, 3)]
    story = story_after(TOSS, Ready(1.0), Commit(1.0, 1, "aa"), *strokes, played(do="hit", found=False, pad=pad))
    assert [each.pads for each in story.hide.kept] == left


def test_next_hide_has_no_old_notice():
    settled = TOSS, played(do="hit", found=True), Notice(1.0, "show_bead", (2,))
    assert story_after(*settled).notice is not None
    assert story_after(*settled, BeadShown(2.0)).notice is None


@pytest.mark.parametrize("sealed", [True, False])
def test_undone_hit_leaves_a_sealed_place_known(sealed):
    begun = TOSS, Ready(1.0), *([Commit(1.0, 1, "aa")] if sealed else [])
    hit = played(do="hit", found=True, pad=2)
    story = story_after(*begun, hit, Undone(3.0, len(begun) + 1, opened=1))
    assert (story.hide.hits, story.hide.seal.state) == ((), "known" if sealed else "none")


def test_throw_ends_the_strokes_of_its_turn():
    tapped = played(do="lot", first="A"), StrikeFelt(1.0, (1,)), StrikeFelt(2.0, (1,))
    assert story_after(*tapped, of=PLUM_STONE).hide.strokes == 2
    assert story_after(*tapped, played(do="throw", moons=1, whites=3), of=PLUM_STONE).hide.strokes == 0


def test_games_begin_and_settle_in_their_phases():
    toss, shot = TOSS, played(do="shoot", opened=[], hit=2, ball=3)
    assert story_after(BONES_WON, of=SLAHAL).phase == "hide"
    assert [story_after(*facts, of=OJIBWE).phase for facts in ([toss], [toss, shot])] == ["hide", "show"]


@pytest.mark.parametrize(
    ("of", "before", "phase"),
    [
        (DAKOTA, [], "toss"),
        (DAKOTA, [TOSS, played(do="hit", found=False)], "hit"),
        (SLAHAL, [BONES_WON], "hide"),
        (PLUM_STONE, [played(do="lot", first="A")], "throw"),
        (DAKOTA, [TOSS, played(do="forfeit", by="B")], "over"),
    ],
)
def test_table_set_unchanged_keeps_its_phase(of, before, phase):
    story = story_after(*before, of=of)
    assert story_after(*before, StateSet(2.0, dict(of.sheet(story.state)), "as it was"), of=of).phase == phase


def test_undo_waives_mat_calls_alone():
    sensed = played("sensor", do="double_tap")
    assert story_after(sensed, of=BAGESWIN).undo_target.called == "double_tap"
    assert story_after(played(do="double_tap"), of=BAGESWIN).undo_target.called == ""
    assert story_after(TOSS, played("sensor", do="hit", found=True)).undo_target.called == ""


@pytest.mark.parametrize(
    ("fault", "numb"),
    [
        (SensorFault("strip", 2, "stuck", 1), True),
        (SensorFault("strip", 2, "stuck", 0), False),
        (SensorFault("disc", 2, "silent"), False),
    ],
)
def test_stuck_middle_strip_counts_as_dead(fault, numb):
    assert story_after(SensorsSeen(1.0, (fault,))).middle_strip_dead == numb


def test_hide_again_forgets_doubt_but_no_seal():
    sealed = (
        TOSS,
        HandPass(1.0, 2, 1.0),
        Ready(1.0),
        Commit(1.0, 1, "aa"),
        CommitmentWithdrawn(2.0, "lost"),
        RoundBroken(2.0),
    )
    story = story_after(*sealed, HideAgain(3.0, "a bystander"))
    assert (story.phase, story.hide.number, story.hide.passes, story.hide.seal) == (
        "hide",
        1,
        (),
        Seal("none", None, ("aa",)),
    )
    assert story_after(*sealed).hands.doubt == 1
    assert (story.hands.doubt, story.hide.fetched) == (0, True)


def test_hands_before_the_bead_is_up_are_preparation():
    hands = HandPass(1.4, 2, 1.1), HandPass(2.4, 1, 1.9), HandPass(2.9, 3, 2.5)
    story = story_after(TOSS, played(do="hit", found=True), *hands, BeadShown(2.0))
    assert [each.pad for each in story.hide.passes] == [2, 1, 3]
    assert [each.pad for each in story.hide.hiding_passes] == [3]


def test_hand_under_pad_at_toss_is_preparation():
    toss = ActionPlayed(5.0, {"do": "toss", "winner": "A"}, (), "sensor")
    story = story_after(toss, HandPass(5.5, 1, 4.5), HandPass(6.5, 2, 6.0))
    assert [each.pad for each in story.hide.hiding_passes] == [2]


def test_bead_read_as_up_ends_hide_again_doubt():
    facts = TOSS, HideAgain(1.0, "a bystander"), HandPass(2.5, 3, 2.0)
    assert story_after(*facts).hide.fetched
    story = story_after(*facts, RoundBegun(3.0))
    assert (story.hide.fetched, story.hide.hiding_passes) == (False, ())
    assert story_after(*facts, RoundBegun(3.0, sure=False)).hide.fetched


def test_seal_without_its_commitment_is_refused():
    for state, commit in (("sealed", None), ("none", "aa"), ("withdrawn", "aa"), ("by_eye", "aa")):
        with pytest.raises(ValueError, match="seal"):
            Seal(state, commit)
    assert Seal("known", "aa").unsealed("known") == Seal("known", None, ("aa",))


def test_clock_resume_drops_strokes_during_stop():
    facts = TOSS, Ready(1.0), Commit(1.0, 1, "aa"), StrikeKept(4.0, (1,)), ClockSet(5.0, running=False)
    story = story_after(*facts, StrikeKept(6.0, (2,)), ClockSet(7.0, running=True))
    assert [each.pads for each in story.hide.kept] == [(1,)]


@pytest.mark.parametrize(
    ("links", "doubt"),
    [
        ([LinkSeen(1.0, up=True)], 1),  # up from nowhere: hands may have gone before
        ([LinkSeen(1.0, up=False, why="gone")], 1),
    ],
)
def test_link_change_while_hiding_doubts_the_hands(links, doubt):
    assert story_after(TOSS, *links).hands.doubt == doubt
    assert story_after(*links).hands.doubt == 0  # before the toss nothing is hidden


def test_link_up_has_no_reason_to_show():
    assert story_after(LinkSeen(1.0, up=False, why="gone")).link.why == "gone"
    assert story_after(LinkSeen(1.0, up=False, why="gone"), LinkSeen(2.0, up=True, why="late")).link.why == ""


def test_undo_by_the_clock_seals_the_bead_again():
    hit = TOSS, Ready(1.0), Commit(1.0, 1, "aa"), CommitmentWithdrawn(1.0, "lost")
    assert story_after(*hit, Undone(2.0, 9, "judge")).hide.seal.state == "by_eye"
    assert story_after(*hit, Undone(2.0, 9, "clock")).hide.seal.state == "withdrawn"


def test_undone_call_is_waived_in_its_hide():
    foul = played("sensor", do="foul", by="hider", kind="pad_twice")
    story = story_after(TOSS, Ready(1.0), foul, Undone(2.0, 3, reason="seen well", waives="pad_twice"))
    assert (story.phase, story.hide.waived_fouls) == ("check", ("pad_skipped", "pad_twice"))
    assert story.note == "Taken back: seen well"


def test_protest_that_holds_play_is_decided_first():
    first, second = ProtestMade(1.0, "A", "one"), ProtestMade(3.0, "B", "two")
    story = story_after(first, ProtestRuled(2.0, "play_on", "later"), second)
    assert (story.held_by_protest, story.protest.text, [each.text for each in story.waiting_protests]) == (
        True,
        "two",
        ["one"],
    )
    story = story_after(first, ProtestRuled(2.0, "play_on", "later"), second, ProtestRuled(4.0, "denied", "no"))
    assert (story.held_by_protest, story.protest.text, story.waiting_protests) == (False, "one", ())
    story = story_after(first, second, ProtestRuled(4.0, "upheld", "yes"))
    assert (story.held_by_protest, story.protest.text) == (True, "two")


def test_void_order_of_another_match_is_ignored():
    given = MatchGiven(1.0, "spring", "1", "order 1")
    assert story_after(given, MatchVoid(2.0, "order 1", "recalled")).void == "recalled"
    assert story_after(given, MatchVoid(2.0, "order 2", "recalled")).void == ""


def test_round_clock_shows_remaining_round_time():
    timed = game("slahal", {"minutes": 20})
    running = story_after(RoundClock(100.0, 300.0, running=True), of=timed).clocks
    assert (running.playing.elapsed_s(100.0), running.playing.elapsed_s(110.0), running.of_round) == (
        900.0,
        910.0,
        True,
    )
    stopped = story_after(RoundClock(100.0, 300.0, running=False), of=timed).clocks
    assert stopped.playing.elapsed_s(110.0) == 900.0


def test_clocks_show_the_same_after_a_stop():
    timed = game("slahal", {"minutes": 20})
    facts = ActionPlayed(100.0, BONES_WON.action, (), "judge"), ClockGap(1000.0, 130.0)
    story = story_after(*facts, of=timed)
    assert (story.clocks.playing.elapsed_s(1000.0), story.clocks.waiting.elapsed_s(1000.0)) == (30.0, 30.0)
    assert (story.undo_target.batch, story.undo_target.t) == (1, None)  # of a clock that is no more
    of_round = RoundClock(100.0, 300.0, running=True), ClockGap(1000.0, 130.0)
    assert story_after(*of_round, of=timed).clocks.playing.elapsed_s(1000.0) == 1800.0  # the round went on


def test_time_waived_once_is_waived_for_the_game():
    timed = game("slahal", {"minutes": 20})
    asked = Question(2.0, "time", ("time", "play_on")), Answer(3.0, "time", "play_on")
    guess = played(do="guess", signal="left", actual="right")
    assert story_after(BONES_WON, *asked, guess, of=timed).hide.waived_fouls == ("time",)
    foul = played(do="foul", by="hider", kind="no_bead")
    assert story_after(TOSS, *asked, foul).hide.waived_fouls == ("time",)
    assert story_after(TOSS, *asked, foul, BeadShown(4.0)).hide.waived_fouls == ()


def test_both_hits_have_the_same_state_before():
    missed = [played(do="hit", found=False, pad=pad) for pad in (1, 2)]
    tossed, settled = story_after(TOSS), story_after(TOSS, *missed)
    assert story_after(TOSS, missed[0]).previous_state == settled.previous_state == tossed.state
    assert story_after(TOSS, *missed, BeadShown(1.0), missed[0]).previous_state == settled.state


def test_recent_turns_are_limited_to_eight():
    turns = [each for _ in range(10) for each in (played(do="hit", found=True), BeadShown(1.0))]
    assert [turn.number for turn in story_after(TOSS, *turns).recent_turns] == [*range(3, 11)]


def test_both_hits_and_later_foul_are_one_turn():
    hits = played(do="hit", found=False, pad=1), played(do="hit", found=False, pad=2)
    foul = played(do="foul", by="hider", kind="bead_showing", hide="last")
    (turn,) = story_after(TOSS, *hits, foul).recent_turns
    assert (turn.number, turn.side, turn.actions) == (1, "A", tuple(each.action for each in (*hits, foul)))
    turns = story_after(TOSS, *hits, BeadShown(1.0), Ready(1.0), foul).recent_turns
    assert [(turn.number, len(turn.actions)) for turn in turns] == [(1, 3)]


@pytest.mark.parametrize(("number", "facts"), [(1, [TOSS]), (2, [TOSS, Ready(1.0), played(do="hit", found=False)])])
def test_table_set_by_the_judge_begins_a_hide(number, facts):
    sheet = DAKOTA.sheet(story_after(TOSS).state)
    story = story_after(*facts, HandPass(1.0, 1, 1.0), StateSet(2.0, sheet, "a stick had rolled"))
    assert (story.phase, story.hide, story.note) == (
        "hide",
        Hide(number, began=2.0, seal=Seal("by_eye")),
        "a stick had rolled",
    )
    assert (story.previous_state, story.calls, story.question, story.notice) == (None, (), None, None)
    assert story_after(TOSS, StateSet(2.0, sheet, "")).hands.doubt == 1


def test_one_batch_is_undone_as_one():
    hit = ActionPlayed(9.0, {"do": "hit", "found": False}, (), "judge")
    batches = [(1, TOSS), (2, Ready(5.0)), (2, Commit(5.0, 1, "aa")), (3, Answer(7.0, "peek", "1")), (3, hit)]
    undoable = fold(DAKOTA, batches).undo_target
    assert (undoable.batch, undoable.waited, undoable.t) == (3, 2.0, 7.0)


def test_revision_counts_on_from_the_game_before():
    opened = GameOpened(0.0, "dakota", "1", "", {}, {"A": "Red", "B": "Blue"}, revision_from=40)
    assert story_after(opened).revision == 40
    assert story_after(opened, TOSS).revision == 42
    assert story_after(opened, TOSS, HandPass(1.0, 1, 1.0)).revision == 42  # a judge decides by none of that
    assert story_after(opened, TOSS, TeamsNamed(1.0, {"A": "Elk", "B": "Blue"})).revision == 43


def test_game_subclass_plays_actions_in_same_hide():
    class OurDakota(type(DAKOTA)):
        """A community's variant in a module of its own, without a referee beside it."""

    OurDakota.__module__ = "our_games.dakota.variant"
    facts = TOSS, Ready(1.0), played(do="hit", found=False, pad=2)
    assert story_after(*facts, of=OurDakota()).phase == "hit"
    assert story_after(*facts, of=OurDakota()) == story_after(*facts)
