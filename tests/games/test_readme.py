"""The page about the rules says what is so."""

import io
import re
from pathlib import Path

import pi_controller.games
from pi_controller.games import sheet
from pi_controller.games.options import written
from pi_controller.games.registry import game

FOLDER = Path(pi_controller.games.__file__).parent
PAGE = (FOLDER / "README.md").read_text("utf-8")


def test_the_score_sheet_example_is_what_it_says():
    actions, answers = re.findall(r"^```jsonl\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    out = io.StringIO()
    assert sheet.run(game("dakota"), io.BytesIO(actions.encode()), out) == 2
    assert out.getvalue() == answers


def test_the_options_table_is_the_options():
    section = PAGE.split("## `dakota`")[1].split("| word |")[0]
    rows = [
        tuple(cell.strip() for cell in row.split("|")[1:-1]) for row in re.findall(r"^\|.*\|$", section, re.MULTILINE)
    ]
    assert rows[2:] == [
        (f"`{option.name}`", written(option.default), option.allowed, option.about) for option in game("dakota").options
    ]


def test_every_module_is_in_the_table():
    named = set(re.findall(r"`(\w+\.py)`", PAGE))
    assert {path.name for path in FOLDER.glob("*.py")} - {"__init__.py", "wording.py"} <= named
