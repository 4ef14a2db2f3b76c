"""A mat recorded without a game, through the real firmware and a pseudo-terminal."""

import gc
from contextlib import closing

import pytest
from load_file import load_file
from pty_mat import PtyMat

from pi_controller.board.buttons import MockButtons
from pi_controller.board.connection import BoardConnection
from pi_controller.board.interfaces import ButtonsError
from pi_controller.board.messages import Field, Piezo, Touch
from pi_controller.board.serial_port import SerialPort
from pi_controller.cli.sensors import mat_record as main
from pi_controller.errors import PortError, UsageError
from pi_controller.recording.bench import CONTACT, Bench
from pi_controller.recording.entries import Header, settings_as_json
from pi_controller.recording.store import Recording, create_recording
from pi_controller.sensing.strikes import StrikeSettings

scoring = load_file("tests/tools/score_recording.py")
TICK = 0.032


def test_simulated_strokes_are_recorded_and_scored(tmp_path):
    path = tmp_path / "x.sensors"
    contact = MockButtons([CONTACT])
    truth = []
    with PtyMat(3) as mat:
        file = create_recording(path, Header(0.0, strikes=settings_as_json(StrikeSettings())))
        bench = Bench(file, BoardConnection(lambda: SerialPort(mat.device)), contact)
        t, sent = 0.0, 0
        for tick in range(330):
            if tick > 60 and tick % 40 == 0:
                pad = len(truth) % 4 + 1
                mat.world.strike(pad, -20.0)
                contact.press(CONTACT, t, held_s=0.03)
                truth.append(scoring.TrueStroke(None, pad, "firm"))
            n = mat.advance(TICK, sent)
            t += TICK
            before = bench.source.sent
            bench.step(t, at_least=n)
            sent = bench.source.sent - before
        size = path.stat().st_size
        bench.close()
    assert size > 20_000, "nothing is held back where nothing is hidden"
    recording = Recording(path)
    entries = list(recording.entries())
    assert {Piezo, Touch, Field} <= {type(entry) for entry in entries}
    assert bench.touches == len(truth) == 7
    heard = scoring.detect(entries, recording.header.strike_settings(), recording.header.t)
    figures = scoring.score(heard.strikes, scoring.assign_times(truth, heard.touches), heard.seconds)
    assert (figures["found"], figures["false"]) == (7, 0)
    assert figures["right_pad"]["value"] == 1.0


def test_missing_board_is_retried(tmp_path):
    tries = []

    def missing():
        tries.append(1)
        raise PortError("there is no board", "plug it in")

    with closing(Bench(create_recording(tmp_path / "x.sensors", Header(0.0)), BoardConnection(missing))) as bench:
        for n in range(40):
            bench.step(n * 0.1)
        assert bench.source.why == "there is no board: plug it in"
        assert len(tries) == 4
    assert not any(isinstance(entry, Piezo) for entry in Recording(tmp_path / "x.sensors").entries())


def test_verb_refuses_bad_paths_and_values(tmp_path):
    there = tmp_path / "there"
    there.write_text("mine")
    without = tmp_path / "s.toml"
    without.write_text('[board]\nport = "none"\n')
    for argv in (
        [str(there)],
        [str(tmp_path / "a"), "--contact", "40"],
        [str(tmp_path / "a"), "--seconds", "0"],
        [str(tmp_path / "a"), "--settings", str(without)],
    ):
        with pytest.raises(UsageError):
            main(argv)
    assert there.read_text() == "mine"


def test_the_verb_records_from_a_board(tmp_path, capsys):
    settings = tmp_path / "s.toml"
    settings.write_text(f'[board]\nport = "{tmp_path / "nothing"}"\n')
    assert main([str(tmp_path / "x.sensors"), "--settings", str(settings), "--seconds", "0.05"]) == 0
    out, err = capsys.readouterr()
    assert "0 samples of each pad" in out
    assert err.count("\n") == 1
    assert str(tmp_path / "nothing") in err, "whoever records may know which port it is"


def test_failed_contact_leaves_no_file_open(tmp_path, monkeypatch):
    def none(*_, **__):
        raise ButtonsError("no pin 4", "choose another")

    monkeypatch.setattr("pi_controller.board.buttons.GpioButtons", none)
    with pytest.raises(ButtonsError):
        main([str(tmp_path / "x.sensors"), "--contact", "4", "--seconds", "0.05"])
    gc.collect()  # a file that nobody closed warns, and a warning is an error here
