"""The host's switch for the chances of winning: off unless a file says so, and no table stops for it."""

from __future__ import annotations

import pytest

from pi_controller.cli.demo import demo
from pi_controller.cli.settings import check_settings
from pi_controller.config import Settings, read_settings
from pi_controller.errors import SettingsError
from pi_controller.referee.settings import TOURNAMENT_PRESETS
from pi_controller.rules import registry
from pi_controller.rules.chances import ChancesError
from pi_controller.runtime import assembly


@pytest.fixture
def write(tmp_path):
    def write_it(text):
        path = tmp_path / "table.toml"
        path.write_text(text, "utf-8")
        return path

    return write_it


def test_it_is_off_by_default_and_by_luck_alone():
    settings = Settings()
    assert settings.web.chances is False
    assert (settings.chances.first, settings.chances.second) == (0.25, 0.3333)
    assert assembly.chances_bar(settings, registry.game("dakota")) is None


def test_the_chances_of_finding_are_handed_on(write):
    settings = read_settings(write("[web]\nchances = true\n[chances]\nfirst = 0.5\nsecond = 0.6\n"))
    game = registry.game("dakota")
    bar, luck = (
        assembly.chances_bar(settings, game),
        assembly.chances_bar(read_settings(write("[web]\nchances = true\n")), game),
    )
    assert bar is not None
    assert luck is not None
    assert bar.finds == (0.5, 0.6)
    assert luck.finds == (0.25, 0.3333)


@pytest.mark.parametrize("line", ["first = 0", "second = 1.5", "first = '1/4'", "third = 0.5"])
def test_what_is_no_chance_is_refused_with_its_line(write, line):
    with pytest.raises(SettingsError, match=r"table.toml:2: "):
        read_settings(write(f"[chances]\n{line}\n"))


@pytest.mark.parametrize("game", ["name = 'slahal'", "name = 'bageswin'"])
def test_a_game_without_chances_is_said_and_played(write, capsys, game):
    path = write(f"[web]\nchances = true\n[game]\n{game}\n")
    assert check_settings([str(path)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "ok"
    assert out[1].startswith("note: [web] chances shows nothing here: ")
    settings = read_settings(path)
    assert assembly.chances_bar(settings, registry.game(settings.game.name, settings.game.options)) is None
    assert "the chances of winning are not shown: " in capsys.readouterr().out


def test_nothing_is_noted_where_there_are_chances_or_none_are_wanted(write, capsys):
    for text in ("[web]\nchances = true\n", "[game]\nname = 'slahal'\n"):
        assert check_settings([str(write(text))]) == 0
    assert "note:" not in capsys.readouterr().out


def test_the_demo_refuses_what_it_cannot_show():
    with pytest.raises(ChancesError, match="no chances of winning for slahal"):
        demo(["--game", "slahal", "--chances", "--no-web"])


def test_the_demo_takes_the_former_name():
    with pytest.raises(ChancesError, match="no chances of winning for slahal"):
        demo(["--game", "slahal", "--odds", "--no-web"])


def test_the_former_names_of_the_settings_still_work_and_the_log_tells_the_present_ones(write, caplog):
    path = write("[web]\nport = 0\nodds = true\n\n[odds]\nfirst = 0.5\n")
    settings = read_settings(path)
    assert settings == read_settings(write("[web]\nport = 0\nchances = true\n[chances]\nfirst = 0.5\n"))
    assert settings.web.chances is True
    assert settings.chances.first == 0.5
    assert caplog.messages == [
        f"{path}:3: [web] odds: is now called chances",
        f"{path}:5: odds: is now called chances",
    ]


def test_a_file_with_the_present_names_is_not_spoken_of(write, caplog):
    read_settings(write("[web]\nchances = true\n[chances]\nfirst = 0.5\n"))
    assert not caplog.messages


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[web]\nchances = true\nodds = true", "3: [web] odds: is now called chances, which is also set here"),
        ("[web]\nodds = true\nchances = false", "2: [web] odds: is now called chances, which is also set here"),
        ("[chances]\nfirst = 0.5\n[odds]\nsecond = 0.5", "3: odds: is now called chances, which is also set here"),
        ("[odds]\nsecond = 2", "2: [odds] second: must be a number from 0.01 to 0.99, not 2"),
        ("[odds]\nthird = 0.5", "2: [odds] third: there is no such key"),
        ("[web]\nodds = 1", "2: [web] odds: must be true or false, not 1"),
        ("odds = true", "1: odds: this is a section"),
    ],
)
def test_a_fault_under_a_former_name_has_its_line(write, text, said):
    path = write(text)
    with pytest.raises(SettingsError) as caught:
        read_settings(path)
    assert caught.value.message.startswith(f"{path}:{said}")
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("key", ["chances", "odds"])
@pytest.mark.parametrize("preset", TOURNAMENT_PRESETS)
def test_no_chances_are_shown_at_a_tournament(write, key, preset):
    path = write(f'[web]\nport = 0\n{key} = true\n[referee]\npreset = "{preset}"\n')
    with pytest.raises(SettingsError) as caught:
        read_settings(path)
    assert caught.value.message == f'{path}:3: [web] {key}: must be false where [referee] preset is "{preset}"'


@pytest.mark.parametrize("preset", ["home", "demo"])
def test_chances_may_be_shown_elsewhere(write, preset):
    assert read_settings(write(f'[web]\nchances = true\n[referee]\npreset = "{preset}"\n')).web.chances
    assert not read_settings(write('[web]\nchances = false\n[referee]\npreset = "tournament"\n')).web.chances
