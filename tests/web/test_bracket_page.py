"""The page of a tournament: the drawing of its bracket, the same in words, nothing that runs or is loaded."""

from __future__ import annotations

import pytest
from matches import play_matches

from pi_controller.cli.pipes import bracket
from pi_controller.display.i18n import ENGLISH
from pi_controller.errors import UsageError
from pi_controller.tournament import Elimination
from pi_controller.web.bracket_page import GRID, bracket_values, drawing
from pi_controller.web.bracket_sheets import page


@pytest.mark.parametrize("kind", ["double", "single", "third place"])
@pytest.mark.parametrize("teams", [2, 3, 5, 6, 8, 11, 16, 24, 33, 64])
def test_bracket_boxes_stay_on_grid_without_overlap(kind, teams):
    cup = Elimination("single", third_place=True) if kind == "third place" else Elimination(kind)
    drawn = drawing(cup, play_matches(cup, [f"T{number}" for number in range(teams)], 999), ENGLISH)
    assert len(drawn.boxes) == len(cup.pairings(play_matches(cup, [f"T{number}" for number in range(teams)], 999)))
    for n, box in enumerate(drawn.boxes):
        assert 0 <= box.x <= drawn.width - GRID.width
        assert 0 < box.y <= drawn.height - GRID.height
        assert box.x % GRID.column == 0
        for other in drawn.boxes[:n]:
            assert abs(box.x - other.x) >= GRID.width or abs(box.y - other.y) >= GRID.height, (box.match, other.match)
        assert not [one for one in drawn.headings if one.x == box.x and box.y - 2 < one.y < box.y + GRID.height + 2]


def test_undecided_slot_names_its_source_match():
    cup = Elimination("double")
    texts = [slot.text for box in drawing(cup, play_matches(cup, list("abcd"), 1), ENGLISH).boxes for slot in box.slots]
    sources = {"Winner of round 1, match 2", "Loser of round 1, match 2", "Winner of the losers' side"}
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
    values = bracket_values(cup, state, ENGLISH)
    assert [heading.text for heading in values["drawing"].headings][-2:] == ["Final", "Third place"]
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
