"""The console's pages and what they offer, without a browser: every button is a call that the table takes."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from page_tree import Tree
from phases import ALL, PHASES, PLAYERS

import pi_controller.web
from pi_controller.display.i18n import ENGLISH
from pi_controller.games.dakota.console import foul_label
from pi_controller.referee.facts import ActionPlayed, BeadShown
from pi_controller.referee.reducer import apply, blank
from pi_controller.referee.story import Protest
from pi_controller.rules import registry
from pi_controller.table.view import view_of
from pi_controller.web import api, requests
from pi_controller.web.console_page import (
    Console,
    ConsoleWriter,
    console,
    console_regions,
    desk_regions,
    page,
)
from pi_controller.web.event_log import LogLine
from pi_controller.web.game_page import page_of
from pi_controller.web.limits import CSP
from pi_controller.web.templates import environment

STATIC = Path(pi_controller.web.__file__).parent / "static"
TEMPLATES = STATIC.parent / "templates"
SCRIPTS = sorted(STATIC.glob("judge*.js"))
BAD = '<b onclick="x">&\u202e'


def told(view, **how) -> Console:
    """Return the console of a view with what the rules allow in it."""
    game = registry.game(view.game, PLAYERS if len(view.scoreboard.sides) > 2 else {})
    legal = game.legal_actions(game.restore(view.sheet))
    return console(view, legal, ENGLISH, options=game.settings, **how)


def list_facts(view, before=None, *, singer=False):
    """Return what the console says of the state of play."""
    return ConsoleWriter(view, ENGLISH).facts(before, singer=singer)


def buttons(content):
    some = [content.play, *([content.again.play] if content.again and content.again.play else [])]
    every = [one for shown in some for one in (shown.ready, shown.submit, *shown.buttons, *shown.more) if one]
    return [*every, *(content.question.buttons if content.question else ())]


@pytest.mark.parametrize("name", PHASES)
def test_every_button_is_a_command_with_unique_id(name):
    content = told(PHASES[name], sets=True)
    for one in buttons(content):
        body = msgspec.json.encode({"key": "key-12345", "expect": None, "call": one.say})
        assert requests.decode(body, api.CommandSent).call.__struct_config__.tag == one.say["judge"]
        assert one.label
        assert one.label[0] == one.label[0].upper()
    ids = [one.id for one in buttons(content)]
    assert len(ids) == len(set(ids))
    keys = [one.key for one in buttons(content) if one.key]
    assert len(keys) == len(set(keys))
    for row in content.play.rows:
        assert len({choice.said or choice.label for choice in row.choices}) == len(row.choices)


@pytest.mark.parametrize("name", PHASES)
def test_console_page_has_no_inline_script_or_style(name):
    view = msgspec.structs.replace(PHASES[name], teams={"A": BAD, "B": "B"}, note=BAD)
    log = (LogLine(7, 12.0, BAD, BAD, undone=True),)
    protest = Protest(0, next(iter(view.teams)), BAD)
    sections = desk_regions(
        view, told(view, sets=True, names=True), ENGLISH, protest=protest, rulings=("upheld",), log=log
    )
    html = page(console_regions(view, ENGLISH) | sections, ENGLISH, me=BAD, as_of="12:00:00")
    Tree(html)
    assert "<b onclick" not in html
    assert "{{" not in html
    assert "unsafe" not in CSP
    assert html.count('<html lang="en">') == 1


def test_script_words_are_all_defined_and_used():
    code = "".join(path.read_text("utf-8") for path in SCRIPTS)
    pages = ("judge.html", "judge_regions.html", "judge_desk.html", "sign_in.html")
    html = "".join((TEMPLATES / name).read_text("utf-8") for name in pages)
    used = set(re.findall(r"words\.(\w+)", code))
    shown = set(re.findall(r"\bwords\.(\w+)", html))
    rulings, by = {"upheld", "denied", "play_on"}, {"foul_hider", "foul_hitter"}
    words = environment().get_template("words.html").make_module({"text": str})
    known = {*words.console, *words.sign_in}
    roles = {key for key in words.console if key.startswith("role_")}
    assert used <= known
    assert known - used - shown == rulings | by | roles


def test_console_states_facts_questions_and_stop_reason():
    assert told(PHASES["held"]).off == ("Play is stopped: Long Hollow protests. Decide below, or let play continue.")
    assert "disk is full" in told(PHASES["halted"]).off
    assert told(PHASES["hit"]).off == ""
    assert "Sensors off" in list_facts(PHASES["held"])
    question = told(PHASES["asked"]).question
    assert question is not None
    assert [one.id for one in question.buttons] == ["answer-foul", "answer-play_on", "answer-hide_again"]
    assert told(PHASES["over"]).question is None


def test_hit_takes_one_touch_and_disables_first_pad():
    first, second = told(PHASES["hit"]).play, told(PHASES["second"]).play
    assert [one.say["action"] for one in first.buttons] == [
        {"do": "hit", "found": True},
        {"do": "hit", "found": False},
    ]
    assert [choice.on for choice in first.rows[0].choices] == [True] * 4
    assert [choice.on for choice in second.rows[0].choices] == [True, False, True, True]


def test_the_last_thing_is_put_right_at_once():
    again = told(PHASES["second"], undo="hit missed 2", last={"do": "hit", "found": False, "pad": 2}).again
    assert again is not None
    assert again.button is not None
    assert again.button.say == {"judge": "replace", "action": {"do": "hit", "found": True, "pad": 2}}
    shot = {"do": "shoot", "opened": [], "hit": 1, "ball": 2}
    again = told(PHASES["ojibwe"], undo="shot", last=shot).again
    assert again is not None
    assert again.play is not None
    assert again.play.submit is not None
    assert again.play.submit.say["judge"] == "replace"
    assert told(PHASES["hit"], undo="foul", last={"do": "foul", "by": "hider", "kind": "no_bead"}).again is None


@pytest.mark.parametrize("game", ["dakota", *ALL])
def test_the_form_holds_the_whole_sheet(game):
    view = PHASES["hit" if game == "dakota" else game]
    sheet = view.sheet
    some = ConsoleWriter(view, ENGLISH).sheet_fields()
    copy = msgspec.json.decode(msgspec.json.encode(sheet))
    for field in some:
        part = sheet
        for key in field.path[:-1]:
            part = part[key]
        assert part[field.path[-1]] == field.value
        if field.choices:
            assert field.value in [value for value, _ in field.choices], field
    assert len({field.label for field in some}) == len(some)
    rules = registry.game(game, ALL.get(game, {}))
    assert rules.sheet(rules.restore(copy)) == rules.sheet(rules.restore(sheet))


def test_no_field_is_of_a_bead():
    content = msgspec.json.encode(told(PHASES["hit"], sets=True)).decode()
    assert "bead" not in content
    assert foul_label("no_bead", ENGLISH) == "There was no bead under the pads"


def test_finished_game_offers_no_buttons():
    shown = page_of(PHASES["over"], ENGLISH).entry_form(PHASES["over"], ())
    assert (shown.title, shown.buttons, shown.rows) == ("The game is over", (), ())


def reminded(*actions, shown=True, game="dakota"):
    """Return the facts on the console of a table at which `actions` were taken, the bead shown after the last."""
    rules = registry.game(game)
    story = blank(rules)
    for action in actions:
        if story.phase == "show" and action["do"] == "hit":
            story = apply(rules, story, BeadShown(1.0))
        calls = rules.play(story.state, action)[1]
        story = apply(rules, story, ActionPlayed(1.0, action, calls, "judge"))
    if shown and story.phase == "show":
        story = apply(rules, story, BeadShown(2.0))
    view = msgspec.structs.replace(view_of(rules, story, 7), teams={"A": "Big Coulee", "B": "Long Hollow"})
    facts = list_facts(view, rules.hiders_before(story.state))
    return [fact for fact in facts if "hides" in fact and not fact.startswith("Next: hide")]


TOSS, MISS, FIND = {"do": "toss", "winner": "A"}, {"do": "hit", "found": False}, {"do": "hit", "found": True}
SKIPPED = {"do": "foul", "by": "hider", "kind": "pad_skipped"}
SHOUT = {"do": "foul", "by": "hitter", "kind": "outside_help"}
NEW = "{} hides: a new hider. Shake out the moccasins."
SAME = "{} hides again: no change of hiders until the bead is found."
MAY = "{} hides again. The hider may change now: then shake out the moccasins."


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([TOSS], NEW.format("Big Coulee")),
        ([TOSS, FIND], NEW.format("Long Hollow")),
        ([TOSS, MISS, MISS], SAME.format("Big Coulee")),
        ([TOSS, MISS, FIND], MAY.format("Big Coulee")),
        ([TOSS, MISS, FIND, MISS, MISS], SAME.format("Big Coulee")),
        ([TOSS, SKIPPED], NEW.format("Long Hollow")),
        ([TOSS, MISS, MISS, {**SKIPPED, "hide": "last"}], NEW.format("Long Hollow")),
        ([TOSS, SHOUT], SAME.format("Big Coulee")),
    ],
)
def test_judge_is_reminded_of_hiding_team_and_hiders(actions, said, shown):
    assert reminded(*actions, shown=shown) == [said]


def test_no_hiders_reminder_while_hit_owed_or_elsewhere():
    assert reminded() == []
    assert reminded(TOSS, MISS) == []
    assert reminded(TOSS, game="ojibwe") == []
    set_by_a_judge = msgspec.structs.replace(PHASES["hide"], calls=(), hide=7)
    assert not [fact for fact in list_facts(set_by_a_judge) if "hides" in fact], "nobody knows who hid before"
    assert not [fact for fact in list_facts(PHASES["over"]) if "hides" in fact]


@pytest.mark.parametrize(("game", "actions", "asked"), [("dakota", [], 1), ("dakota", [TOSS], 0), ("slahal", [], 0)])
def test_singers_are_asked_for_before_the_toss(game, actions, asked):
    rules = registry.game(game)
    story = blank(rules)
    for t, action in enumerate(actions):
        story = apply(rules, story, ActionPlayed(float(t), action, (), "judge"))
    view = view_of(rules, story, 7)
    assert sum("singer" in fact for fact in list_facts(view, singer=True)) == asked
    assert not any("singer" in fact for fact in list_facts(view))
