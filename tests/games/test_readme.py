"""The page about the rules says what is so."""

import io
import re
from pathlib import Path

import pytest

import pi_controller.games
from pi_controller.rules import sheet
from pi_controller.rules.options import format_option
from pi_controller.rules.registry import game, names

FOLDER = Path(pi_controller.rules.__file__).parent
PAGE = (FOLDER / "README.md").read_text("utf-8")


def test_the_score_sheet_example_is_what_it_says():
    actions, answers = re.findall(r"^```jsonl\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    out = io.StringIO()
    assert sheet.run(game("dakota"), io.BytesIO(actions.encode()), out) == 2
    assert out.getvalue() == answers


@pytest.mark.parametrize("name", re.findall(r"^## `(\w+)`$", PAGE, re.MULTILINE))
def test_the_options_table_is_the_options(name):
    section = PAGE.split(f"\n## `{name}`\n")[1].split("\n## ")[0].split("| word |")[0]
    rows = [
        tuple(cell.strip() for cell in row.split("|")[1:-1]) for row in re.findall(r"^\|.*\|$", section, re.MULTILINE)
    ]
    assert rows[2:] == [
        (f"`{option.name}`", format_option(option.default), option.allowed, option.about)
        for option in game(name).options
    ]


def test_every_game_has_its_section():
    assert set(re.findall(r"^## `(\w+)`$", PAGE, re.MULTILINE)) == set(names())


def test_every_module_is_in_the_table():
    named = set(re.findall(r"`(\w+\.py)`", PAGE))
    assert {path.name for path in FOLDER.glob("*.py")} - {"__init__.py", "wording.py"} <= named
