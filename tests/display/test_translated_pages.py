"""A language nobody speaks on the pages of the calibration, the settings and the hub: no sentence stays English."""

import json

import pytest
from back_pages import HouseWithSettings
from hub_site import TEAMS, Site
from pseudo import CODE, OPEN, SHUT, escaped, escaped_of_page
from walking import walked

from pi_controller.config import Settings, edit
from pi_controller.config.load import validate_data
from pi_controller.display import i18n
from pi_controller.hub.hub import TableStatus
from pi_controller.rules import registry
from pi_controller.table.view import QuestionView
from pi_controller.text import Sentence
from pi_controller.tools.walk_page import WalkPage
from pi_controller.web.settings_form import describe_form
from pi_controller.web.templates import render

HUB_PAGES = ("/", "/bracket", "/hall", "/announcer", "/start-list", "/results", "/team/1", "/director")
PLAYING = (*TEAMS, "Veblen", "Sica Hollow", "Old Agency", "Lake Traverse")
NAMES = {*escaped(" ".join((*PLAYING, "Wacipi Ann Otter Crane Moccasin Mat JSON CSV")))}


FAULTS = ("rail-piezo=3", "dead-touch=8", "noisy-magnetometer=9", "no-disc=2")


@pytest.mark.parametrize("faults", [(), pytest.param(FAULTS, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_calibration_speaks_the_page_language(faults, tr):
    page = WalkPage("127.0.0.1", 0, tr)
    views = {(view.ask, view.note, view.at, view.over): view for view in walked(faults=faults).seen}
    assert len(views) > 3
    for view in views.values():
        assert escaped_of_page(page.page(view)) == []
        assert escaped_of_page(json.loads(page.event(view)[1])["regions"]["said"]) == []


@pytest.mark.parametrize("game", registry.names())
def test_settings_form_speaks_the_page_language(game, tr):
    settings = Settings.model_validate({"game": {"name": game}})
    form = describe_form(edit.list_settings(settings))
    more = {"version": "1", "fault": "", "file": "table.toml", "back_s": 0, "saved": True, "waits": True}
    html = render("settings.html", tr, home="/judge", sections=form, restarts=True, opened=False, **more)
    values = {str(one) for section in form for field in section["fields"] for one in (field["value"], field["default"])}
    assert set(escaped_of_page(html)) - NAMES - set(escaped(" ".join(values))) == set()


@pytest.mark.parametrize(
    "data",
    [
        {"web": {"port": 99999, "hosts": 1, "proxy": "x", "language": "?", "embed": ["x"], "event": "\0", "host": "?"}},
        {"web": {"prot": 1, "name": "x"}, "teams": {"a": ""}, "buttons": 1, "nonsense": 2, "nothing": {}},
        {
            "marks": {"ground": "#000000", "ink": "#000001"},
            "hub": {"address": "x"},
        },
        {"strips": {"kind": "board"}, "board": {"port": "none", "depth_mm": 3.0}, "board_b": {"port": "/dev/x"}},
        {"referee": {"fouls": {"x": "y"}, "preset": "gatherin"}, "game": {"name": "dakota", "options": {"x": "y"}}},
        {"exhibit": {"opens": "10:00", "languages": []}, "voice": {"device": "hw:0", "quiet_from": "10:00"}},
        {"game": {"name": "patol"}, "teams": {"a": "Ann"}, "mat": {"seats": "each"}, "table": {"journal": "/"}},
    ],
)
def test_faults_of_settings_speak_the_page_language(data, tr):
    _, issues = validate_data(Settings, data)
    assert issues
    for issue in issues:
        assert escaped(tr.text(issue.text)) == [], issue


def test_refused_settings_are_answered_in_page_language(tmp_path, tr):
    house = HouseWithSettings(tmp_path, language=tr.code)
    with house.signed_in("Ann") as web:
        sent = {"version": edit.read_written(house.file)[1], "changes": {"voice.volume": 500, "board_b.port": "x"}}
        found = web.post("/judge/settings/save", json=sent).json()["error"]
    house.close()
    assert len(found["issues"]) == 2
    for text in (found["message"], found["hint"], *found["issues"].values()):
        assert text
        assert escaped(text) == []


@pytest.fixture
def site(tmp_path, tr):
    made = Site(tmp_path, language=str(i18n.HOST_CATALOGUES[tr.code]))
    yield made
    made.close()


def test_hub_speaks_the_language_of_its_settings(site, view):
    site.sign_in()
    asked = view(question=QuestionView("found", ("found", "missed"), (2,)))
    site.pages.publish((TableStatus("t01", "Otter", "ready", view()), TableStatus("t02", "Crane", "ready", asked)))
    assert site.decide(do="plan", title="Wacipi", calling="director").status_code == 200
    assert site.decide(do="enter", teams=[{"name": team} for team in PLAYING]).status_code == 200
    site.bring_to_play(PLAYING, protest="Veblen")
    why = Sentence("{match} is not at a table", match="W1-1")
    site.director.note("t01", Sentence("{table} did not take {match}: {why}", table="t01", match="W1", why=why))
    for path in HUB_PAGES:
        html = site.web.get(path).text
        assert f'lang="{CODE}"' in html
        assert set(escaped_of_page(html)) - NAMES == set(), path
    assert site.web.get("/nowhere").text == f"{OPEN}Page not found.{SHUT}\n"
    refused = site.decide(do="assign", match="W9-9", table="t01").json()["error"]
    assert escaped(refused["message"]) == escaped(refused["hint"]) == []
