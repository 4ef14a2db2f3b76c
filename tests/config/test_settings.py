"""The settings: what they are, and every way to get them wrong, each fault with its line."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.cli import main as cli
from pi_controller.cli.settings import settings_check as main
from pi_controller.cli.settings import settings_example
from pi_controller.config import Settings, format_example, format_settings, read_settings
from pi_controller.config.fields import describe_values, list_fields
from pi_controller.config.load import MAX_BYTES, read_model
from pi_controller.config.model import GameSection
from pi_controller.errors import SettingsError, UsageError
from pi_controller.hub.settings import HubSettings
from pi_controller.pinmap import pinmap
from pi_controller.referee.settings import FOUL_TREATMENTS, RefereeSettings
from pi_controller.rules import registry
from pi_controller.sensing.strikes import StrikeSettings


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "mat.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def faults(write):
    """Return the faults of a text as [(line, what)]."""

    def faults(text):
        path = write(text)
        with pytest.raises(SettingsError) as caught:
            read_settings(path)
        assert caught.value.hint
        told = [re.fullmatch(rf"{re.escape(str(path))}:(\d+): (.*)", line) for line in caught.value.message.split("\n")]
        return [(int(match[1]), match[2]) for match in told]

    return faults


def test_the_defaults():
    settings = Settings()
    assert settings.game.name == "dakota"
    assert settings.board.port == "auto"
    assert settings.strips.pin == pinmap().pi.strip_pin
    pins = dict(settings.buttons.pins)
    guesses = {"left": 0, "right": 0, "inside": 0, "outside": 0}  # not wired until a file says so
    of_one_team = {"ready_a": 0, "ready_b": 0}
    assert pins == pinmap().pi.buttons | guesses | of_one_team
    # nothing touches a pin until a file says so
    assert (settings.strips.kind, settings.buttons.kind) == ("none", "none")
    # nobody else on the network is served until a file says so
    assert settings.web.host == "127.0.0.1"


def test_an_empty_file_is_the_defaults(write):
    path = write("")
    assert read_settings(path) == Settings().resolve_paths(path.parent)


def test_relative_paths_resolve_against_the_files_folder(tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "dak.po").write_text('msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8"\n', "utf-8")
    (folder / "table.toml").write_text(
        '[table]\njournal = "games/j.sqlite"\n[voice]\nfolder = "words"\n[web]\nlanguage = "dak.po"\n'
        f'[recording]\nfolder = "{tmp_path}/kept"\n',
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)
    settings = read_settings(Path("elsewhere/table.toml"))
    assert settings.table.journal == Path("elsewhere/games/j.sqlite")
    assert settings.voice.folder == "elsewhere/words"
    assert settings.web.language == "elsewhere/dak.po"
    assert settings.recording.folder == tmp_path / "kept"
    assert settings.backup.folder == "", "no copy is wanted"
    monkeypatch.chdir(folder)
    assert read_settings(Path("table.toml")).table.journal == Path("games/j.sqlite")


def test_settings_do_not_change():
    with pytest.raises(ValueError, match="frozen"):
        Settings().web.port = 1


# faults


KIND = 'must be "pi" or "board" or "wled" or "memory" or "none"'
PATH = 'must be "auto" or "pins" or "none" or a path like "/dev/ttyACM0"'
MODE = "must be automatic or ask or off"
VALUE = "must be text, a number, or true or false"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("[web]\nport = '8080'", 2, "[web] port: must be a whole number from 0 to 65535, not '8080'"),
        ("[web]\nport = 80.0", 2, "[web] port: must be a whole number from 0 to 65535, not 80.0"),
        ("[web]\nport = true", 2, "[web] port: must be a whole number from 0 to 65535, not true"),
        ("[web]\nport = 65536", 2, "[web] port: must be a whole number from 0 to 65535, not 65536"),
        ("[web]\nport = -1", 2, "[web] port: must be a whole number from 0 to 65535, not -1"),
        ("[web]\nenabled = 1", 2, "[web] enabled: must be true or false, not 1"),
        ("[web]\nenabled = 'yes'", 2, "[web] enabled: must be true or false, not 'yes'"),
        ("[web]\nhost = 'my host'", 2, "[web] host: must be an address or a host name, not 'my host'"),
        ("[strips]\nbrightness = 1.01", 2, "[strips] brightness: must be a number from 0 to 1, not 1.01"),
        ("[strips]\nbrightness = nan", 2, "[strips] brightness: must be a number from 0 to 1, not nan"),
        ("[strips]\nbrightness = inf", 2, "[strips] brightness: must be a number from 0 to 1, not inf"),
        ("[strips]\nbrightness = '1'", 2, "[strips] brightness: must be a number from 0 to 1, not '1'"),
        ("[strips]\nkind = 'py'", 2, f"[strips] kind: {KIND}, not 'py'; did you mean pi?"),
        ("[strips]\nkind = 3", 2, f"[strips] kind: {KIND}, not 3"),
        ("[strips]\npin = 28", 2, "[strips] pin: must be a whole number from 2 to 27, not 28"),
        ("[strikes]\nsensor = 'foil'", 2, '[strikes] sensor: must be "piezo" or "fsr", not \'foil\''),
        ("[table]\nname = 7", 2, "[table] name: must be a name of 1 to 60 characters, not 7"),
        ("[table]\njournal = ''", 2, "[table] journal: must be the path of a file, not ''"),
        ("[table]\njournal = 'games/'", 2, "[table] journal: must be the path of a file, not 'games/'"),
        ("[table]\njournal = 1", 2, "[table] journal: must be the path of a file, in quotes, not 1"),
        ("[table]\njournal = '~nobody-here/x'", 2, "[table] journal: there is no home folder for '~nobody-here/x'"),
        ("[board]\nport = 'ttyACM0'", 2, f"[board] port: {PATH}, not 'ttyACM0'"),
        ('[board]\nport = "/dev/tty\\u0000"', 2, f"[board] port: {PATH}, not '/dev/tty"),
        ("[teams]\na = ''", 2, "[teams] a: must be a name of 1 to 60 characters, not ''"),
        ("[teams]\na = '  '", 2, "[teams] a: must be a name of 1 to 60 characters, not '  '"),
        ("[teams]\nb = 'a\tb'", 2, "[teams] b: this name contains a control character"),
        ('[teams]\nb = "a\\nb"', 2, "[teams] b: this name contains a control character"),
        ('[teams]\nb = "a\\u0085b"', 2, "[teams] b: this name contains a control character"),
        ('[teams]\nb = "\\u202Eneve"', 2, "[teams] b: this name contains a control character"),
        ("[referee.fouls]\npad_twice = 'aks'", 2, f"[referee.fouls] pad_twice: {MODE}, not 'aks'; did you mean ask?"),
        ("[referee.fouls]\npad_twice = true", 2, f"[referee.fouls] pad_twice: {MODE}, not true"),
        ("[referee]\nfouls = 'ask'", 2, "[referee] fouls: this is a section: write [referee.fouls] on a "),
        ("web = 80", 1, "web: this is a section: write [web] on a "),
        ("\n[[web]]\nport = 1", 2, "web: this is a section: write [web] on a "),
        ("[game]\noptions = 3", 2, "[game] options: this is a section: write [game.options] on a "),
        # unknown keys and sections
        ("[web]\nprot = 1", 2, "[web] prot: there is no such key; did you mean port?"),
        ("[wep]\nport = 1", 1, "wep: there is no such section; did you mean web?"),
        ("port = 1", 1, "port: there is no such key here; it belongs to [board] or [board_b] or [web]"),
        ("[teams]\nbrightness = 1", 2, "[teams] brightness: there is no such key here; it belongs to [strips]"),
        ("[teams]\nzzzz = 1", 2, "[teams] zzzz: there is no such key; there are: a, b"),
        ("[referee.fouls]\nbead_showing = 'ask'", 2, "[referee.fouls] bead_showing: there is no such key"),
        ("[buttons.pins]\nredy = 4", 2, "[buttons.pins] redy: there is no such key; did you mean ready?"),
        # the game
        ("[game]\nname = 'dakotah'", 2, "[game] name: there is no game 'dakotah'; did you mean dakota?"),
        ("[game.options]\npoints = 'many'", 2, "[game.options] points: option points cannot be 'many'"),
        ("[game.options]\npionts = 3", 2, "[game.options] pionts: dakota has no option 'pionts'; did you mean points?"),
        ("[game.options]\npoints = { x = 1 }", 2, f"[game.options] points: {VALUE}, not an object"),
        ("[game.options]\npoints = 1979-05-27", 2, f"[game.options] points: {VALUE}, not an object"),
        # pins
        ("[buttons.pins]\nshown = 5", 2, "[buttons.pins] shown: pin 5 is taken by ready"),
        ("[strips]\nkind='pi'\npin=16\n[buttons]\nkind='pi'", 4, "[buttons.pins] toss_a: pin 16 is taken by"),
        ("[buttons]\nkind='pi'\npins = {ready = 10}\n[strips]\nkind='pi'", 3, "[buttons.pins] ready: pin 10 is taken"),
        ("[strips]\nkind='board'\n[board]\nport='none'", 2, "[strips] kind: is the board's, but [board] port"),
        # what is no TOML
        ("[web]\n\nport 80", 3, "Expected '=' after a key in a key/value pair"),
        ("a", 1, "Expected '=' after a key in a key/value pair"),
        ("[web]\n= 3", 2, "this is neither a [section] nor key = value"),
        ("[teams]\na = Prairie Island", 2, 'this is not a value: text needs quotes, like "this"'),
        ("[teams]\na = '''\n\nx", 4, "Expected \"'''\""),
        # twice
        ("[web]\nport = 1\nhost = 'x'\nport = 2\n", 4, "this key is here twice"),
        ("[web]\nport = 1\n\n[web]\nhost = 'x'\n", 4, "the section [web] is here twice"),
        ("[referee.fouls]\n[referee.fouls]\n", 2, "the section [referee.fouls] is here twice"),
        # not UTF-8
        (b"[teams]\na = 'x'\nb = 'Caf\xe9'\n", 3, "this is not UTF-8 text"),
        ("[teams]".encode("utf-16"), 1, "this is not UTF-8 text"),
    ],
)  # fmt: skip
def test_a_fault_and_its_line(faults, text, line, what):
    ((found_line, found),) = faults(text)
    assert (found_line, found.startswith(what)) == (line, True), found


def test_faults_are_reported_together_in_file_order(faults):
    found = faults(
        "[web]\nport = 'x'\nprot = 1\n\n[teams]\na = ''\n[wep]\n[game.options]\npoints = 0\nlow_hider = 'roof'\n"
        "[buttons.pins]\nready = 99\nshown = 'x'\n[strips]\nbrightness = 7"
    )
    assert [line for line, _ in found] == [2, 3, 6, 7, 9, 10, 12, 13, 15]


def test_several_pins_clash_together(faults):
    found = faults("[buttons.pins]\nready = 10\nshown = 10\ntoss_a = 9\ntoss_b = 9\n")
    assert found == [
        (3, "[buttons.pins] shown: pin 10 is taken by ready"),
        (5, "[buttons.pins] toss_b: pin 9 is taken by toss_a"),
    ]


@pytest.mark.parametrize("kinds", [("none", "pi"), ("pi", "none"), ("memory", "pi")])
def test_pins_of_undriven_kinds_do_not_clash(write, kinds):
    strips, buttons = kinds
    read_settings(write(f"[strips]\nkind = '{strips}'\npin = 16\n[buttons]\nkind = '{buttons}'"))


@pytest.mark.parametrize(
    "name", ["A", "x" * 60, "Mdewakaŋtuŋwaŋ", "ᐊᓂᔑᓈᐯ", "नमस्ते", "🪶", "👩\u200d👩\u200d👧", 'O\'Brien "B" \\ #1']
)
def test_names_may_hold_anything_people_write(write, name):
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    assert read_settings(write(f'[teams]\na = "{quoted}"')).teams.a == name


def test_a_name_has_at_most_60_characters(faults):
    ((line, what),) = faults(f"[teams]\na = '{'x' * 61}'")
    assert line == 2
    assert "1 to 60 characters" in what


@pytest.mark.parametrize("text", ["\ufeff[web]\r\nport = 81\r\n", "[web]\nport = 81"])
def test_byte_order_mark_and_crlf_are_accepted(write, text):
    assert read_settings(write(text)).web.port == 81


def test_lines_count_the_same_with_windows_line_ends(faults):
    assert faults("\ufeff[web]\r\n\r\nport = 'x'\r\n")[0][0] == 3


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda path: None, "there is no settings file"),
        (lambda path: path.mkdir(), "is a folder, not a settings file"),
        (os.mkfifo, "is not a file"),
        (lambda path: path.write_bytes(b"#" * (MAX_BYTES + 1)), "is too large for a settings file"),
        (lambda path: path.write_text("a = " + "[" * 20_000), "brackets are nested too deeply"),
        (lambda path: path.write_text("a = " + "9" * 5000), "a number is far too long"),
        (lambda path: path.symlink_to(path), "cannot be read"),
    ],
)
def test_unreadable_settings_file_is_refused_with_a_hint(tmp_path, make, what):
    path = tmp_path / "mat.toml"
    make(path)
    with pytest.raises(SettingsError, match=what) as caught:
        read_settings(path)
    assert "\n" not in caught.value.message
    assert "\n" not in caught.value.hint
    assert caught.value.hint


def test_a_path_no_system_has():
    with pytest.raises(SettingsError, match=r"cannot be read|there is no"):
        read_settings("nul\0.toml")


words = st.sampled_from(
    ["web", "port", "[", "]", "=", "'x'", "1", "\n", "{", "}", ".", '"', "game", "options", "points", "#", ",", "true",
     "teams", "a", "buttons", "pins", "ready", "'''", "\0", "strips", "kind", "'pi'", "é"]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(words, max_size=25).map(" ".join))
def test_no_text_breaks_the_reader(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(text, "utf-8")
    try:
        read_settings(path)
    except SettingsError as error:
        assert all(re.match(rf"{re.escape(str(path))}:\d+: ", line) for line in error.message.split("\n"))  # noqa: PT017


# what is made of them


def test_default_settings_match_detector_and_referee_defaults():
    assert Settings().strikes.detector_settings() == StrikeSettings()
    given = Settings().referee_settings({})
    assert {foul: given.mode(foul) for foul in FOUL_TREATMENTS} == {
        foul: RefereeSettings().mode(foul) for foul in FOUL_TREATMENTS
    }
    assert given.check_timeout_s == RefereeSettings().check_timeout_s
    assert given.hit_seconds is None


def test_chosen_settings_reach_detector_and_referee(write):
    settings = read_settings(
        write(
            "[strikes]\nthreshold_db = 16\ndominance_db = 9\nlockout_ms = 400\n"
            "[referee]\ncheck_timeout_s = 5\n[referee.fouls]\nno_bead = 'ask'\n[game.options]\nhit_seconds = 20\n"
        )
    )
    detector, own = settings.strikes.detector_settings(), StrikeSettings()
    assert (detector.peak_db, detector.dominance_db, detector.lockout_s) == (16, 9, 0.4)
    assert detector.mean_db - own.mean_db == 16 - own.peak_db
    referee = settings.referee_settings(registry.game("dakota", settings.game.options).settings)
    assert (referee.mode("no_bead"), referee.mode("two_beads"), referee.check_timeout_s) == ("ask", "automatic", 5)
    assert referee.hit_seconds == 20


def test_every_sensed_foul_can_be_set():
    settings = Settings(referee={"fouls": dict.fromkeys(FOUL_TREATMENTS, "off")}).referee_settings({})
    assert {settings.mode(foul) for foul in FOUL_TREATMENTS} == {"off"}


@pytest.mark.parametrize("value", ["[1, 2]", "['A', 'B']"])
def test_list_option_is_read_as_command_line_text(write, value):
    path = write(f"[game.options]\npoints = {value}")
    with pytest.raises(SettingsError, match="not a list" if "1" in value else "cannot be 'A,B'"):
        read_settings(path)


# the example and the verb


def test_the_example_loads_as_the_defaults(write):
    path = write(format_example())
    assert read_settings(path) == Settings().resolve_paths(path.parent)


def test_the_example_has_every_key_with_a_comment():
    text = format_example()

    def keys(model, path=()):
        for key, field, section in list_fields(model):
            if section:
                yield from keys(section, (*path, key))
            elif not isinstance(field.default_factory and field.default_factory(), dict):
                yield (*path, key), field

    data = tomllib.loads(text)
    for path, field in keys(Settings):
        value = data
        for key in path:
            value = value[key]
        assert f"# {field.description} ({describe_values(field)})\n{path[-1]} = " in text
        assert field.description
    assert max(map(len, text.splitlines())) <= 140


def test_commented_game_options_of_the_example_load(write):
    text = format_example()
    for option in registry.game_class("dakota").options:
        text = text.replace(f"# {option.name} = ", f"{option.name} = ")
    settings = read_settings(write(text))
    assert set(settings.game.options) == {option.name for option in registry.game_class("dakota").options}
    assert registry.game("dakota", settings.game.options).settings == registry.game("dakota").settings


def test_formatted_settings_load_as_the_same_settings(write):
    settings = read_settings(write("[teams]\na = 'Café \\ \"x\"'\n[game.options]\npoints = 3\n"))
    text = format_settings(settings)
    again = read_settings(write(text))
    assert again.teams == settings.teams
    assert 'a = "Café \\\\ \\"x\\""\n' in text
    assert "points = 3\n" in text
    assert 'b = "B"  # default\n' in text
    assert 'low_hider = "floor"  # default\n' in text


def test_verb_prints_ok_and_settings_with_defaults(write, capsys):
    assert main([str(write("[web]\nport = 81"))]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ok\n")
    assert "port = 81\n" in out
    assert 'host = "127.0.0.1"  # default\n' in out


@pytest.mark.parametrize("game", registry.names())
def test_each_game_example_has_its_own_options(write, capsys, game):
    assert settings_example(["--game", game]) == 0
    text = capsys.readouterr().out
    path = write(text)
    assert read_settings(path) == Settings(game=GameSection(name=game)).resolve_paths(path.parent)
    of_game = {option.name for option in registry.game_class(game).options}
    section = text.partition("\n[game.options]\n")[2].partition("\n[")[0]
    assert {line.split()[1] for line in section.splitlines() if " = " in line} == of_game
    assert ("players, each alone" in text) == ("players" in of_game)


def test_a_game_without_an_example(capsys):
    with pytest.raises(UsageError, match="marbles"):
        settings_example(["--game", "marbles"])
    with pytest.raises(UsageError):
        main(["--game", "patol"])


@pytest.mark.parametrize("game", ["patol", "bageswin"])
def test_teams_are_refused_in_games_of_players(write, game):
    said = f"[game]\nname = '{game}'\n[teams]\na = 'Upper'\nb = 'B'\n"
    with pytest.raises(SettingsError) as refused:
        read_settings(write(said))
    assert ":4: [teams] a: has no effect" in refused.value.message
    assert 'players = "Ann, Bo"' in refused.value.message
    assert "\n" not in refused.value.message, "what is as it comes is not complained of"
    assert read_settings(write(said.replace("Upper", "A"))).game.name == game
    assert read_settings(write(said.replace(game, "plum_stone"))).teams.a == "Upper"


def test_the_verb_prints_the_example(capsys):
    assert settings_example([]) == 0
    assert capsys.readouterr().out == format_example()


def test_the_verb_without_a_file_shows_the_defaults(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ok\n")
    assert "port = 8080  # default" in out


def test_the_verb_tells_all_faults_and_fails(write, capsys):
    path = write("[web]\nport = 'x'\n[teams]\na = ''")
    assert cli(["settings", "check", str(path), "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], len(told["faults"])) == (False, 2)
    assert cli(["settings", "check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{path}:2: [web] port: " in err
    assert f"{path}:4: [teams] a: " in err


@pytest.mark.parametrize("argv", [["a.toml", "b.toml"], ["--exampel"]])
def test_a_wrong_call(argv, capsys):
    assert cli(["settings", "check", *argv]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_a_faulty_file_is_not_touched(write):
    path = write("[web]\nport = 'x'")
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    with pytest.raises(SettingsError):
        read_settings(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_reading_settings_touches_no_hardware():
    code = "import sys, pi_controller.config.load; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"serial", "gpiozero", "board", "neopixel", "adafruit_pixelbuf"} & set(loaded)


def test_the_pis_own_pins_are_no_one_elses(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(
        "[board]\nport = 'pins'\n[strips]\nkind = 'pi'\n[buttons]\nkind = 'pi'\n[buttons.pins]\nready = 3\n"
    )
    with pytest.raises(SettingsError) as error:
        read_settings(path)
    told = error.value.message
    assert "[strips] pin: pin 10 is taken by the MCP3008; 18 is free, but needs root on a Pi up to 4" in told
    assert "[buttons.pins] ready: pin 3 is taken by the MPR121" in told
    path.write_text("[board]\nport = 'pins'\n[strips]\nkind = 'pi'\npin = 18\n[buttons]\nkind = 'pi'\n")
    assert read_settings(path).referee_settings({}).beads == "judge"  # those pins have no magnetometers
    assert Settings().referee_settings({}).beads == "mat"


@pytest.mark.parametrize("value", ["'x'", "70000", "true"])
def test_wrong_optional_number_reports_its_range(write, value):
    path = write(f"[page]\nstream = {value}\n")
    with pytest.raises(SettingsError, match=r":2: \[page\] stream: must be a whole number from 0 to 65535, not "):
        read_model(path, HubSettings)


@pytest.mark.parametrize(
    ("section", "begins", "ends"),
    [("voice", "quiet_from", "quiet_to"), ("exhibit", "opens", "closes"), ("exhibit", "dim_from", "dim_to")],
)
def test_a_range_of_times_has_two_different_ends(tmp_path, section, begins, ends):
    path = tmp_path / "mat.toml"
    for wrong in (f'{begins} = "10:00"', f'{ends} = "10:00"', f'{begins} = "10:00"\n{ends} = "10:00"'):
        path.write_text(f"[{section}]\n{wrong}\n", "utf-8")
        with pytest.raises(SettingsError, match=rf"\[{section}\] ({begins}|{ends}): is "):
            read_settings(path)
    path.write_text(f'[{section}]\n{begins} = "22:00"\n{ends} = "06:00"\n', "utf-8")
    read_settings(path)
