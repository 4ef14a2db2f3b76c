"""Every game of the registry has its referee, and a mat event never raises in any of them, whatever comes when."""

import pytest

from pi_controller.config import read_settings
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules import registry


@pytest.mark.parametrize("name", registry.names())
def test_the_settings_take_any_game(name, tmp_path):
    file = tmp_path / "table.toml"
    file.write_text(f"[game]\nname = '{name}'\n", "utf-8")
    settings = read_settings(file)
    assert settings.game.name == name
    assert settings.referee_settings(registry.game(name).settings).hit_seconds is None
    assert referee_for(registry.game(name), RefereeSettings(hit_seconds=1.0), bytes).settings.hit_seconds == 1.0
