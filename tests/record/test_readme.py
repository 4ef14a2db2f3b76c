"""The format's page tells the truth."""

import re
from pathlib import Path

import pytest

import pi_controller.record
from pi_controller.record.file import read
from pi_controller.record.notation import format_action, parse_action
from pi_controller.record.tokens import scan
from pi_controller.record.writing import write
from pi_controller.rules import registry

FOLDER = Path(pi_controller.record.__file__).parent
PAGE = (FOLDER.parent / "help" / "pages" / "reference" / "record.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| (\w+) \| (`.*`) \|$", PAGE.split("**Short forms**")[1].split("**Counts")[0], re.MULTILINE))


def test_the_example_is_written_as_records_are():
    (text,) = re.findall(r"^```record\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    record = read(text.encode())
    assert record.faults == []
    assert write(record) == text


@pytest.mark.parametrize("game", registry.names())
def test_the_short_forms_are_those(game):
    for line in re.findall(r"`([^`]+)`", ROWS[game]):
        assert format_action(game, parse_action(game, scan(line)[0])) == line
