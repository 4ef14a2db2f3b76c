"""The page of the fouls says what the stories say, and every foul has one."""

import pytest
from load_file import load_file

from pi_controller.games.dakota.rules import HIDER_FOULS, HITTER_FOULS
from pi_controller.referee.settings import (
    BEAD_FOULS,
    FOUL_TREATMENTS,
    PASS_FOULS,
    PRESETS,
    RefereeSettings,
    preset_modes,
)

program = load_file("tests/referee/fouls_page.py")

BY_MODE = {"automatic": "called", "ask": "asked", "off": "passed over"}


def test_the_page_is_up_to_date():
    assert program.PAGE.read_text("utf-8") == program.page(), "run python tests/referee/fouls_page.py"


def test_each_foul_has_story_in_every_preset():
    told = {name: fouls for name, _, fouls in program.stories()}
    assert set(told) == {*FOUL_TREATMENTS, *HIDER_FOULS, *HITTER_FOULS, "not_shown"}
    for name in FOUL_TREATMENTS:
        assert {foul.preset for foul in told[name]} == set(PRESETS), name
    for name in {*told} - {*FOUL_TREATMENTS}:
        assert {foul.outcome for foul in told[name]} == {program.JUDGE}, name
    assert {foul.label for foul in told["outside_help"]} == {"hiders", "hitters"}


@pytest.mark.parametrize("name", [*PASS_FOULS, *BEAD_FOULS, "time", "rehide", "double_tap", "no_throw", "early_hit"])
def test_automatic_fouls_are_called_and_ask_fouls_asked(name):
    (fouls,) = (fouls for told, _, fouls in program.stories() if told == name)
    for foul in fouls:
        assert foul.outcome == BY_MODE[RefereeSettings(preset=foul.preset).mode(name)], foul


def test_preset_modes_match_their_description():
    home, tournament, umpired, demo = map(preset_modes, PRESETS)
    assert "ask" not in demo.values(), "visitors are not stopped"
    assert tournament == home, "what the mat is sure of is called"
    assert set(umpired.values()) - {"ask"} == {umpired["two_struck"]}, "no foul costs a stick unasked"
    assert {kind: RefereeSettings().mode(kind) for kind in FOUL_TREATMENTS} == home
    said = RefereeSettings(fouls={"no_bead": "off"}, preset="umpired")
    assert (said.mode("no_bead"), said.mode("two_beads")) == ("off", "ask")
