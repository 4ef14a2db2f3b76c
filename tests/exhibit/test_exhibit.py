"""The installation as visitors use it: sessions, defaults, and what children do to it."""

import os
import re

import pytest
from exhibit_rig import STEP_S, Rig

from pi_controller.display.i18n import ENGLISH
from pi_controller.exhibit.exhibit import AWAKE_S
from pi_controller.exhibit.lessons import sticks
from pi_controller.exhibit.pages import render_screen
from pi_controller.exhibit.screen import build_screen
from pi_controller.exhibit.session_games import SESSION_FILES
from pi_controller.host.retention import Retention
from pi_controller.pads import EVERY_PAD
from pi_controller.referee.facts import ActionPlayed, HandPass, Reveal
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike


def test_from_a_touch_to_a_game_and_back():
    rig = Rig()
    assert rig.stage == "attract"
    rig.begin("mat")
    assert rig.stage == "play"
    rig.play_on()
    assert rig.stage == "result"
    rig.advance(60)
    assert rig.stage == "attract"
    assert [(one.kind, one.ending) for one in rig.sessions] == [("mat", "finished")]


def watch_find(rig):
    """Let attract play one hide; return the cloths with a hand, the hits, and the sticks that each side gained."""
    hands, hide, before = [], rig.game.view.hide, sticks(rig.game.view)
    while rig.game.view.phase != "show":
        if rig.game.hand not in (None, *hands[-1:]):
            hands.append(rig.game.hand)
        rig.advance(STEP_S / 5)
    hits, gained = rig.game.view.hits, [b - a for a, b in zip(before, sticks(rig.game.view), strict=True)]
    rig.until(lambda: rig.game.view.hide != hide)
    return hands, [hit.found for hit in hits], gained


@pytest.mark.parametrize("seed", range(3))
def test_attract_shows_a_whole_find_within_9_s(seed):
    rig = Rig(seed)
    assert len(build_screen(rig.exhibit).lead.split()) <= 6
    for finder in ("B", "A", "B", "A", "B", "A", "B"):
        begun = rig.t
        assert watch_find(rig) == ([1, 2, 3, 4], [True], [4, 0, -4] if finder == "A" else [-4, 0, 4])
        assert rig.t - begun <= 9


def test_attract_shows_no_score_or_word():
    rig = Rig(2)
    for _ in range(400):
        rig.advance(STEP_S)
        screen = build_screen(rig.exhibit)
        assert [(row.key, row.role, row.points) for row in screen.rows] == [("a", "", 0), ("b", "", 0)]
        assert screen.words == ()
        assert 'class="count"' not in render_screen(screen, rig.exhibit.host.texts)


@pytest.mark.parametrize(("kind", "hider", "once", "again"), [
    ("mat", "mat", "The mat hides the bead in a random place and seals it.",
     "The mat hides again, in a random place, and seals it."),
    ("mat", "visitor", "You hide. Touch the cloth where you want to leave the bead.",
     "You hide again. Touch the cloth where you want to leave the bead."),
])  # fmt: skip
def test_side_that_hides_twice_hides_again(kind, hider, once, again):
    told = set()
    for seed in range(8):
        rig = Rig(seed)
        rig.begin(kind)
        while rig.stage == "play":
            view = rig.game.view
            if view.phase == "hide" and rig.game.hider == hider and not rig.game._script:
                same = any(turn.number == view.hide - 1 and turn.side == view.scoreboard.turn for turn in view.past)
                assert build_screen(rig.exhibit).lead == (again if same else once)
                told.add(same)
            if touches := rig.game.touches:
                rig.touch(rig.rng.choice(list(touches)))
            rig.advance(STEP_S)
    assert told == {True, False}


def test_touch_skips_mat_turn_but_double_tap_not():
    rig = Rig(1)
    rig.begin("mat")
    rig.awaits("pads")
    rig.touch("pad:2")
    rig.advance(STEP_S)
    assert not rig.touch("skip"), "the second tap of a double one"
    rig.until(lambda: "skip" in rig.exhibit.touches)
    assert rig.touch("skip")
    rig.advance(STEP_S)
    assert rig.game.view.phase == "hit"
    rig.play_on()


def test_curtain_covers_pads_until_other_side_is_ready():
    rig = Rig(1)
    rig.begin("teams")
    rig.awaits("pads")
    rig.touch("pad:2")
    rig.awaits("handover")
    assert build_screen(rig.exhibit).curtain
    assert not rig.touch("pad:2")
    rig.touch("handover")
    assert not build_screen(rig.exhibit).curtain
    assert rig.touch("pad:2")


def test_game_ends_after_configured_hides():
    rig = Rig(3, hides=2, points=5)
    rig.begin("teams")
    rig.play_on()
    assert rig.sessions[-1].hides == 2


def test_idle_visitor_is_asked_then_session_is_reset():
    rig = Rig()
    rig.begin("mat")
    rig.exhibit.touch(rig.t, "low")
    rig.until(lambda: rig.exhibit.asked, 200)
    assert set(rig.exhibit.touches) == {"here", "leave"}
    rig.advance(19)
    assert rig.stage == "play"
    rig.advance(2)
    assert rig.stage == "attract"
    assert not rig.exhibit.low, "the next visitor finds the screen as the host has it"
    assert rig.sessions[-1].ending == "nobody"


def test_still_here_resumes_the_same_game():
    rig = Rig()
    rig.begin("teams")
    rig.until(lambda: rig.exhibit.asked, 200)
    game = rig.game
    assert rig.touch("here")
    assert rig.stage == "play"
    assert rig.game is game
    assert not rig.exhibit.asked


def hand_under_every_cloth(rig):
    for pad in (1, 2, 3, 4):
        rig.exhibit.handle_mat_event(rig.t, HandIn(rig.t, pad, "hider"))
        rig.advance(0.5)
        rig.exhibit.handle_mat_event(rig.t, HandOut(rig.t, pad, "hider"))


def hidden_on_the_mat():
    """Return an installation whose mat has felt a hide of two sides, up to ready."""
    rig = Rig(mat="sensors")
    rig.exhibit.handle_mat_event(rig.t, Link(rig.t, up=True))
    rig.begin("teams")
    rig.awaits("ready")
    hand_under_every_cloth(rig)
    rig.touch("ready")
    return rig


def test_ready_pressed_twenty_times_is_one_press():
    rig = Rig(mat="sensors")
    rig.exhibit.handle_mat_event(rig.t, Link(rig.t, up=True))
    rig.begin("teams")
    rig.awaits("ready")
    hand_under_every_cloth(rig)
    for n in range(20):
        rig.exhibit.handle_mat_event(rig.t + n * 0.01, Button(rig.t + n * 0.01, "ready"))
    rig.advance(1)
    assert rig.game.view.phase == "check"
    assert rig.game.view.hide == 1


def test_ten_hands_at_once_are_one():
    rig = Rig()
    rig.begin("teams")
    rig.awaits("pads")
    turn = rig.exhibit.turn
    counted = [rig.exhibit.touch(rig.t, f"pad:{1 + n % 4}", turn) for n in range(10)]
    assert counted == [True] + [False] * 9


def test_hands_under_all_pads_cause_no_hit():
    rig = Rig(mat="sensors")
    rig.exhibit.handle_mat_event(0, Link(0, up=True))
    rig.begin("mat")
    rig.awaits("strike", "ready")
    while rig.game.awaits != "strike":
        hand_under_every_cloth(rig)
        rig.touch("ready")
        rig.exhibit.handle_mat_event(rig.t, BeadsAtRest(rig.t, (Bead(1),)))
        rig.advance(20)
        rig.exhibit.handle_mat_event(rig.t, BeadsAtRest(rig.t, ()))
        rig.advance(5)
    rig.exhibit.handle_mat_event(rig.t, Strike(rig.t, (1, 2, 3, 4), 30.0))
    assert rig.game.view.hits == ()
    rig.advance(200)
    assert rig.stage == "attract"


def test_visitor_answer_about_hit_overrides_later_bead_reading():
    rig = hidden_on_the_mat()
    rig.exhibit.handle_mat_event(rig.t, BeadsAtRest(rig.t, (Bead(1),), sure=False))
    rig.awaits("question")
    assert rig.touch("answer:play_on")
    rig.awaits("strike")
    rig.exhibit.handle_mat_event(rig.t, Strike(rig.t, (1,), 30.0))
    rig.exhibit.handle_mat_event(rig.t, BeadsAtRest(rig.t, (Bead(1),)))
    rig.awaits("question")
    assert rig.touch("answer:missed")
    rig.awaits("strike")
    rig.advance(1)
    rig.exhibit.handle_mat_event(rig.t, Strike(rig.t, (4,), 30.0))
    rig.advance(1)
    hits = [fact.action for fact in rig.facts(ActionPlayed) if fact.action["do"] == "hit"]
    assert [(hit["pad"], hit["found"]) for hit in hits] == [(1, False), (4, False)]
    assert [fact.pad for fact in rig.facts(Reveal)] == [1]


def test_screen_asks_to_take_the_bead_up():
    rig = hidden_on_the_mat()
    rig.exhibit.handle_mat_event(rig.t, BeadsAtRest(rig.t, (Bead(1),)))
    rig.awaits("strike")
    rig.exhibit.handle_mat_event(rig.t, Strike(rig.t, (1,), 30.0))
    rig.until(lambda: rig.game.waits_for_lift)
    assert "Take it up" in build_screen(rig.exhibit, ENGLISH).lead
    rig.exhibit.handle_mat_event(rig.t, BeadsAtRest(rig.t, ()))
    rig.advance(1)
    assert (rig.game.view.phase, rig.game.view.hide) == ("hide", 2)


def test_mat_hides_again_in_its_sealed_place():
    """Hands that were under the pads at the toss keep the mat's first hide from counting."""
    rig = Rig(seed=5, mat="sensors")
    rig.exhibit.handle_mat_event(rig.t, Link(rig.t, up=True))
    rig.begin("mat")
    for pad in (1, 2, 3, 4):
        rig.exhibit.handle_mat_event(rig.t, HandIn(rig.t, pad, "hider"))
    rig.until(lambda: rig.game.is_sealed)
    sealed = rig.game._sealed
    rig.until(lambda: rig.game.view.phase == "hit")
    assert [fact.pad for fact in rig.facts(HandPass)] == [*EVERY_PAD, *EVERY_PAD]
    assert rig.game._sealed == sealed


def test_hand_over_mat_or_button_starts_session():
    for event in (HandIn(1, 2, "hitter"), Button(1, "ready")):
        rig = Rig(mat="sensors")
        rig.exhibit.handle_mat_event(1, event)
        assert rig.stage == "choose"


def test_by_eye_two_buttons_say_found_or_not():
    rig = Rig(2, mat="eye")
    rig.begin("mat")
    while rig.game.awaits != "question":
        if rig.game.touches:
            rig.touch(rig.game.touches[0])
        rig.advance(STEP_S)
    assert rig.game.touches == ["answer:found", "answer:missed"]
    hits = len(rig.game.view.hits)
    rig.exhibit.handle_mat_event(rig.t, Button(rig.t, "toss_b"))
    assert len(rig.game.view.hits) == hits + 1
    assert not rig.game.view.hits[-1].found


def test_unanswered_question_costs_no_sticks_and_reseals_guess():
    rig = Rig(2, mat="eye", answer_s=10)
    rig.begin("mat")
    while rig.game.awaits != "question":
        if rig.game.touches:
            rig.touch(rig.game.touches[0])
        rig.advance(STEP_S)
    assert rig.game.view.question.until == pytest.approx(rig.t + 10, abs=1)
    before, guess = rig.game.view, rig.game._guess
    rig.advance(11)
    assert (rig.game.view.scoreboard, rig.game.view.hide, rig.game.view.phase) == (
        before.scoreboard,
        before.hide,
        "hide",
    )
    assert rig.game._guess is not guess, "the pad it would strike was lit: another guess is sealed"
    assert rig.game.is_sealed


def test_closed_at_night_and_out_of_season():
    rig = Rig(t=20 * 3600, opens="09:00", closes="17:00")
    assert rig.stage == "rest"
    assert not rig.touch("start")
    rig.advance(13 * 3600 + 1)
    assert rig.stage == "attract"
    assert Rig(t=200 * 86400, season_from="11-01", season_to="03-31").stage == "rest"
    assert Rig(t=10 * 86400, season_from="11-01", season_to="03-31").stage == "attract"


def test_screen_is_off_until_shortly_before_opening():
    rig = Rig(t=16.9 * 3600, opens="09:00", closes="17:00")
    assert build_screen(rig.exhibit).bright == 1.0

    def off_at(hour):
        rig.advance(max(0.0, hour * 3600 - rig.t))
        assert build_screen(rig.exhibit).bright == (0.0 if rig.exhibit.screen_off else 1.0)
        return rig.exhibit.screen_off

    assert not off_at(16.99)
    assert off_at(17.2)
    assert off_at(32.8)
    assert not off_at(32.95), "on before the doors open"
    assert rig.stage == "rest"
    assert not off_at(33.5)


def test_touch_or_hand_switches_screen_on():
    rig = Rig(t=20 * 3600, opens="09:00", closes="17:00")
    for wake in (
        lambda: rig.touch(build_screen(rig.exhibit).touch),
        lambda: rig.exhibit.handle_mat_event(rig.t, HandIn(rig.t, 1, "hider")),
        lambda: rig.exhibit.wake(rig.t),
    ):
        assert not rig.exhibit.screen_off, "the staff has just been here"
        rig.advance(AWAKE_S + 1)
        assert rig.exhibit.screen_off
        wake()
    assert rig.stage == "rest"


def test_screen_stays_on_when_staff_closes():
    rig = Rig(t=12 * 3600, opens="09:00", closes="17:00")
    rig.exhibit.close_today(rig.t)
    rig.advance(2 * AWAKE_S)
    assert rig.stage == "rest"
    assert not rig.exhibit.screen_off
    rig.exhibit.notice = "Under repair"
    rig.advance(8 * 3600)
    assert (rig.stage, rig.exhibit.screen_off) == ("notice", False)


def test_staff_notice_waits_for_session_end():
    rig = Rig()
    rig.begin("mat")
    rig.exhibit.set_notice(rig.t, "Back at two o'clock")
    assert rig.stage == "play"
    rig.advance(120)
    assert rig.stage == "notice"
    rig.exhibit.set_notice(rig.t, "")
    rig.advance(1)
    assert rig.stage == "attract"


def test_a_notice_has_no_invisible_characters():
    rig = Rig()
    rig.exhibit.set_notice(rig.t, "Back at\u202e two\0\no'clock")
    assert rig.exhibit.notice == "Back at two o'clock"


def test_pruning_removes_old_journals_but_not_current_game(tmp_path):
    rig = Rig(5, folder=tmp_path, record=True, keep_days=1, keep_mb=1)
    for _ in range(3):
        rig.begin("mat")
        rig.advance(10)
        rig.leave()
    kept = sorted(tmp_path.glob("exhibit-*.sqlite"))
    assert len(kept) == 3
    (tmp_path / "exhibit-notes.txt").write_text("the host's own")
    for path in kept[:2]:
        os.utime(path, times=(path.stat().st_mtime - 2 * 86400,) * 2)
    rig.games.retention = Retention(tmp_path, SESSION_FILES, 1, 1_000_000, clock_set=lambda _: True)
    rig.begin("mat")
    assert [path.exists() for path in kept] == [False, False, True]
    left = sorted(path.name for path in tmp_path.iterdir() if path.suffix in {".sqlite", ".txt"})
    assert len(left) == 3, left
    assert len(list(tmp_path.glob("*.lock"))) == 2, "a journal's lock goes with it"
    rig.play_on()
    assert rig.sessions[-1].ending == "finished"


def test_without_recording_no_file_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rig = Rig(5, folder=tmp_path)
    rig.begin("mat")
    journal = rig.game.table.journal
    rig.play_on()
    assert journal.seq > 20
    assert list(tmp_path.iterdir()) == []


def test_failed_recording_reports_fault_and_game_continues(tmp_path):
    rig = Rig(5, folder=tmp_path / "not there", record=True)
    rig.begin("mat")
    assert rig.exhibit.fault
    rig.play_on()
    assert rig.sessions[-1].ending == "finished"


@pytest.mark.parametrize(("cloths", "most"), [([3], "cloth 3"), ([1, 4, 2, 3], "one cloth")])
def test_result_names_sticks_per_side_and_hiding_habit(cloths, most):
    rig = Rig(5, hides=8, points=5)
    rig.begin("mat")
    game = rig.game

    def choose(touches):
        if game.awaits != "pads":
            return touches[0]
        return f"pad:{cloths[len(game.hidden_under) % len(cloths)]}"

    rig.play_on(choose)
    shown = build_screen(rig.exhibit)
    a, _, b = sticks(game.view)
    score, habit = shown.report[:2]
    assert re.search(rf"your side {a}\b.* the mat.* {b}\b", score, re.IGNORECASE)
    assert shown.ending.look == ("a" if a > b else "b" if b > a else "")
    assert 1 < len(game.hidden_under) <= 4
    assert str(len(game.hidden_under)) in habit
    assert most in habit
