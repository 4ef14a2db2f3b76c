"""[voice]: silent unless a file says otherwise, and every fault with what to write instead."""

from __future__ import annotations

from datetime import time

import pytest

from pi_controller.config import Settings, read_settings
from pi_controller.config.model import VoiceSection
from pi_controller.errors import SettingsError


def test_voice_is_off_by_default():
    wanted = Settings().voice
    assert not wanted.is_audible
    assert not wanted.english
    assert VoiceSection(folder="/srv/words").is_audible
    assert VoiceSection(english=True).is_audible


@pytest.fixture
def fault(tmp_path):
    """Return what is said of a line under [voice], which stands in line 2."""

    def fault(line):
        path = tmp_path / "mat.toml"
        path.write_text(f"[voice]\n{line}\n", "utf-8")
        with pytest.raises(SettingsError) as caught:
            read_settings(path)
        assert caught.value.hint
        assert caught.value.message.startswith(f"{path}:")
        return caught.value.message.removeprefix(f"{path}:")

    return fault


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("volume = 1.1", "1"),
        ("volume = -0.1", "0"),
        ('volume = "loud"', "volume"),
        ("folder = 3", "folder"),
        ('english = "yes"', "english"),
        ('device = ""', "aplay -L"),
        ('device = "-D"', "aplay -L"),
        ('device = "hw:1,0"', "plughw:"),
        ('device = "a\\u0007"', "aplay -L"),
        ('quiet_from = "25:00"\nquiet_to = "07:00"', "a time of day"),
        ('quiet_from = "9:00"\nquiet_to = "07:00"', "a time of day"),
        ('quiet_from = "21:00"', "it is required with"),
        ('quiet_to = "07:00"', "it is required with"),
        ('languages = "dak"', "languages"),
    ],
)
def test_fault_names_its_line_and_accepted_value(fault, line, said):
    what = fault(line)
    assert what.startswith(("1:", "2:"))
    assert said in what


def test_valid_voice_settings_are_accepted(tmp_path):
    path = tmp_path / "mat.toml"
    path.write_text(
        '[voice]\nfolder = "/srv/words"\nenglish = true\ndevice = "plughw:CARD=Device,DEV=0"\nvolume = 1\n'
        'quiet_volume = 0\nquiet_from = "21:30"\nquiet_to = "07:00"\n',
        "utf-8",
    )
    wanted = read_settings(path).voice
    assert (wanted.volume, wanted.volume_at(time(22, 0))) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("begins", "ends", "quiet", "loud"),
    [
        ("21:30", "07:00", ["21:30", "23:59", "00:00", "06:59"], ["21:29", "07:00", "12:00"]),
        ("13:00", "14:00", ["13:00", "13:59"], ["12:59", "14:00", "00:00"]),
    ],
)
def test_the_quiet_hours_also_over_midnight(begins, ends, quiet, loud):
    wanted = VoiceSection(quiet_from=begins, quiet_to=ends, volume=0.8, quiet_volume=0.3)
    assert {wanted.volume_at(time.fromisoformat(one)) for one in quiet} <= {0.3}
    assert {wanted.volume_at(time.fromisoformat(one)) for one in loud} == {0.8}


def test_quiet_is_never_louder():
    wanted = VoiceSection(quiet_from="21:30", quiet_to="07:00", volume=0.1, quiet_volume=0.9)
    assert wanted.volume_at(time(23, 0)) == 0.1
