"""Matches have names on all pages: no person reads the key of a match, as the tournament's records have it."""

import csv
import io
import re
import secrets
from html.parser import HTMLParser

import pytest

from pi_controller.display.i18n import ENGLISH
from pi_controller.hub.director import Director, GameAtTable
from pi_controller.hub.hub import TableStatus
from pi_controller.text import Sentence
from pi_controller.tournament import Elimination, Groups, RoundRobin
from pi_controller.tournament import decisions as d
from pi_controller.web.bracket_page import name_match

KEY = re.compile(r"\b(?:[A-Z]\.)?[WLRP]\d+-\d+|\b(?:F[12]|P3)\b")
PAGES = ("", "hall", "bracket", "results", "start-list", "announcer", "director", *(f"team/{n}" for n in range(1, 9)))
TEAMS = ("Big Coulee", "Long Hollow", "Buffalo Lake", "Enemy Swim", "Peever", "Veblen", "Heipa", "Old Agency")
SAID = {"aria-label", "title", "placeholder", "label", "alt", "data-ask"}
"""Attributes whose values a person reads or hears."""
KINDS = {
    "double": {"format": "double"},
    "third place": {"format": "single", "third_place": True, "best_of": 3},
    "groups": {"format": "groups"},
    "round robin": {"format": "round_robin"},
}


class Reader(HTMLParser):
    """Collects what a person reads of a page."""

    def __init__(self, page):
        super().__init__()
        self.read = []
        self.feed(page)

    def handle_starttag(self, _, attributes):
        self.read += [value for name, value in attributes if name in SAID]

    def handle_data(self, data):
        self.read.append(data)


def plan(site, **kind):
    site.sign_in()
    for fact in (
        {"do": "plan", "title": "Wacipi", "calling": "director", **kind},
        {"do": "enter", "teams": [{"name": team} for team in TEAMS]},
    ):
        assert site.decide(**fact).status_code == 200


def reject_keys(site):
    for path in PAGES:
        read = Reader(site.web.get(f"/{path}").text).read
        assert [text for text in read if KEY.search(text)] == [], path
    rows = csv.reader(io.StringIO(site.web.get("/results.csv").text))
    assert [row for row in rows if KEY.search(" ".join(row))] == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_shows_the_key_of_a_match(site, view, monkeypatch, kind):
    plan(site, **KINDS[kind])
    site.pages.publish(tuple(TableStatus(f"t0{n}", f"Table {n}", "ready", view()) for n in (1, 2, 3)))
    site.bring_to_play(TEAMS)
    reject_keys(site)
    open_ = site.director.now.ready[0].id
    game = GameAtTable("t03", open_, "a-1", TEAMS[:2], "changed", begun=True)
    site.director.note("copy", Sentence("{match} cannot go on at {table}", match=open_, table="t03"))
    with monkeypatch.context() as patch:
        patch.setattr(Director, "games_at_tables", lambda _: (game,))
        reject_keys(site)
    site.director.decide(11.0, "Cy", d.ProtestDecided(site.director.now.open_protests[0].number, "denied", "seen"))
    while ready := site.director.now.ready:
        assert site.decide(do="result", match=ready[-1].id, winner=ready[-1].teams[0]).status_code == 200
    reject_keys(site)


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        ({"do": "assign", "match": "W2-1", "table": "t01"}, "Winners' side, round 2, match 1 is not ready"),
        ({"do": "recall", "match": "W1-2"}, "Winners' side, round 1, match 2 is not at a table"),
        ({"do": "correct", "match": "W1-2", "winner": TEAMS[3]}, "Winners' side, round 1, match 2 has no result"),
        ({"do": "result", "match": "F1", "winner": TEAMS[0]}, "Final, match 1 is not ready"),
    ],
)
def test_refusal_names_the_match_for_people(site, view, fact, words):
    plan(site)
    site.pages.publish((TableStatus("t01", "Table 1", "ready", view()),))
    assert site.decide(do="draw", order=[*TEAMS]).status_code == 200
    error = site.decide(**fact).json()["error"]
    assert words in error["message"]
    undone = site.web.post("/director/undo", json={"key": secrets.token_hex(8)})
    assert not KEY.search(undone.text)


@pytest.mark.parametrize(
    "competition",
    [Elimination("double"), Elimination("single", third_place=True), Groups(groups=2), RoundRobin(best_of=3)],
    ids=["double", "single", "groups", "round robin"],
)
def test_names_of_matches_are_different(competition):
    for count in (8, 13, 32):
        state = competition.play(
            competition.opening, {"do": "enter", "teams": [f"Spirit Lake {n}" for n in range(count)]}
        )
        names = [name_match(competition, one, ENGLISH) for one in competition.pairings(state)]
        assert len({*names}) == len(names)
        assert [name for name in names if KEY.search(name)] == []


def test_match_for_losers_place_has_own_name():
    cup = Elimination("double")
    state = cup.play(cup.opening, {"do": "enter", "teams": list(TEAMS)})
    for team in next(one for one in cup.pairings(state) if one.id == "W1-2").teams:
        state = cup.play(state, {"do": "forfeit", "match": "W1-2", "team": team})
    names = {one.id: name_match(cup, one, ENGLISH) for one in cup.pairings(state)}
    assert names["W1-2-L"] == "Winners' side, round 1, match 2, for the loser's place"
