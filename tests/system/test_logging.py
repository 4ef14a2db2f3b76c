"""Log lines: for people with the time of day, for systemd's journal with a priority on every line."""

import logging
import os
import subprocess
import sys

import pytest

from pi_controller.cli.arguments import JournalFormatter, in_systemd_journal

LOGS = """
import logging
from pi_controller.cli.arguments import set_log_level
set_log_level({level!r})
log = logging.getLogger("table")
log.debug("a byte"), log.info("Ann signed in"), log.warning("two\\nlines"), log.error("halted")
logging.getLogger("uvicorn.error").info("Started server process")
"""


def logged(level, stderr=subprocess.PIPE, **environment):
    command = [sys.executable, "-c", LOGS.format(level=level)]
    return subprocess.run(command, stderr=stderr, env={**os.environ, **environment}, text=True, check=True).stderr


@pytest.mark.parametrize(
    ("level", "words"),
    [
        ("debug", ["a byte", "Ann signed in", "two", "lines", "halted"]),
        ("info", ["Ann signed in", "two", "lines", "halted"]),
        ("warning", ["two", "lines", "halted"]),
        ("error", ["halted"]),
    ],
)
def test_log_level_includes_higher_levels(level, words):
    lines = logged(level).splitlines()
    assert [line.rpartition(": ")[2] for line in lines] == words


def test_people_see_the_time_and_the_level():
    first = logged("info").splitlines()[0]
    time, level, text = first.split(maxsplit=2)
    assert (time.count(":"), level, text) == (2, "INFO:", "Ann signed in")


def test_the_journal_gets_a_priority_on_every_line(tmp_path):
    path = tmp_path / "stderr"
    with path.open("w") as file:
        status = os.fstat(file.fileno())
        logged("info", stderr=file, JOURNAL_STREAM=f"{status.st_dev}:{status.st_ino}")
    assert path.read_text().splitlines() == ["<6>Ann signed in", "<4>two", "<4>lines", "<3>halted"]


def test_somebody_elses_journal_is_none_of_ours(tmp_path):
    with (tmp_path / "stderr").open("w") as file:
        assert not in_systemd_journal({"JOURNAL_STREAM": "8:1"}, file.fileno())
        assert not in_systemd_journal({}, file.fileno())
        descriptor = file.fileno()
    assert not in_systemd_journal({"JOURNAL_STREAM": "8:1"}, descriptor), "closed"


def test_a_traceback_has_its_priority_too():
    try:
        int("no\nsense")
    except ValueError:
        record = logging.LogRecord("table", logging.CRITICAL, __file__, 1, "it ends", (), sys.exc_info())
    assert all(line.startswith("<2>") for line in JournalFormatter("%(message)s").format(record).splitlines())
