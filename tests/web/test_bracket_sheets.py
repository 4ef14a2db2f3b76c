"""The bracket on paper: each side on pages of its own, A4 and Letter, with nothing cut."""

import re
from collections import Counter

import pytest
from cases import cases
from matches import play_matches
from printed import need_pango, read_pdf

from pi_controller.cli.pipes import bracket
from pi_controller.display.i18n import ENGLISH
from pi_controller.host.pdf import write_pdf
from pi_controller.tournament import Elimination, Groups, RoundRobin
from pi_controller.web.bracket_sheets import MAX_COLUMNS, MAX_ROWS, bracket_sheets, page

SIZES = {"A4": (210, 297), "letter": (216, 279)}
SIDES = r"Winners' side|Losers' side|Final(?!,)"


def name_teams(teams):
    """Return names of 20 letters."""
    return [f"Team of the Lakes {number:02}" for number in range(teams)]


def elimination(kind):
    return Elimination("single", third_place=True) if kind == "third place" else Elimination(kind)


@pytest.mark.parametrize("kind", ["double", "single", "third place"])
@pytest.mark.parametrize("teams", [2, 3, 5, 8, 11, 16, 24, 33, 64, 128])
def test_each_match_is_on_exactly_one_page(kind, teams):
    cup = elimination(kind)
    state = play_matches(cup, name_teams(teams), teams)
    pages = bracket_sheets(cup, state, ENGLISH)
    matches = [(one.heading, cell.name) for one in pages for row in one.rows for cell in row if "match" in cell.look]
    assert len(set(matches)) == len(matches) == len(cup.pairings(state))
    for one in pages:
        assert one.columns <= MAX_COLUMNS
        assert len(one.rows) <= 2 * MAX_ROWS
        columns = [0] * len(one.rows)
        for number, row in enumerate(one.rows):
            for cell in row:
                for below in range(cell.rows):
                    columns[number + below] += 1
        assert set(columns) == {2 * one.columns - 1}, "the table has no holes"


def test_place_is_free_only_where_a_line_leads():
    cup = Elimination("double")
    pages = bracket_sheets(cup, play_matches(cup, name_teams(8), 0), ENGLISH)
    losers = next(one for one in pages if one.heading == "Losers' side")
    cells = [cell for row in losers.rows for cell in row if "match" in cell.look]
    free = sum(slot.text == "" for cell in cells for slot in cell.slots)
    lines = Counter(cell.look for row in losers.rows for cell in row)
    assert free == 2 * lines["fork"] + lines["line"]


def test_large_side_is_divided_by_halves_and_rounds():
    cup = Elimination("double")
    headings = [one.heading for one in bracket_sheets(cup, play_matches(cup, name_teams(32), 0), ENGLISH)]
    assert headings == [
        "Winners' side: Rounds 1 to 3 (1 of 3)",
        "Winners' side: Rounds 1 to 3 (2 of 3)",
        "Winners' side: Rounds 4 to 5 (3 of 3)",
        "Losers' side: Rounds 1 to 4 (1 of 2)",
        "Losers' side: Rounds 5 to 8 (2 of 2)",
        "Final",
    ]


@pytest.mark.parametrize("paper", cases(["A4"], [*SIZES]))
@pytest.mark.parametrize(
    ("kind", "teams"),
    [("double", 8), *cases([], [("double", 16), ("double", 32), ("single", 32), ("third place", 16)])],
)
def test_printed_bracket_has_sides_apart_and_names_whole(kind, teams, paper, tmp_path):
    need_pango()
    cup, names = elimination(kind), name_teams(teams)
    state = play_matches(cup, names, 999)
    sheets = bracket_sheets(cup, state, ENGLISH)
    pages = read_pdf(write_pdf(page(cup, state, "Cup", ENGLISH), tmp_path / "cup.pdf", paper=paper))
    assert all(one.is_whole and one.smallest >= 7.99 for one in pages)
    width, height = SIZES[paper]
    assert [one.size for one in pages[: len(sheets)]] == [(height, width)] * len(sheets)
    assert {one.size for one in pages[len(sheets) :]} == {(width, height)}
    for printed, sheet in zip(pages, sheets, strict=False):
        slots = [slot.text for row in sheet.rows for cell in row for slot in cell.slots]
        assert all(text in printed.text for text in slots)
        assert len(set(re.findall(SIDES, printed.text))) <= 1
    standings = pages[len(sheets)].text
    assert standings.startswith("Standings")
    assert "against" not in standings
    assert all(name in standings for name in names)


@pytest.mark.parametrize("teams", [16])
def test_longest_names_do_not_fill_a_second_page(teams, tmp_path):
    need_pango()
    cup = Elimination("single")
    names = [f"The {number} Hunters of the Fourth Street at the Lake of Sisseton"[:60] for number in range(teams)]
    pages = read_pdf(write_pdf(page(cup, play_matches(cup, names, 99), "Cup", ENGLISH), tmp_path / "cup.pdf"))
    assert all(name in pages[0].text for name in names)
    assert pages[1].text.startswith("Standings")


@pytest.mark.parametrize("competition", [RoundRobin(), Groups(2, 2, "single")])
def test_groups_print_without_an_empty_page(competition, tmp_path):
    need_pango()
    html = page(competition, play_matches(competition, name_teams(8), 3), "Cup", ENGLISH)
    pages = read_pdf(write_pdf(html, tmp_path / "cup.pdf", paper="letter"))
    assert {one.size for one in pages} == {SIZES["letter"]}
    assert pages[0].text.startswith("Cup Standings")
    assert "against" in pages[1].text


def test_verb_prints_the_bracket(tmp_path, capsys):
    need_pango()
    actions, out = tmp_path / "cup.jsonl", tmp_path / "cup.pdf"
    actions.write_text('{"do": "enter", "teams": ["Long Hollow", "Big Coulee"]}\n')
    assert bracket(["--page", str(out), "--paper", "Letter", str(actions)]) == 0
    assert read_pdf(out)[0].size == (279, 216)
    capsys.readouterr()
