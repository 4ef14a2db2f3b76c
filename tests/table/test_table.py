"""Journal first, then show: a table halts when it cannot write, acknowledges nothing, and goes on when it can."""

import msgspec
import pytest
from seats import TEAMS, hide, sit

from pi_controller.errors import JournalError
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.journal.journal import Journal
from pi_controller.referee.commitment import CommitmentContext, check
from pi_controller.referee.facts import Commit, GameOpened, LinkSeen, Reveal
from pi_controller.referee.history import fold
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeUndo
from pi_controller.rules.base import IllegalActionError
from pi_controller.rules.registry import game
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike
from pi_controller.table.table import Table, commitment_context, journalled_game
from pi_controller.table.view import View


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "game.sqlite") as journal:
        yield journal


@pytest.fixture
def table(journal):
    return sit(journal)


def break_disk(journal):
    """No page more; the last page may still have room, so ask for more than that."""
    db = journal.database()
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")


class Broken:
    """The journal's writing fails while `broken`."""

    def __init__(self, journal, monkeypatch):
        self.broken = False
        self.error = JournalError("journal game.sqlite: it cannot be written: the disk is full", "make room")
        whole, reopen = journal.append, journal.reopen

        def append(facts):
            if self.broken:
                raise self.error
            return whole(facts)

        def again():
            if self.broken:
                raise self.error
            reopen()

        monkeypatch.setattr(journal, "append", append)
        monkeypatch.setattr(journal, "reopen", again)


def test_fresh_journal_opens_with_game_and_options(journal):
    table = sit(journal, options={"points": 3})
    opened = journal.read_opening()
    assert isinstance(opened, GameOpened)
    assert (opened.game, opened.options["points"], opened.teams) == ("dakota", 3, TEAMS)
    assert (table.view.phase, table.view.scoreboard.goal, table.view.teams, table.view.seq) == ("toss", 3, TEAMS, 1)


def test_resumed_journal_uses_its_game_and_names(journal):
    sit(journal, options={"points": 3}).judge(JudgeAction(1.0, {"do": "toss", "winner": "B"}))
    mine = journalled_game(journal, game("dakota", {"points": 5}))
    assert mine.settings["points"] == 3
    table = Table(journal, mine, {"A": "X", "B": "Y"}, DakotaReferee(mine, None, bytes), 5.0)
    assert (table.view.sheet["hider"], table.view.scoreboard.goal, table.view.teams) == ("B", 3, TEAMS)
    assert journalled_game(journal, mine) is mine


def test_another_game_in_the_settings_is_refused(journal):
    sit(journal, options={"points": 3})

    class Other:
        name, version = "ojibwe", "1"

    with pytest.raises(JournalError, match="holds a game of dakota 1, not ojibwe 1"):
        journalled_game(journal, Other())
    with pytest.raises(JournalError, match="other options"):
        sit(journal, options={"points": 4})


def test_view_object_changes_with_the_story_alone(table):
    view = table.view
    table.tick(1.0)
    table.mat_event(Strike(1.0, (1,)))
    assert table.view is view
    table.mat_event(Button(1.0, "toss_a"))
    assert table.view is not view
    assert msgspec.json.decode(msgspec.json.encode(table.view), type=View) == table.view


def test_table_is_armed_while_hit_is_owed(table):
    table.mat_event(Button(1.0, "toss_a"))
    assert not table.armed
    hide(table, 3)
    assert table.armed
    table.mat_event(Strike(3.0, (1, 2)))
    assert not table.armed
    table.judge(JudgeAnswer(4.0, "none"))
    assert table.armed


def test_anyone_can_check_the_opening(table):
    table.mat_event(Button(1.0, "toss_a"))
    hide(table, 3)
    sealed = table.view.commit
    assert table.view.opening is None
    table.mat_event(Strike(3.0, (3,)))
    view = table.view
    assert view.commit is None
    assert view.opening.hash == sealed
    assert view.opening.pad == 3
    assert check(view.opening.hash, view.game, view.opening.hide, view.opening.pad, view.opening.nonce)


def test_halts_when_the_journal_cannot_be_written(table, journal, monkeypatch):
    table.mat_event(Link(0.0, up=True))
    table.mat_event(Button(1.0, "toss_a"))
    hide(table, 3)
    story, seq = table.story, journal.seq
    disk = Broken(journal, monkeypatch)
    disk.broken = True
    assert table.mat_event(Strike(3.0, (3,))) == []
    assert table.story == story
    assert (table.view.phase, table.view.seq, table.view.sheet["owed"]) == ("halted", seq, "first")
    assert "make room" in table.view.note
    assert not table.armed
    assert table.mat_event(Strike(3.5, (3,))) == []
    assert table.tick(4.0) == []
    with pytest.raises(JournalError):
        table.judge(JudgeAction(4.0, {"do": "hit", "found": True}))
    assert not table.retry(5.0)
    assert table.view.phase == "halted"
    disk.broken = False
    assert table.retry(6.0)
    # nobody knows what was missed: the judge is asked
    assert table.view.question.about == "link_gap"
    assert table.view.phase == "hit"
    table.judge(JudgeAnswer(7.0, "3"))
    assert table.view.opening.pad == 3
    assert fold(table.game, journal.read()) == table.story


def test_unwritten_call_does_not_count(table, journal, monkeypatch):
    disk = Broken(journal, monkeypatch)
    disk.broken = True
    with pytest.raises(JournalError):
        table.judge(JudgeAction(1.0, {"do": "toss", "winner": "A"}))
    assert table.story.phase == "toss"
    disk.broken = False
    assert table.retry(2.0)
    assert table.retry(2.0)
    table.judge(JudgeAction(3.0, {"do": "toss", "winner": "A"}))
    assert table.view.phase == "hide"


def test_table_without_board_has_no_link_after_halt(table, journal, monkeypatch):
    table.mat_event(Button(1.0, "toss_a"))
    disk = Broken(journal, monkeypatch)
    disk.broken = True
    table.mat_event(Button(2.0, "ready"))
    table.mat_event(HandIn(2.0, 1))
    table.mat_event(HandOut(2.1, 1))
    assert table.halted
    disk.broken = False
    assert table.retry(3.0)
    assert not table.view.link
    assert not any(isinstance(fact, LinkSeen) for _, fact in journal.read())


def test_events_during_halt_are_applied_after_retry(table, journal, monkeypatch):
    table.mat_event(Link(0.0, up=True))
    table.mat_event(Button(1.0, "toss_a"))
    table.mat_event(HandIn(1.0, 1))
    disk = Broken(journal, monkeypatch)
    disk.broken = True
    table.mat_event(HandOut(1.5, 1))
    table.mat_event(Link(2.0, up=False, why="unplugged"))
    disk.broken = False
    assert table.retry(3.0)
    assert not table.view.link
    table.mat_event(Link(4.0, up=True))
    for p in (2, 3, 4):
        table.mat_event(HandIn(5.0, p))
        table.mat_event(HandOut(5.0, p))
    table.mat_event(Button(6.0, "ready"))
    table.tick(10.0)
    assert table.view.question.about == "passes_unsure"


def test_unwritten_commitment_is_made_again(table, journal, monkeypatch):
    table.mat_event(Link(0.0, up=True))
    table.mat_event(Button(1.0, "toss_a"))
    for p in (1, 2, 3, 4):
        table.mat_event(HandIn(1.0, p))
        table.mat_event(HandOut(1.0, p))
    table.mat_event(Button(2.0, "ready"))
    disk = Broken(journal, monkeypatch)
    disk.broken = True
    table.mat_event(BeadsAtRest(2.0, (Bead(3),)))
    disk.broken = False
    assert table.retry(3.0)
    assert table.view.phase == "hit"
    table.mat_event(Strike(4.0, (3,)))
    assert table.view.opening.pad == 3


def test_a_full_disk(table, journal):
    break_disk(journal)
    for n in range(300):
        table.mat_event(Link(float(n), up=False, why=f"{n} " + "x" * 100))
        if table.view.phase == "halted":
            break
    assert "disk is full" in table.view.note
    assert table.retry(400.0)
    assert table.view.phase == "toss"
    assert fold(table.game, journal.read()) == table.story


def test_journal_breaking_the_rules_is_not_resumed(journal):
    sit(journal).judge(JudgeAction(1.0, {"do": "toss", "winner": "A"}))
    journal.append([fact for _, fact in journal.read()][1:])
    with pytest.raises(JournalError, match="does not follow the rules"):
        sit(journal)


def test_undo_shows_the_story_before(table):
    table.judge(JudgeAction(1.0, {"do": "toss", "winner": "A"}))
    before = table.view
    table.judge(JudgeAction(2.0, {"do": "hit", "found": True}))
    table.judge(JudgeUndo(3.0, "misread"))
    after = table.view
    assert (after.scoreboard, after.phase) == (before.scoreboard, before.phase)
    assert after.note == "Taken back: misread"
    table.judge(JudgeUndo(4.0))
    assert table.view.phase == "toss"
    with pytest.raises(IllegalActionError):
        table.judge(JudgeUndo(5.0))


def test_the_view_has_the_journals_head(table, journal):
    heads = {table.view.head}
    for call in (JudgeAction(1.0, {"do": "toss", "winner": "A"}), JudgeUndo(2.0)):
        table.judge(call)
        assert (table.view.seq, table.view.head) == journal.head
        heads.add(table.view.head)
    assert len(heads) == 3


def test_commitment_binds_table_journal_and_event(journal):
    dakota = game("dakota")
    table = Table(journal, dakota, TEAMS, DakotaReferee(dakota, None, bytes, commitment_context(journal, "Hall")), 0.0)
    table.mat_event(Link(0.1, up=True))
    table.mat_event(Button(0.2, "toss_a"))
    for t in (3.0, 6.0):
        hide(table, 2, t)
        table.mat_event(Strike(t, (2,)))
        table.mat_event(BeadsAtRest(t, ()))
    seals = {fact.hash: batch for batch, fact in journal.read() if isinstance(fact, Commit)}
    openings = [fact for _, fact in journal.read() if isinstance(fact, Reveal)]
    assert len(openings) == len(seals) == 2
    for seal, opened in zip(seals, openings, strict=True):
        bound = CommitmentContext(opened.table, opened.epoch, opened.event)
        assert bound == ("Hall", journal.meta.epoch, seals[seal])
        assert check(seal, "dakota", opened.hide, opened.pad, opened.nonce, bound)
        assert not check(seal, "dakota", opened.hide, opened.pad, opened.nonce)
    shown = table.view.opening
    assert (shown.table, shown.epoch, shown.event) == ("Hall", journal.meta.epoch, seals[shown.hash])
