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


def test_chances_default_to_off_and_pure_luck():
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
def test_invalid_chance_is_refused_with_its_line(write, line):
    with pytest.raises(SettingsError, match=r"table.toml:2: "):
        read_settings(write(f"[chances]\n{line}\n"))


@pytest.mark.parametrize("game", ["name = 'slahal'", "name = 'bageswin'"])
def test_game_without_chances_gets_a_note_and_plays(write, capsys, game):
    path = write(f"[web]\nchances = true\n[game]\n{game}\n")
    assert check_settings([str(path)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "ok"
    assert out[1].startswith("note: [web] chances shows nothing here: ")
    settings = read_settings(path)
    assert assembly.chances_bar(settings, registry.game(settings.game.name, settings.game.options)) is None
    assert "the chances of winning are not shown: " in capsys.readouterr().out


def test_no_note_with_chances_available_or_off(write, capsys):
    for text in ("[web]\nchances = true\n", "[game]\nname = 'slahal'\n"):
        assert check_settings([str(write(text))]) == 0
    assert "note:" not in capsys.readouterr().out


def test_demo_refuses_chances_for_slahal():
    with pytest.raises(ChancesError, match="no chances of winning for slahal"):
        demo(["--game", "slahal", "--chances", "--no-web"])


def test_the_demo_takes_the_former_name():
    with pytest.raises(ChancesError, match="no chances of winning for slahal"):
        demo(["--game", "slahal", "--odds", "--no-web"])


def test_former_setting_names_work_and_log_present_ones(write, caplog):
    path = write("[web]\nport = 0\nodds = true\n\n[odds]\nfirst = 0.5\n")
    settings = read_settings(path)
    assert settings == read_settings(write("[web]\nport = 0\nchances = true\n[chances]\nfirst = 0.5\n"))
    assert settings.web.chances is True
    assert settings.chances.first == 0.5
    assert caplog.messages == [
        f"{path}:3: [web] odds: is now called chances",
        f"{path}:5: odds: is now called chances",
    ]


def test_present_setting_names_log_no_message(write, caplog):
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
def test_fault_under_former_name_has_its_line(write, text, said):
    path = write(text)
    with pytest.raises(SettingsError) as caught:
        read_settings(path)
    assert caught.value.message.startswith(f"{path}:{said}")
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("key", ["chances", "odds"])
@pytest.mark.parametrize("preset", TOURNAMENT_PRESETS)
def test_tournament_preset_refuses_chances(write, key, preset):
    path = write(f'[web]\nport = 0\n{key} = true\n[referee]\npreset = "{preset}"\n')
    with pytest.raises(SettingsError) as caught:
        read_settings(path)
    assert caught.value.message == f'{path}:3: [web] {key}: must be false where [referee] preset is "{preset}"'


@pytest.mark.parametrize("preset", ["home", "demo"])
def test_other_presets_allow_chances(write, preset):
    assert read_settings(write(f'[web]\nchances = true\n[referee]\npreset = "{preset}"\n')).web.chances
    assert not read_settings(write('[web]\nchances = false\n[referee]\npreset = "tournament"\n')).web.chances
