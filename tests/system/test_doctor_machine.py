"""The machine, its pins and its disk: what the settings want is looked at, the rest is not here."""

import itertools
import os
import stat

import numpy as np
import pytest
from gpiozero.pins.mock import MockFactory, MockPin
from memory_sound import MemorySound

from pi_controller.board.interfaces import StripError
from pi_controller.board.strips import MemoryStrip
from pi_controller.config import Settings
from pi_controller.tools import machine_checks, pin_checks

CARDS = """\
 0 [Headphones     ]: bcm2835_headpho - bcm2835 Headphones
                      bcm2835 Headphones
 1 [Loopback       ]: Loopback - Loopback
                      Loopback 1
"""
PI = Settings.model_validate({"strips": {"kind": "pi"}, "buttons": {"kind": "pi"}})


@pytest.fixture
def root(tmp_path):
    """Return a machine's files: a Raspberry Pi with SPI and its groups."""
    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "proc/device-tree/model").write_bytes(b"Raspberry Pi 5 Model B Rev 1.0\0")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/spidev0.0").touch()
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/group").write_text("dialout:x:20:\ngpio:x:997:\nspi:x:999:\n", "utf-8")
    return tmp_path


@pytest.fixture(autouse=True)
def nobody(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


def by_name(lines):
    return {line.name: line for line in lines}


def test_a_pi_that_is_set_up_passes(root, monkeypatch):
    monkeypatch.setattr(machine_checks, "_version", lambda package: "1.0")
    lines = by_name(machine_checks.machine_lines(PI, root, {"dialout", "gpio", "spi"}))
    assert {line.outcome for line in lines.values()} == {"pass"}
    assert lines["model"].message == "Raspberry Pi 5 Model B Rev 1.0"


def test_incomplete_pi_setup_fails_with_remedies(root, monkeypatch):
    (root / "dev/spidev0.0").unlink()
    monkeypatch.setattr(machine_checks, "_version", lambda package: "")
    lines = by_name(machine_checks.machine_lines(PI, root, {"users"}))
    assert {name for name, line in lines.items() if line.outcome == "fail"} == {
        "gpiozero", "lgpio", "SPI", "group dialout", "group gpio", "group spi",
    }  # fmt: skip
    assert all(line.hint for line in lines.values() if line.outcome == "fail")


def test_laptop_without_pins_has_no_failures(tmp_path):
    lines = by_name(machine_checks.machine_lines(Settings(), tmp_path, set()))
    assert not [line for line in lines.values() if line.outcome == "fail"]
    assert lines["model"].outcome == lines["SPI"].outcome == "not here"


def test_working_disk_passes_and_leaves_no_file(tmp_path):
    lines = by_name(machine_checks.disk(tmp_path / "j.sqlite"))
    assert [lines[name].outcome for name in ("room", "writing", "fsync")] == ["pass"] * 3
    assert list(tmp_path.iterdir()) == []


def test_full_disk_and_missing_folder_fail(tmp_path, monkeypatch):
    monkeypatch.setattr(machine_checks, "LOW_DISK_BYTES", 1 << 62)
    assert by_name(machine_checks.disk(tmp_path / "j.sqlite"))["room"].outcome == "fail"
    (line,) = machine_checks.disk(tmp_path / "no" / "j.sqlite")
    assert line.outcome == "fail"


def test_failed_fsync_fails_the_writing_check(tmp_path, monkeypatch):
    def broken(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    line = by_name(machine_checks.disk(tmp_path / "j.sqlite"))["writing"]
    assert line.outcome == "fail"
    assert "Input/output error" in line.message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_write_protected_folder_fails_the_writing_check(tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert by_name(machine_checks.disk(tmp_path / "j.sqlite"))["writing"].outcome == "fail"
    finally:
        tmp_path.chmod(stat.S_IRWXU)


class Shorted(MockPin):
    """A pin that its pull-up cannot lift."""

    def _set_pull(self, value):
        super()._set_pull(value)
        self.drive_low()


def test_released_buttons_pass_and_shorted_one_fails():
    assert {line.outcome for line in pin_checks.buttons(PI, MockFactory())} == {"pass"}
    factory = MockFactory()
    factory.pin(PI.buttons.pins.shown, pin_class=Shorted)
    lines = by_name(pin_checks.buttons(PI, factory))
    assert [name for name, line in lines.items() if line.outcome == "fail"] == ["button shown"]
    assert "short" in lines["button shown"].hint


def test_busy_button_pin_fails_with_remedy():
    factory = MockFactory()
    from gpiozero import DigitalInputDevice

    with DigitalInputDevice(PI.buttons.pins.ready, pull_up=True, pin_factory=factory):
        line = by_name(pin_checks.buttons(PI, factory))["button ready"]
    assert line.outcome == "fail"
    assert "stop the table" in line.hint


def test_unconfigured_buttons_and_strips_are_not_here():
    assert {line.outcome for line in pin_checks.buttons(Settings())} == {"not here"}
    assert [line.outcome for line in pin_checks.strips(Settings())] == ["not here"]


def test_the_strips_are_lit_and_given_back(monkeypatch):
    strip, frames = MemoryStrip(69), []
    monkeypatch.setattr(strip, "show", frames.append)
    (line,) = pin_checks.strips(PI, lambda: strip)
    assert line.outcome == "pass"
    assert "69 pixels" in line.message
    [frame] = frames
    assert len(frame) == 69
    assert [[value > 0 for value in pixel] for pixel in frame[:3]] == np.eye(3, dtype=bool).tolist()


def test_strip_error_fails_with_its_hint():
    def none():
        raise StripError("there is no strip", "plug it in")

    (line,) = pin_checks.strips(PI, none)
    assert (line.outcome, line.message, line.hint) == ("fail", "there is no strip", "plug it in")


def test_the_loudspeaker_is_opened_when_sound_is_wanted(tmp_path):
    wanted = Settings.model_validate({"voice": {"english": True}})
    ticks = itertools.count()
    sound = MemorySound(lambda: next(ticks) * 0.02)
    waits = []

    def line(settings):
        *waiting, found = machine_checks.loudspeaker(settings, sound, tmp_path)
        waits.extend(waiting)
        return found

    assert line(Settings()).outcome == "not here"
    assert not sound.played
    (tmp_path / "proc/asound").mkdir(parents=True)
    (tmp_path / "proc/asound/cards").write_text(CARDS, "utf-8")
    good = line(wanted)
    assert good.outcome == "pass"
    assert "0: Headphones, bcm2835_headpho - bcm2835 Headphones" in good.message
    assert waits
    sound.fails = "the loudspeaker is disconnected"
    assert (line(wanted).outcome, line(wanted).message) == ("fail", "the loudspeaker is disconnected")
    (tmp_path / "proc/asound/cards").write_text("--- no soundcards ---\n", "utf-8")
    assert "no sound card" in line(wanted).message


@pytest.mark.parametrize(("program", "outcome"), [("no such program", "fail"), ("python3", "pass")])
def test_speech_needs_its_program(root, monkeypatch, program, outcome):
    monkeypatch.setattr(machine_checks, "SPEECH_PROGRAM", program)
    settings = Settings.model_validate({"voice": {"english": True}})
    assert by_name(machine_checks.machine_lines(settings, root, set()))["speech"].outcome == outcome
    assert "speech" not in by_name(machine_checks.machine_lines(Settings(), root, set()))


def test_the_group_of_the_loudspeaker_is_asked_for(root):
    (root / "etc/group").write_text("audio:x:29:\n", "utf-8")
    settings = Settings.model_validate({"voice": {"english": True}})
    assert by_name(machine_checks.machine_lines(settings, root, set()))["group audio"].outcome == "fail"
    assert by_name(machine_checks.machine_lines(settings, root, {"audio"}))["group audio"].outcome == "pass"
