"""`moccasin-mat words list`: which words there are, which have a recording, and one of them played."""

from __future__ import annotations

import pytest

from pi_controller.cli import main as cli
from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.sound import AplaySound


def test_no_folder_lists_the_expected_files(capsys):
    assert cli(["words", "list"]) == 0
    said = capsys.readouterr().out
    assert "dakota: no recordings: [voice] folder is empty" in said
    assert all(f"silent: no dakota/{call}.wav" in said for call in get_show("dakota", ENGLISH).words)


def test_recording_is_listed_with_its_length(record, tmp_path, capsys):
    record("dakota", "paguga", rate=44100, seconds=0.8)
    assert cli(["words", "list", "--folder", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "1 of 10 words have a recording" in said
    (line,) = [line for line in said.splitlines() if line.strip().startswith("paguga")]
    assert line.split() == ["paguga", "0.8", "s"]


def test_faulty_recordings_are_listed_and_exit_1(record, tmp_path, capsys):
    record("dakota", "paguga", rate=44100)
    record("dakota", "wheya").write_bytes(b"broken")
    record("dakota", "obojum", rate=44100)
    record("dakota", "obojun", rate=44100)
    (tmp_path / "dakota" / "foul.WAV").write_bytes(b"")
    (tmp_path / "dakota" / "yawapi.m4a").write_bytes(b"")
    (tmp_path / "dakota" / ".hidden.wav").write_bytes(b"")
    (tmp_path / "dakota" / "notes.txt").write_text("who spoke")
    assert cli(["words", "list", "--folder", str(tmp_path), "--game", "dakota"]) == 1
    said = capsys.readouterr().out
    assert "wheya.wav cannot be read" in said
    assert "obojum.wav: not a word of dakota, never played" in said
    assert "foul.WAV cannot be read" in said
    assert "yawapi.m4a: not a format that can be played" in said
    assert "hidden" not in said
    assert "notes" not in said


def test_the_settings_say_folder_game_and_english(record, tmp_path, capsys):
    path = tmp_path / "mat.toml"
    path.write_text(f'[game]\nname = "ojibwe"\n[voice]\nfolder = "{tmp_path}"\nenglish = true\n', "utf-8")
    record("ojibwe", "found", rate=44100)
    assert cli(["words", "list", "--settings", str(path)]) == 0
    said = capsys.readouterr().out
    assert "ojibwe: 1 of 6 words have a recording" in said
    assert said.count("spoken in English") == 5
    assert cli(["words", "list", "--settings", str(path), "--game", "dakota"]) == 0
    said = capsys.readouterr().out
    assert said.count("spoken in English") == 3
    assert "silent: no dakota/paguga.wav" in said


def test_game_without_words_needs_no_recordings(capsys):
    assert cli(["words", "list", "--game", "bageswin"]) == 0
    assert capsys.readouterr().out == "No words are called at a table of bageswin.\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--folder", "/no/such/folder"], "[voice] folder or --folder"),
        (["--folder", "x" * 5000], "is not a folder"),
        (["--game", "chess"], "chess"),
        (["--settings", "/no/such/file"], "/no/such/file"),
    ],
)
def test_bad_arguments_are_refused_with_exit_2(args, said, capsys):
    assert cli(["words", "list", *args]) == 2
    told = capsys.readouterr().err
    assert said in told


@pytest.fixture
def plays(monkeypatch, program):
    """Let the verb play by a program in place of aplay: `plays("exit 0")`."""

    def plays(lines):
        path = program(lines)
        monkeypatch.setattr("pi_controller.display.sound.AplaySound", lambda device: AplaySound(device, path))

    return plays


def test_a_word_is_played_as_a_table_would(record, tmp_path, capsys, plays):
    record("dakota", "paguga", rate=44100, seconds=0.5)
    plays("cat >/dev/null")
    assert cli(["words", "play", "paguga", "--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "played paguga: 0.5 s at volume 0.8 on 'default'\n"


def test_failing_loudspeaker_is_reported_with_hint(record, tmp_path, capsys, plays):
    record("dakota", "paguga", rate=44100)
    plays("echo 'audio open error: Device or resource busy' >&2; exit 1")
    assert cli(["words", "play", "paguga", "--folder", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert "Device or resource busy" in told
    assert "aplay -L" in told


def test_broken_recording_is_refused_before_playing(record, tmp_path, capsys):
    record("dakota", "paguga").write_bytes(b"broken")
    assert cli(["words", "play", "paguga", "--folder", str(tmp_path)]) == 2
    assert "save it as one of .wav" in capsys.readouterr().err
