"""A game that is not played on the mat is refused before anything is written."""

import pytest

from pi_controller.errors import SettingsError, UsageError
from pi_controller.games import registry
from pi_controller.referee.referee import Referee
from pi_controller.referee.settings import PLAYED
from pi_controller.table.settings import load


@pytest.mark.parametrize("name", sorted(set(registry.names()) - set(PLAYED)))
def test_only_games_of_the_mat(name, tmp_path):
    with pytest.raises(UsageError, match=f"{name} is not played on the mat") as refused:
        Referee(registry.game(name), None, bytes)
    assert f"score {name}" in refused.value.todo
    file = tmp_path / "table.toml"
    file.write_text(f"[game]\nname = '{name}'\n", "utf-8")
    with pytest.raises(SettingsError, match=f":2: .game. name: {name} is not played on the mat"):
        load(file)


@pytest.mark.parametrize("name", PLAYED)
def test_what_is_played_is_known(name):
    Referee(registry.game(name), None, bytes)
