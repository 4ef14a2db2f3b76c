"""A game that is not played on the mat: the mat's referee refuses it, and the judge alone keeps it."""

import pytest

from pi_controller.errors import UsageError
from pi_controller.games import registry
from pi_controller.referee.paper import PaperReferee, referee_for
from pi_controller.referee.referee import Referee
from pi_controller.referee.settings import PLAYED, RefereeSettings
from pi_controller.table.settings import load

ON_PAPER = sorted(set(registry.names()) - set(PLAYED))


@pytest.mark.parametrize("name", ON_PAPER)
def test_the_mat_knows_only_its_own_games(name):
    with pytest.raises(UsageError, match=f"{name} is not played on the mat") as refused:
        Referee(registry.game(name), None, bytes)
    assert f"score {name}" in refused.value.todo
    assert isinstance(referee_for(registry.game(name), RefereeSettings(hit_seconds=1.0), bytes), PaperReferee)


@pytest.mark.parametrize("name", ON_PAPER)
def test_the_settings_take_any_game(name, tmp_path):
    file = tmp_path / "table.toml"
    file.write_text(f"[game]\nname = '{name}'\n", "utf-8")
    settings = load(file)
    assert settings.game.name == name
    assert settings.referee_settings(registry.game(name).settings).hit_seconds is None


@pytest.mark.parametrize("name", PLAYED)
def test_what_is_played_is_known(name):
    Referee(registry.game(name), None, bytes)
    referee = referee_for(registry.game(name), RefereeSettings(hit_seconds=1.0), bytes)
    assert isinstance(referee, Referee)
    assert referee.settings.hit_seconds == 1.0
