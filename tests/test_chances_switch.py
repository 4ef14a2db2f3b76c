"""The host's switch for the chances of winning: off unless a file says so, and no table stops for it."""

from __future__ import annotations

import pytest

from pi_controller import run
from pi_controller.errors import SettingsError
from pi_controller.games import registry
from pi_controller.show.odds_bar import OddsError
from pi_controller.sim import demo
from pi_controller.table import check_settings
from pi_controller.table.settings import Settings, load


@pytest.fixture
def write(tmp_path):
    def write_it(text):
        path = tmp_path / "table.toml"
        path.write_text(text, "utf-8")
        return path

    return write_it


def test_it_is_off_by_default_and_by_luck_alone():
    settings = Settings()
    assert settings.web.odds is False
    assert (settings.odds.first, settings.odds.second) == (0.25, 0.3333)
    assert run.odds_bar(settings, registry.game("dakota")) is None


def test_the_chances_of_finding_are_handed_on(write):
    settings = load(write("[web]\nodds = true\n[odds]\nfirst = 0.5\nsecond = 0.6\n"))
    game = registry.game("dakota")
    bar, luck = run.odds_bar(settings, game), run.odds_bar(load(write("[web]\nodds = true\n")), game)
    assert bar is not None
    assert luck is not None
    assert bar.finds == (0.5, 0.6)
    assert luck.finds == (0.25, 0.3333)


@pytest.mark.parametrize("line", ["first = 0", "second = 1.5", "first = '1/4'", "third = 0.5"])
def test_what_is_no_chance_is_refused_with_its_line(write, line):
    with pytest.raises(SettingsError, match=r"table.toml:2: "):
        load(write(f"[odds]\n{line}\n"))


@pytest.mark.parametrize("game", ["name = 'slahal'", "name = 'bageswin'\noptions = {players = ['A', 'B', 'C']}"])
def test_a_game_without_chances_is_said_and_played(write, capsys, game):
    path = write(f"[web]\nodds = true\n[game]\n{game}\n")
    assert check_settings.main([str(path)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "ok"
    assert out[1].startswith("note: [web] odds shows nothing here: ")
    settings = load(path)
    assert run.odds_bar(settings, registry.game(settings.game.name, settings.game.options)) is None
    assert "no chance of winning is shown: " in capsys.readouterr().out


def test_nothing_is_noted_where_there_are_chances_or_none_are_wanted(write, capsys):
    for text in ("[web]\nodds = true\n", "[game]\nname = 'slahal'\n"):
        assert check_settings.main([str(write(text))]) == 0
    assert "note:" not in capsys.readouterr().out


def test_the_demo_refuses_what_it_cannot_show():
    with pytest.raises(OddsError, match="no exact chances"):
        demo.main(["--game", "slahal", "--odds", "--no-web"])
