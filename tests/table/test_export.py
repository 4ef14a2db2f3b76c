"""A game written out: the record, the score sheet, and the sheet to print, which shows all that the journal holds."""

import csv
import io
import json
import random
import re
from contextlib import suppress
from html import unescape
from html.parser import HTMLParser

import pytest
from cases import cases
from printed import need_pango, read_pdf
from random_play import RandomPlay
from seats import sit

from pi_controller.cli import main
from pi_controller.errors import JournalError, MatError, UsageError
from pi_controller.journal.export import CSV_COLUMNS, ExportError, as_csv, as_json
from pi_controller.journal.journal import Journal
from pi_controller.journal.read_record import read_journal_record
from pi_controller.journal.sheet import sheet_of
from pi_controller.record.file import read
from pi_controller.record.playthrough import SET
from pi_controller.record.writing import start_playthrough
from pi_controller.referee.facts import GameOpened
from pi_controller.referee.history import fold
from pi_controller.referee.judge import (
    JudgeAction,
    JudgeClock,
    JudgeProtest,
    JudgeRuling,
    JudgeSensors,
    JudgeSet,
    JudgeUndo,
)
from pi_controller.rules import registry
from pi_controller.table.table import Command
from pi_controller.text import strip_controls
from pi_controller.web.score_sheet import print_sheet

NAMES = [
    "Big <Coulee> & Söhne",
    '"><script>alert(1)</script>',
    "قبيلة الدكوتا",
    "日本\u202eevil\u2066",
    "\0\x1b[31mRed",
    "👩\u200d👩\u200d👧 W",
]
TAGS = set("html head meta title style body h1 p table thead tbody tr th td div code bdi br span".split())  # noqa: SIM905


def table_of(journal, name, options=None, teams=("Red", "Blue"), t=1_700_000_000.0):
    return sit(journal, name, options, dict(zip("AB", teams, strict=True)), t)


@pytest.fixture
def path(tmp_path):
    """A game with a find, a foul, and a hit that was taken back for a reason."""
    path = tmp_path / "final.sqlite"
    with Journal(path) as journal:
        table = table_of(journal, "dakota", {"points": "3"})
        t = 1_700_000_000.0
        table.judge(JudgeAction(t + 5, {"do": "toss", "winner": "A"}))
        table.judge(JudgeAction(t + 65, {"do": "hit", "found": True}))
        table.judge(JudgeUndo(t + 70, "the wrong <pad>"))
        table.judge(JudgeAction(t + 75, {"do": "hit", "found": False, "pad": 2}))
        table.judge(JudgeAction(t + 80, {"do": "hit", "found": True, "pad": 3}))
        table.judge(JudgeAction(t + 3700, {"do": "foul", "by": "hider", "kind": "no_bead", "hide": "this"}))
    return path


class Page(HTMLParser):
    """The texts of a page, its rows, and whatever could run or load."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.tags, self.attributes, self.inside = [], set(), set(), False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data


def sheet(path):
    with Journal(path, read_only=True) as journal:
        return sheet_of(journal)


def test_the_sheet_tells_the_game(path):
    told = sheet(path)
    assert [(line.turn, line.kind, line.what, line.counts) for line in told.lines] == [
        (0, "action", "toss A", True),
        (1, "action", "hit found", False),
        (1, "ruling", "taken back: the wrong <pad>", True),
        (1, "action", "hit missed 2", True),
        (1, "action", "hit found 3", True),
        (2, "foul", "foul hider no_bead", True),
    ]
    assert [line.t for line in told.lines] == [5.0, 65.0, 70.0, 75.0, 80.0, 3700.0]
    assert told.lines[4].calls == ("paguga",)
    assert dict(told.options) == {"points": 3}
    dakota = registry.game("dakota", {"points": "3"})
    with Journal(path) as journal:
        assert told.state == dakota.sheet(fold(dakota, journal.read()).state)
        assert told.head == journal.head


def test_page_has_row_per_line_with_sticks(path):
    rows = Page(print_sheet(sheet(path))).rows
    assert rows[0][:4] == ["Time", "Hide", "Action", "Called"]
    assert [head.split()[-1] for head in rows[0][4:]] == ["A", "B", "A", "B", "middle"]
    assert rows[1] == ["0:00:05", "", "Red won the toss [judge]", "", "0", "0", "4", "0", "16"]
    assert rows[2] == ["0:01:05", "1 A", "Found [judge]", "", "", "", "", "", ""]
    assert rows[3] == ["0:01:10", "", "taken back: the wrong <pad>", "", "", "", "", "", ""]
    assert (rows[5][2], rows[5][4:]) == ("Found under pad 3 [judge]", ["0", "0", "8", "0", "12"])
    assert rows[6][:3] == ["1:01:40", "2 A", "foul hider no bead [judge]"]


def test_the_page_is_signed_and_proven(path):
    told = sheet(path)
    html = print_sheet(told)
    for who in ("Captain of <bdi>Red</bdi> (A)", "Captain of <bdi>Blue</bdi> (B)", "Judge"):
        assert f"<div>{who}</div>" in html
    assert told.head[1] in html.replace(" ", "")
    assert f'content: "dakota, {told.head[1][:16]}"' in html  # at the foot of each page
    assert "2023-11-" in html
    assert "Not finished" in html
    assert "size: letter" in print_sheet(told, "letter")


@pytest.mark.parametrize("name", NAMES)
def test_a_name_may_be_anything(tmp_path, name):
    with Journal(tmp_path / "j") as journal:
        table = table_of(journal, "dakota", teams=(name, name))
        table.judge(JudgeAction(1.0, {"do": "toss", "winner": "A"}))
        table.judge(JudgeUndo(2.0, name))
        html = print_sheet(sheet_of(journal))
    found = Page(html)
    assert found.tags <= TAGS
    assert not {one for one in found.attributes if one.startswith("on") or one in ("href", "src", "style")}
    assert strip_controls(name) in unescape(html)
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066\u2067]", html)


@pytest.mark.parametrize("name", registry.names())
def test_every_game_has_its_sheet(tmp_path, name):
    options = {"players": "Ana,<b>Č</b>,قبيلة"} if name in ("bageswin", "patol") else {}
    with Journal(tmp_path / "j") as journal:
        table = table_of(journal, name, options)
        for n in range(1, 12):
            table.judge(JudgeAction(float(n), table.game.legal_actions(table.story.state)[0]))
            if table.story.phase == "over":
                break
        told = sheet_of(journal)
    rows = Page(print_sheet(told)).rows
    assert len(rows) == 1 + len(told.lines)
    assert len({len(row) for row in rows}) == 1
    counted = [str(n) for _, _, n in told.rules.scoreboard(told.state).list_counts()]
    assert counted
    assert rows[-1][-len(counted) :] == counted
    assert max(line.turn for line in told.lines) >= 1


def played(path, name, seed):
    """Play a game with all that a judge may say, by chance."""
    chance = random.Random(seed)
    with Journal(path) as journal:
        table = table_of(journal, name, {"players": "Ana,Bo,Cy"} if name in ("bageswin", "patol") else {})
        judge = RandomPlay(chance, table.game)
        for _ in range(240):
            with suppress(MatError):
                table.judge(judge.judge_call(table.story))


@pytest.mark.parametrize("seed", range(cases(1, 3)))
@pytest.mark.parametrize("name", registry.names())
def test_hides_are_numbered_as_in_the_record(tmp_path, name, seed):
    played(tmp_path / "j", name, seed)
    told, record = sheet(tmp_path / "j"), read_journal_record(str(tmp_path / "j"))
    course, numbers = start_playthrough(record), []
    for move in record.moves():
        course.play(move.action)
        if move.action["do"] != SET:
            numbers.append(course.turn)
    lines = [line for line in told.lines if line.counts and line.action]
    assert [line.turn for line in lines] == numbers
    assert course.sheet == told.state
    assert len(numbers) > 3


def test_table_calls_are_on_the_sheet(tmp_path):
    with Journal(tmp_path / "j") as journal:
        table = table_of(journal, "dakota")
        t = 1_700_000_000.0
        table.judge(JudgeAction(t, {"do": "toss", "winner": "A"}))
        sheet_then = table.game.sheet(table.story.state)
        table.judge(JudgeSensors(t, on=False, reason="a broken wire"))
        table.judge(JudgeProtest(t, "B", "his sleeve"))
        table.judge(JudgeRuling(t, "denied", "nobody saw it"))
        table.judge(JudgeClock(t, running=False, reason="the lights"))
        table.judge(JudgeSet(t, sheet_then, "counted anew"))
        told = sheet_of(journal)
    said = [
        "toss A",
        "play goes on without what the mat feels: a broken wire",
        "Blue (B) protests, play stands",
        "the protest is denied, play goes on: nobody saw it",
        "the clock is stopped: the lights",
        "the table stands so: counted anew",
    ]
    assert [line.what for line in told.lines] == said
    for html in (print_sheet(told), as_json(told)):
        assert all(line in html for line in said[1:2] + said[3:])
        assert "sleeve" not in html, "the words of a protest are for the judges"


def test_all_as_files(path, tmp_path, capsys):
    folder = tmp_path / "out" / "new"
    assert main(["game", "export", str(path), "-o", str(folder)]) == 0
    assert capsys.readouterr().out.split() == [
        str(folder / f"final.{end}") for end in ("record", "json", "csv", "html")
    ]
    record = read((folder / "final.record").read_bytes())
    assert not record.faults
    told = json.loads((folder / "final.json").read_text("utf-8"))
    assert [line["action"] for line in told["lines"] if line["counts"] and line["action"]] == [
        dict(move.action) for move in record.moves()
    ]
    assert tuple(told["head"]) == sheet(path).head
    for option, file in (("--record", "record"), ("--json", "json"), ("--print", "html")):
        assert main(["game", "export", str(path), option]) == 0
        assert capsys.readouterr().out == (folder / f"final.{file}").read_text("utf-8")


def test_impossible_export_is_refused(path, tmp_path):
    for argv in ([str(path)], [str(path), "--json", "--print"], [str(path), "--json", "--pdf"]):
        assert main(["game", "export", *argv]) == 2
    from pi_controller.cli.journals import game_export as export

    with pytest.raises(UsageError):
        export([str(path), "--print", "--pdf"])
    with pytest.raises(ExportError, match="cannot write to"):
        export([str(path), "-o", str(path / "below")])
    Journal(tmp_path / "fresh").close()
    with pytest.raises(JournalError, match="no game yet"):
        export([str(tmp_path / "fresh"), "--json"])


def test_a_spreadsheet_reads_it(path, capsysbinary):
    assert main(["game", "export", str(path), "--csv"]) == 0
    data = capsysbinary.readouterr().out
    assert data.startswith(
        b"\xef\xbb\xbf" + b",".join(name.encode() for name in CSV_COLUMNS) + b",points.A,points.B,sticks.A,sticks.B,"
    )
    assert data.count(b"\r\n") == data.count(b"\n") == 7
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
    assert [(row["turn"], row["kind"], row["what"], row["calls"], row["by"], row["counts"]) for row in rows[:3]] == [
        ("0", "action", "toss A", "", "judge", "yes"),
        ("1", "action", "hit found", "", "judge", "no"),
        ("1", "ruling", "taken back: the wrong <pad>", "", "", "yes"),
    ]
    assert [row["sticks.A"] for row in rows] == ["4", "", "", "4", "8", "4"]
    assert (rows[4]["calls"], rows[5]["time_s"]) == ("paguga", "3700.0")


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1", "\u202e=1", '=HYPERLINK("x")'])
def test_no_text_is_a_formula(name, tmp_path):
    with Journal(tmp_path / "f.sqlite") as journal:
        table = table_of(journal, "dakota", teams=(name, "Blue"))
        t = 1_700_000_000.0
        table.judge(JudgeAction(t + 1, {"do": "toss", "winner": "A"}))
        table.judge(JudgeProtest(t + 2, "A", name))
        undo = JudgeUndo(t + 3, name)
        table.judge(undo, Command(undo, name, "judge", "undo-0001", None))
        text = as_csv(sheet_of(journal))
    cells = [cell for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"))) for cell in row]
    assert not [cell for cell in cells if cell.strip().startswith(tuple("=+-@"))]
    assert any(cell.startswith("'") for cell in cells)


def test_players_and_their_counters_have_columns(tmp_path):
    with Journal(tmp_path / "b.sqlite") as journal:
        table = table_of(journal, "bageswin", {"players": "=Ann,Bo"})
        table.judge(JudgeAction(1_700_000_001.0, {"do": "double_tap"}))
        rows = list(csv.reader(io.StringIO(as_csv(sheet_of(journal)).removeprefix("\ufeff"))))
    assert [name for name in rows[0] if name.endswith(("Ann", "Bo"))]
    assert not [cell for row in rows for cell in row if cell.startswith("=")]


def test_short_game_is_printed_on_one_letter_page(path, tmp_path):
    need_pango()
    assert main(["game", "export", str(path), "-o", str(tmp_path / "out"), "--pdf", "--paper", "letter"]) == 0
    (page,) = read_pdf(tmp_path / "out" / "final.pdf")
    assert page.size == (216, 279)
    assert page.is_whole
    assert "Captain of Red (A) Captain of Blue (B) Judge" in page.text
    assert "Found under pad 3 [judge]" in page.text
    assert page.text.endswith("1 / 1")


def test_a_game_of_another_clock_has_no_day(tmp_path):
    with Journal(tmp_path / "j") as journal:
        journal.append(
            [GameOpened(12.0, "dakota", "1", "x", dict(registry.game("dakota").settings), {"A": "A", "B": "B"})]
        )
        html = print_sheet(sheet_of(journal))
    assert "begun" not in html
    assert "<h1><bdi>A</bdi> against <bdi>B</bdi></h1>" in html
