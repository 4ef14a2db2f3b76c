"""The page about the rules says what is so."""

import io
import re
from pathlib import Path

import pytest

import pi_controller.games
from pi_controller.cli.reference_pages import options_page
from pi_controller.rules import sheet
from pi_controller.rules.options import format_option
from pi_controller.rules.registry import game, names

FOLDER = Path(pi_controller.rules.__file__).parent
PAGE = (FOLDER.parent / "help" / "pages" / "reference" / "rules.md").read_text("utf-8")


def test_score_sheet_example_matches_actual_output():
    actions, answers = re.findall(r"^```jsonl\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    out = io.StringIO()
    assert sheet.run(game("dakota"), io.BytesIO(actions.encode()), out) == 2
    assert out.getvalue() == answers


@pytest.mark.parametrize("name", names())
def test_the_page_of_options_lists_them_all(name):
    section = options_page().split(f"\n## {name}\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \| ([^|]*) \|", section, re.MULTILINE) == [
        (option.name, format_option(option.default)) for option in game(name).options
    ]


def test_every_game_has_its_section():
    assert set(re.findall(r"^## `(\w+)`$", PAGE, re.MULTILINE)) == set(names())
