"""The page of a tournament: the drawing of its bracket, the same in words, nothing that runs or is loaded."""

from __future__ import annotations

import pytest
from matches import play_matches

from pi_controller.cli.pipes import bracket
from pi_controller.display.i18n import ENGLISH
from pi_controller.errors import UsageError
from pi_controller.tournament import Elimination
from pi_controller.web.bracket_page import bracket_values
from pi_controller.web.bracket_sheets import bracket_sheets, page


def test_undecided_slot_names_its_source_match():
    cup = Elimination("double")
    pages = bracket_sheets(cup, play_matches(cup, list("abcd"), 1), ENGLISH)
    texts = [slot.text for one in pages for row in one.rows for cell in row for slot in cell.slots]
    sources = {"Loser of round 1, match 2", "Winner of the losers' side"}
    assert sources <= {*texts}


def test_standings_order_active_by_losses_eliminated_by_place():
    cup = Elimination("double")
    state = play_matches(cup, list("abcdefgh"), 9, seed=4)
    rows = bracket_values(cup, state, ENGLISH)["standings"]
    in_it = [(row["losses"], -row["wins"]) for row in rows if row["place"] is None]
    assert in_it == sorted(in_it) != []
    assert len({losses for losses, _ in in_it}) == 2
    out = [row["place"] for row in rows[len(in_it) :]]
    assert out == sorted(out) != []
    assert all(row["place"] is not None for row in rows[len(in_it) :])


def test_third_place_match_is_in_drawing_and_rounds():
    cup = Elimination("single", third_place=True)
    state = play_matches(cup, list("abcd"), 2)
    final = next(one for one in cup.ready(state) if one.id == "F1")
    state = cup.play(state, {"do": "result", "match": "F1", "winner": final.teams[0]})
    values, pages = bracket_values(cup, state, ENGLISH), bracket_sheets(cup, state, ENGLISH)
    assert {"Final", "Third place"} <= {cell.name for one in pages for row in one.rows for cell in row}
    assert [row["place"] for row in values["standings"]] == [1, 2, None, None]
    assert "Third place" in {one.name for one in values["rounds"]}


def test_markup_in_names_is_escaped():
    cup = Elimination("single")
    html = page(cup, play_matches(cup, ["<b>", "&amp;", "x" * 60], 1), "<i>Cup</i>", ENGLISH)
    assert "<b>" not in html
    assert "<i>Cup</i>" not in html
    assert "&lt;b&gt;" in html
    assert "x" * 60 in html
    assert "<script" not in html


def test_the_verb_writes_it_at_the_end(tmp_path, capsys):
    actions = tmp_path / "cup.jsonl"
    actions.write_text('{"do": "enter", "teams": ["Long Hollow", "Big Coulee"]}\n')
    out = tmp_path / "cup.html"
    assert bracket(["--page", str(out), "--title", "Wacipi", str(actions)]) == 0
    assert "<title>Wacipi</title>" in out.read_text("utf-8")
    with pytest.raises(UsageError, match="cannot write"):
        bracket(["--page", str(tmp_path), str(actions)])
    capsys.readouterr()
