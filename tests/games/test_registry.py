import subprocess
import sys

import pytest

from pi_controller.errors import UsageError
from pi_controller.rules import registry
from pi_controller.rules.base import Game, Hidden, Roster


def test_every_game_is_made_by_its_name():
    assert "dakota" in registry.names()
    for name in registry.names():
        made = registry.game(name)
        assert isinstance(made, Game)
        assert made.name == name
        assert made.version
        assert made.source
        assert not made.is_over(made.opening())
        assert {option.name for option in made.options} == set(made.settings)
        # what is journalled as settings makes the same game again
        assert dict(registry.game(name, dict(made.settings)).settings) == dict(made.settings)


@pytest.mark.parametrize(
    ("name", "hidden", "roster"),
    [
        ("dakota", Hidden(1), Roster(registered=5, playing=4)),
        ("ojibwe", Hidden(4, unmarked=True), Roster(registered=3, playing=3)),
        ("slahal", Hidden(2, unmarked=True, in_fists=True, found_by="guess"), Roster(leader="First Guesser")),
        ("bageswin", None, Roster()),
        ("plum_stone", None, Roster()),
        ("patol", None, Roster()),
    ],
)
def test_each_game_states_its_pieces_and_roster(name, hidden, roster):
    made = registry.game(name)
    assert (made.hidden, made.roster) == (hidden, roster)


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
def test_unknown_game_or_option_is_refused(name: str, settings: dict[str, str], what: str):
    with pytest.raises(UsageError) as caught:
        registry.game(name, settings)
    assert caught.value.message == what
    assert caught.value.hint


def test_game_module_is_imported_on_first_use():
    code = (
        "import sys; from pi_controller.rules import registry; registry.names();"
        "assert 'pi_controller.games.dakota.rules' not in sys.modules; registry.game('dakota');"
        "assert 'pi_controller.games.dakota.rules' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
