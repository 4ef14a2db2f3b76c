"""What the rules do not allow never ends the table: it is logged, the judge is asked, and the table goes on."""

import logging

import pytest
from seats import sit

from pi_controller.display import phrases
from pi_controller.referee.facts import Question
from pi_controller.referee.judge import JudgeAction, JudgeAnswer
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.base import IllegalActionError
from pi_controller.rules.registry import names
from pi_controller.sensing.events import Strike
from pi_controller.table.table import RULES_REFUSED

BEGIN = {
    "dakota": {"do": "toss", "winner": "A"},
    "ojibwe": {"do": "toss", "winner": "A"},
    "slahal": {"do": "duo", "A": True, "B": False},
    "plum_stone": {"do": "lot", "first": "A"},
}


def refuse(*args):
    raise IllegalActionError("the clock has no say now")


@pytest.fixture(params=names())
def table(request, memory_journal):
    return sit(memory_journal(), request.param, teams={})


@pytest.mark.parametrize("what", ["_handle_timeout", "_handle_event"])
def test_refused_rules_are_logged_and_asked_once(table, what, monkeypatch, caplog):
    if begin := BEGIN.get(table.game.name):
        table.judge(JudgeAction(1.0, begin))
    referee = table.referee
    monkeypatch.setattr(referee, what, refuse)
    monkeypatch.setattr(referee, "_wait_deadline", lambda story: 0.0 if story.question is None else None)

    def again(t):
        return table.tick(t) if what == "_handle_timeout" else table.mat_event(Strike(t, (1,)))

    with caplog.at_level(logging.ERROR):
        asked = again(2.0)
        for n in range(20):
            again(3.0 + n)
    assert [fact.about for fact in asked if isinstance(fact, Question)] == [RULES_REFUSED]
    assert table.view.question.about == RULES_REFUSED
    assert [record.message for record in caplog.records] == ["the referee cannot go on: the clock has no say now"]
    table.judge(JudgeAnswer(30.0, "play_on"))
    again(31.0)
    assert table.view.question is None
    monkeypatch.undo()
    seq = table.journal.seq
    table.judge(JudgeAction(32.0, table.game.legal_actions(table.story.state)[0]))
    assert table.journal.seq > seq


def test_rules_refused_question_has_text_and_default():
    assert RULES_REFUSED in phrases.QUESTIONS
    assert RefereeSettings(preset="demo").choose_default_answer(RULES_REFUSED, ("play_on",)) == "play_on"
