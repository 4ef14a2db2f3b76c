"""Left alone for years: the host's files, counts of sessions, recoveries, and the verb."""

import json
from datetime import date

import pytest
from exhibit_rig import Rig

from pi_controller.cli import main
from pi_controller.config import read_settings
from pi_controller.errors import SettingsError
from pi_controller.exhibit.crash_count import MAX_CRASHES, CrashCounter
from pi_controller.exhibit.exhibit import EndedSession
from pi_controller.exhibit.host_files import TEXTS, HostFiles, read_host_texts
from pi_controller.exhibit.screen import build_screen
from pi_controller.exhibit.usage import Usage

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
GOOD = """
title = "Come and play"
attribution = "Shown with the permission of the museum's neighbours."
picture = "house.png"

[[labels]]
name = "A Notice"
text = "As it was given to us."
community = "The community"

[[stories]]
title = "A story"
teller = "Its teller"
text = "In the teller's words."
"""


@pytest.fixture
def folder(tmp_path):
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / TEXTS).write_text(GOOD)
    (texts / "house.png").write_bytes(PNG)
    return texts


def test_default_host_texts_are_empty():
    host = HostFiles(None)
    assert all(not value for _, value in host.texts)
    assert host.pictures == {}


def test_broken_file_reports_fault_and_keeps_last_texts(folder, tmp_path):
    kept = tmp_path / "kept"
    host = HostFiles(folder, kept)
    assert host.texts.title == "Come and play"
    assert host.texts.labels[0].community == "The community"
    (folder / TEXTS).write_text('title = "Broken\nwhat = 3\n')
    assert not host.reload()
    assert host.texts.title == "Come and play"
    assert TEXTS in host.fault
    again = HostFiles(folder, kept)
    assert again.texts.title == "Come and play", "after a restart, too"
    assert again.pictures["house.png"][0] == PNG
    assert again.fault
    (folder / TEXTS).write_text('title = "New"\n')
    assert again.reload()
    assert (again.texts.title, again.fault, again.pictures) == ("New", "", {})


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ('titel = "x"', "titel"),
        ("title = 3", "title"),
        ('picture = "../secret.png"', "picture"),
        ('picture = "gone.png"', "gone.png"),
        ('picture = "fake.png"', "fake.png"),
        ('title = "' + "x" * 500 + '"', "title"),
        ("[[stories]]\ntitle = 'no teller'\ntext = 'x'", "teller"),
    ],
)
def test_every_text_fault_is_reported(folder, texts, says):
    (folder / TEXTS).write_text(texts)
    (folder / "fake.png").write_text("no picture")
    with pytest.raises(SettingsError, match=says) as caught:
        read_host_texts(folder)
    assert TEXTS in caught.value.hint
    assert "check-settings" not in str(caught.value)


@pytest.mark.parametrize(
    ("named", "written", "content"),
    [
        ("\u00e9glise.png", "e\u0301glise.png", PNG),
        ("e\u0301glise.png", "\u00e9glise.PNG", PNG),
        ("photo.jpeg", "photo.jpeg", b"\xff\xd8\xff\xe0"),
        ("PHOTO.JPG", "photo.jpg", b"\xff\xd8\xff\xe0"),
    ],
)
def test_picture_is_found_by_case_and_accents(folder, named, written, content):
    (folder / TEXTS).write_text(f'picture = "{named}"\n', "utf-8")
    (folder / written).write_bytes(content)
    assert read_host_texts(folder)[1][named][0] == content


def test_a_folder_without_texts_says_how_to_begin(tmp_path):
    with pytest.raises(SettingsError, match="title = "):
        read_host_texts(tmp_path)


def test_the_host_is_seen_on_the_screen(folder):
    rig = Rig()
    rig.exhibit.host = HostFiles(folder)
    screen = build_screen(rig.exhibit)
    assert screen.title == "Come and play"
    assert screen.credit.startswith("Shown with the permission")


def test_counts_are_of_sessions_and_days_alone(tmp_path):
    path = tmp_path / "usage.json"
    usage = Usage(path)
    usage.add(date(2026, 5, 3), EndedSession("mat", "finished", 61.4, 7))
    usage.add(date(2026, 5, 3), EndedSession("learn", "nobody", 30.0, 2))
    assert json.loads(path.read_text())["2026-05-03"] == {
        "sessions": 2, "mat": 1, "teams": 0, "learn": 1, "finished": 1, "left": 0, "nobody": 1, "time": 0,
        "hides": 9, "seconds": 91,
    }  # fmt: skip
    assert Usage(path).csv().splitlines()[1] == "2026-05-03,2,1,0,1,1,0,1,0,9,91"
    path.write_text("[broken")
    assert Usage(path).days == {}


def test_without_usage_counting_no_file_is_written(tmp_path):
    Usage(None).add(date(2026, 5, 3), EndedSession("mat", "finished", 61.4, 7))
    assert list(tmp_path.iterdir()) == []


def test_too_many_crashes_in_one_boot_are_flagged(tmp_path):
    path = tmp_path / "recoveries"
    found = [CrashCounter(path, "boot 1").count for _ in range(MAX_CRASHES + 2)]
    assert found == [0, 1, 2, 3, 4]
    assert CrashCounter(path, "boot 1").too_many
    assert not CrashCounter(path, "boot 2").too_many, "the machine was switched off and on"


def test_a_run_that_ends_well_is_no_recovery(tmp_path):
    path = tmp_path / "recoveries"
    for _ in range(9):
        recoveries = CrashCounter(path, "boot 1")
        assert recoveries.count == 0
        recoveries.record_clean_exit()


@pytest.mark.parametrize("content", ["", "[]", '{"boot": 1}', "\x00"])
def test_damaged_crash_count_restarts_at_zero(tmp_path, content):
    path = tmp_path / "recoveries"
    path.write_text(content)
    assert CrashCounter(path, "boot 1").count == 0


def test_settings_errors_name_wrong_or_missing_keys(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text('[exhibit]\nopens = "09:00"\nseason_from = "13-01"\nlanguages = []\n')
    with pytest.raises(SettingsError) as caught:
        read_settings(path)
    told = str(caught.value)
    assert "season_from" in told
    assert "languages" in told
    path.write_text('[exhibit]\nopens = "09:00"\n')
    with pytest.raises(SettingsError, match="closes"):
        read_settings(path)


def test_check_prints_texts_or_their_fault(folder, tmp_path, capsys):
    settings = tmp_path / "table.toml"
    settings.write_text('[exhibit]\nfolder = "texts"\n')
    assert main(["exhibit", "--settings", str(settings), "--check"]) == 0
    out = capsys.readouterr().out
    assert "Come and play" in out
    assert "told by Its teller" in out
    other = tmp_path / "other"
    other.mkdir()
    (other / TEXTS).write_text('title = "Another"')
    assert main(["exhibit", "--settings", str(settings), "--check", str(other)]) == 0
    assert "Another" in capsys.readouterr().out
    (folder / TEXTS).write_text("titel = 1")
    assert main(["exhibit", "--settings", str(settings), "--check"]) == 1
    assert "titel" in capsys.readouterr().err
