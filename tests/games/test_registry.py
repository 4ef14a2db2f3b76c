import subprocess
import sys

import pytest

from pi_controller.errors import UsageError
from pi_controller.games import registry
from pi_controller.games.base import Game


def test_every_game_is_made_by_its_name():
    assert "dakota" in registry.names()
    for name in registry.names():
        made = registry.game(name)
        assert isinstance(made, Game)
        assert made.name == name
        assert made.version
        assert made.source
        assert not made.over(made.opening())
        assert {option.name for option in made.options} == set(made.settings)
        # what is journalled as settings makes the same game again
        assert dict(registry.game(name, dict(made.settings)).settings) == dict(made.settings)


def test_options_are_chosen_by_text():
    made = registry.game("dakota", {"points": "3", "hit_seconds": "90", "low_hider": "literal"})
    assert made.settings["points"] == 3
    assert made.settings["hit_seconds"] == 90
    assert made.settings["low_hider"] == "literal"
    assert made.settings["overtime"] == "missed_hit"


def test_the_defaults_of_dakota():
    assert dict(registry.game("dakota").settings) == {
        "points": 5,
        "wheya_16_4": "yawapi",
        "low_hider": "floor",
        "foul_payer": "hider",
        "foul_on_decision": "four",
        "outside_help_by_hitter": "four",
        "hit_seconds": None,
        "overtime": "missed_hit",
    }


@pytest.mark.parametrize(
    ("name", "settings", "what"),
    [
        ("dakotta", {}, "there is no game 'dakotta'; did you mean dakota?"),
        ("", {}, "there is no game ''"),
        ("dakota", {"points": "100"}, "option points cannot be 100"),
        ("dakota", {"pionts": "3"}, "dakota has no option 'pionts'; did you mean points?"),
        ("dakota", {"overtime": "forfeit"}, "option overtime cannot be 'forfeit'; did you mean forfeit_four?"),
        ("dakota", {"hit_seconds": "0"}, "option hit_seconds cannot be 0"),
    ],
)
def test_what_there_is_not_is_refused(name: str, settings: dict[str, str], what: str):
    with pytest.raises(UsageError) as caught:
        registry.game(name, settings)
    assert caught.value.what == what
    assert caught.value.todo


def test_a_game_is_imported_when_it_is_asked_for():
    code = (
        "import sys; from pi_controller.games import registry; registry.names();"
        "assert 'pi_controller.games.dakota' not in sys.modules; registry.game('dakota');"
        "assert 'pi_controller.games.dakota' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
