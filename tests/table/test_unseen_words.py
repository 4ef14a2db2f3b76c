"""What nobody sees in a judge's words moves no terminal and makes no line of its own: not in, and not out."""

import json
import unicodedata

import pytest
from seats import sit

from pi_controller.cli.journals import game_export as export
from pi_controller.cli.journals import game_record as record
from pi_controller.cli.journals import game_verify as verify
from pi_controller.cli.replay import game_replay as replay
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.terminal import render_text
from pi_controller.journal.journal import Journal
from pi_controller.record.file import read
from pi_controller.referee.facts import CommandIssued, ProtestRuled
from pi_controller.referee.judge import JudgeAction, JudgeProtest, JudgeRuling
from pi_controller.rules import registry
from pi_controller.runtime.console import parse_line
from pi_controller.table.table import Command
from pi_controller.text import strip_controls
from pi_controller.web import api, requests

HOSTILE = (
    "the\x1b[2J\x1b]0;owned\x07 bead\x9b31m lay\x08\x08\x7f\u202eereht\u202c \u2066x\u2069\u200f\u00ad\ufeff\u200b"
    "\r\n   99  judge: Ann has won\u2028  100  forged\u2029\t\x85.\U000e0041"
)
PLAIN = "the[2J]0;owned bead31m layereht x    99  judge: Ann has won   100  forged   ."
JOINED = "می\u200cخواهم क्\u200dष"


def bad(text, lines=True):
    """Return what is in `text` that nobody sees."""
    return {
        char
        for char in text
        if (unicodedata.category(char)[0] == "C" or char in "\u2028\u2029")
        and char not in ("\u200c\u200d" + "\n" * lines)
    }


def test_control_characters_are_stripped_and_lines_joined():
    assert strip_controls(HOSTILE) == PLAIN
    assert strip_controls("an a\u0301b, 日本, \ue000?") == "an a\u0301b, 日本, ?"


def test_the_joiners_that_scripts_are_spelled_with_stay():
    assert strip_controls(JOINED) == JOINED
    assert strip_controls("\U0001f469\u200d\U0001f33e") == "\U0001f469\u200d\U0001f33e"


def test_strip_controls_removes_every_unseen_character():
    everything = "".join(map(chr, range(0x110000)))
    assert bad(strip_controls(everything), lines=False) == set()
    assert strip_controls(strip_controls(everything)) == strip_controls(everything)


def play(path, reason):
    """Play a little with `reason` wherever words are given, as an older version wrote them; return the view."""
    names = {"A": "Big Coulee", "B": reason[:60]}
    journal = Journal(path)
    table = sit(journal, teams=names)
    calls = (
        JudgeAction(1.0, {"do": "toss", "winner": "A"}),
        JudgeProtest(2.0, "A", reason),
        JudgeRuling(3.0, "denied", reason),
    )
    for n, call in enumerate(calls):
        table.command(Command(call, f"Ann {reason}"[:60], "head", f"key-{n:05}"))
    view = table.view
    journal.close()
    return view


VERBS = [
    (replay, ["{}"]),
    (replay, ["{}", "--json"]),
    (verify, ["{}"]),
    (verify, ["{}", "--json"]),
    (record, ["{}"]),
    (export, ["{}", "--record"]),
    (export, ["{}", "--json"]),
    (export, ["{}", "--print"]),
]


@pytest.mark.parametrize(("main", "args"), VERBS, ids=lambda value: getattr(value, "__module__", "") or " ".join(value))
def test_hostile_text_in_older_journal_prints_clean(tmp_path, capsys, main, args):
    told = {}
    for name, reason in (("hostile", HOSTILE), ("harmless", PLAIN)):
        path = tmp_path / f"{name}.sqlite"
        play(path, reason)
        assert main([arg.format(path) for arg in args]) == 0
        told[name] = capsys.readouterr().out
    assert bad(told["hostile"]) == set()
    assert told["hostile"].count("\n") == told["harmless"].count("\n")
    assert "owned" in told["hostile"] or main is verify


def test_hostile_text_exports_and_replays_clean(tmp_path, capsys):
    path = tmp_path / "game.sqlite"
    play(path, HOSTILE)
    assert export([str(path), "-o", str(tmp_path / "out")]) == 0
    for written in (tmp_path / "out").iterdir():
        assert bad(written.read_text("utf-8-sig")) == set()  # the mark that a spreadsheet wants is not of the text
    assert replay([str(tmp_path / "out" / "game.record")]) == 0
    assert bad(capsys.readouterr().out) == set()


def test_foreign_record_with_hostile_text_prints_clean(tmp_path, capsys):
    """What stands in it quoted says as much, and is told quoted."""
    text = f"Record: 1\nGame: dakota\nTeam A: {json.dumps(HOSTILE[:60])}\n\n! {json.dumps(HOSTILE)}\n! a\u202eb\nend\n"
    assert read(text.encode()).entries[0].text == HOSTILE
    path = tmp_path / "their.record"
    path.write_text(text, "utf-8")
    replay([str(path)])
    assert bad(capsys.readouterr().out) == set()
    record([str(path)])
    written = capsys.readouterr().out
    assert bad(written) == set()
    assert read(written.encode()).entries == read(text.encode()).entries


def test_table_terminal_prints_hostile_text_clean(tmp_path):
    assert bad(render_text(play(tmp_path / "j.sqlite", HOSTILE), ENGLISH)) == set()


def decode_call(call):
    """Return the judge's call that a console sends."""
    body = json.dumps({"key": "key-00001", "call": call}).encode()
    return api.to_judge_command(requests.decode(body, api.CommandSent))


def test_judge_command_text_is_cleaned_on_input():
    call = {"judge": "ruling", "ruling": "denied", "reason": HOSTILE}
    assert decode_call(call).reason == PLAIN
    call = {"judge": "action", "action": {"do": "start", "player": f"An\u202en {JOINED}"}}
    assert decode_call(call).action["player"] == f"Ann {JOINED}"


def test_typed_line_is_cleaned_on_input():
    line = "ruling denied a\x1b[31m b\u202e\x07"
    assert parse_line(line, 1.0, registry.game("dakota", {})) == JudgeRuling(1.0, "denied", "a[31m b")


def test_older_journal_preserves_hostile_text(tmp_path):
    play(tmp_path / "j.sqlite", HOSTILE)
    with Journal(tmp_path / "j.sqlite", read_only=True) as journal:
        facts = [fact for _, fact in journal.read()]
    assert [fact.reason for fact in facts if isinstance(fact, ProtestRuled)] == [HOSTILE], "these tests' older journal"
    assert any(isinstance(fact, CommandIssued) for fact in facts)
