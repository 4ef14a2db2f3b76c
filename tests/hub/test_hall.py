"""The page for the wall: its cards, and the parts of a bracket."""

import pytest
from phases import PHASES

from pi_controller.display.i18n import ENGLISH
from pi_controller.hub.hall import MAX_HEIGHT, wall_parts
from pi_controller.hub.hub import TableStatus
from pi_controller.tournament import Elimination, Groups, RoundRobin


def at_tables(*views):
    return tuple(TableStatus(f"t{n:02d}", f"Table {n}", "ready", view) for n, view in enumerate(views, 1))


def test_hall_rows_contain_no_pad_marks(site):
    for name, view in PHASES.items():
        site.pages.publish(at_tables(view))
        tables = site.pages._boards.regions("hall")["tables"]
        assert not {'data-value="bead"', 'data-value="found"', "<svg"} & set(tables.replace(">", " ").split()), name


@pytest.mark.parametrize("kind", ["double", "single", "third place"])
@pytest.mark.parametrize("names", ["{}", "The moccasin game of team {}"])
def test_each_match_is_in_one_part_that_fits(kind, names):
    cup = Elimination("single", third_place=True) if kind == "third place" else Elimination(kind)
    for count in range(2, 65):
        state = cup.play(cup.opening, {"do": "enter", "teams": [names.format(n) for n in range(count)]})
        parts = wall_parts(cup, state, ENGLISH)
        boxes = [box for part in parts for box in part.drawing.boxes]
        assert sorted(box.match for box in boxes) == sorted(one.id for one in cup.pairings(state))
        for drawn, grid, is_current in parts:
            assert drawn.width <= 635
            assert drawn.height <= MAX_HEIGHT
            assert is_current == any(box.ready for box in drawn.boxes)
            for n, box in enumerate(drawn.boxes):
                assert box.x + grid.width <= drawn.width
                assert box.y + grid.height <= drawn.height
                others = [other for other in drawn.boxes[:n] if other.x == box.x]
                assert all(abs(other.y - box.y) >= grid.height for other in others)
                assert not [one for one in drawn.headings if one.x == box.x and box.y < one.y < box.y + grid.height]


@pytest.mark.parametrize(("kind", "count"), [("single", 8), ("single", 5), ("double", 3)])
def test_small_bracket_is_one_part(kind, count):
    cup = Elimination(kind)
    state = cup.play(cup.opening, {"do": "enter", "teams": [f"Spirit Lake {n}" for n in range(count)]})
    assert len(wall_parts(cup, state, ENGLISH)) == 1


def test_won_final_stays_on_the_wall():
    cup = Elimination("single")
    state = cup.play(cup.opening, {"do": "enter", "teams": [f"T{n}" for n in range(16)]})
    while ready := cup.ready(state):
        state = cup.play(state, {"do": "result", "match": ready[0].id, "winner": ready[0].teams[0]})
    assert [
        [box.match for box in part.drawing.boxes][-1] for part in wall_parts(cup, state, ENGLISH) if part.is_current
    ] == ["F1"]


def test_tournament_without_a_bracket_has_no_parts():
    teams = [f"T{n}" for n in range(8)]
    for competition in (RoundRobin(), Groups(groups=2)):
        assert (
            wall_parts(competition, competition.play(competition.opening, {"do": "enter", "teams": teams}), ENGLISH)
            == ()
        )
