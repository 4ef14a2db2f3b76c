"""The page for the wall: its cards, the parts of a bracket, and the champion."""

import html
import re
from contextlib import closing

import pytest
from hub_venue import Venue
from phases import PHASES

from pi_controller.display.i18n import ENGLISH
from pi_controller.hub.boards import Boards
from pi_controller.hub.hall import MAX_ROWS, WHOLE_CHARS, wall_parts
from pi_controller.hub.hub import TableStatus
from pi_controller.tournament import Elimination, Groups, RoundRobin
from pi_controller.tournament import decisions as d


def at_tables(*views):
    return tuple(TableStatus(f"t{n:02d}", f"Table {n}", "ready", view) for n, view in enumerate(views, 1))


def entered(cup, count, name="T{}"):
    return cup.play(cup.opening, {"do": "enter", "teams": [name.format(n) for n in range(count)]})


def matches_of(part):
    return [match for one in part.rounds for match in one.matches]


def test_hall_rows_contain_no_pad_marks(site):
    for name, view in PHASES.items():
        site.pages.publish(at_tables(view))
        tables = site.pages._boards.regions("hall")["tables"]
        assert not {'data-value="bead"', 'data-value="found"', "<svg"} & set(tables.replace(">", " ").split()), name


@pytest.mark.parametrize("kind", ["double", "single", "third place"])
@pytest.mark.parametrize(("name", "columns"), [("{}", 2), ("The moccasin game of team {}", 1)])
def test_each_match_is_in_one_small_part(kind, name, columns):
    cup = Elimination("single", third_place=True) if kind == "third place" else Elimination(kind)
    for count in range(2, 65):
        state = entered(cup, count, name)
        parts = wall_parts(cup, state, ENGLISH)
        matches = [match for part in parts for match in matches_of(part)]
        assert sorted(one.match for one in matches) == sorted(one.id for one in cup.pairings(state))
        for part in parts:
            assert part.columns == columns
            assert sum(one.rows(columns) for one in part.rounds) <= MAX_ROWS
            assert part.is_current == any(one.ready for one in matches_of(part))


def test_small_bracket_is_one_part():
    cup = Elimination("single")
    assert len(wall_parts(cup, entered(cup, 4), ENGLISH)) == 1


def test_final_is_with_rounds_before_it():
    cup = Elimination("single")
    last = wall_parts(cup, entered(cup, 8, "x" * (WHOLE_CHARS - 1) + "{}"), ENGLISH)[-1]
    assert [one.name for one in last.rounds] == ["Round 2", "Final"]
    assert [one.name for one in matches_of(last)] == ["Match 1", "Match 2", ""]


def test_won_final_stays_on_the_wall():
    cup = Elimination("single")
    state = entered(cup, 16)
    while ready := cup.ready(state):
        state = cup.play(state, {"do": "result", "match": ready[0].id, "winner": ready[0].teams[0]})
    (current,) = (part for part in wall_parts(cup, state, ENGLISH) if part.is_current)
    assert matches_of(current)[-1].match == "F1"


def test_tournament_without_a_bracket_has_no_parts():
    for competition in (RoundRobin(), Groups(groups=2)):
        assert wall_parts(competition, entered(competition, 8), ENGLISH) == ()


def shown_end(boards, page="hall"):
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", boards.regions(page)["end"])).split())


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"format": "single"}, "Final against {1}"),
        ({"format": "double", "best_of": 3}, "Final: 2 to 0 against {1}"),
        ({"format": "round_robin"}, "{1} {2}"),
    ],
)
def test_champion_is_shown_when_all_is_played(site, plan, told):
    teams = ("Big Coulee", "Long Hollow", "<b>Buffalo</b>")
    site.sign_in()
    for fact in (
        {"do": "plan", "title": "Wacipi", **plan},
        {"do": "enter", "teams": [{"name": team} for team in teams]},
        {"do": "draw", "order": [*teams]},
    ):
        assert site.decide(**fact).status_code == 200
    boards = site.pages._boards
    while ready := site.director.now.ready:
        assert shown_end(boards) == shown_end(boards, "announcer") == ""
        winner = min(ready[0].teams, key=teams.index)
        assert site.decide(do="result", match=ready[0].id, winner=winner).status_code == 200
    for page in ("hall", "announcer"):
        assert shown_end(boards, page) == f"Winner of the tournament Big Coulee {told.format(*teams)}"
    assert "Place 1" in site.web.get("/team/1").text
    assert "Winner of the tournament: Big Coulee" in site.web.get("/team/3").text
    assert boards.describe_day().startswith("Big Coulee has won the tournament. ")


def test_final_shows_its_score_and_course(tmp_path):
    with closing(Venue(tmp_path / "hub.sqlite", format="single")) as venue:
        for match in ("W1-1", "W1-2"):
            venue.director.decide(3.0, "Ann", d.Result(match, venue.director.now.pairing(match).teams[0]))
        venue.play_match(tmp_path, "F1")
        boards = Boards(venue.director, lambda: 9.0, ENGLISH)
        winner, loser = venue.director.now.pairing("F1").teams
        played = venue.director.played_game("F1")
        assert dict(played.teams) == {"A": winner, "B": loser}
        told = "Final: {A} to {B} against {loser}".format(**played.scores, loser=loser)
        assert shown_end(boards).startswith(f"Winner of the tournament {winner} {told}")
        assert boards.regions("hall")["end"].count("<polyline class=") == 4, "two lines, and the key"
        assert venue.director.played_game("W1-1") is None, "its result was entered by hand"
