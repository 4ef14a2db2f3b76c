from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from pi_controller.display.i18n import ENGLISH
from pi_controller.display.terminal import TerminalTable, render_text
from pi_controller.display.terminal_drawing import pixel_lines
from pi_controller.table.view import Hit, Opening, QuestionView

FULL = {
    "short": {"A": 4, "B": 4},
    "calls": ("paguga", "obojun", "wheya"),
    "hits": (Hit(2, found=False), Hit(4, found=True)),
    "commit": "ab" * 32,
    "opening": Opening(3, "ab" * 32, 4, "cd" * 32),
    "situation": "wheya",
}


def test_terminal_shows_game_teams_owed_hit_and_call(view):
    said = render_text(view(calls=("paguga",), commit="ab" * 32, owed="second", hits=(Hit(2, found=False),)), ENGLISH)
    for part in (
        "Hampa Apena",
        "hide 3",
        "Big Coulee",
        "Long Hollow",
        "Second hit: Long Hollow",
        "Paguga (pa-goo-ga, the goo long and guttural)",
    ):
        assert part in said
    assert [line.split()[2] for line in said.splitlines() if line.startswith(("● A", "■ B"))] == ["1", "2"]
    assert "\x1b" not in said


def test_right_to_left_name_adds_no_invisible_characters(view):
    said = render_text(view(teams={"A": "قبيلة الرياح", "B": "עברית"}), ENGLISH)
    assert "First hit: עברית" in said
    assert not set(said) & set("\u2066\u2067\u2068\u2069\u202a\u202b\u202c")


def bars(said: str, label: str) -> list[str]:
    lines = (line.strip() for line in said.splitlines())
    return [line.removeprefix(label).rsplit(maxsplit=1)[0].replace(" ", "") for line in lines if line.startswith(label)]


@pytest.mark.parametrize("width", [40, 61, 80, 104, 200])
def test_the_strips_count_the_sticks(view, width):
    said = render_text(view(phase="show", long={"A": 8, "B": 5}, middle=7), ENGLISH, width)
    cells = 2 if width >= 104 else 1
    a, b = bars(said, "sticks")
    assert a.count("█") == 8 * cells
    assert b.count("█") + b.count("▒") == 5 * cells
    assert b.count("▒") == 2 * cells, "team B is told by its pattern where there is no colour"
    (middle,) = bars(said, "middle")
    assert (middle.count("█"), middle.count("·")) == (7 * cells, 13)


@settings(deadline=None)
@given(a=st.text(max_size=60), b=st.text(max_size=60), width=st.integers(40, 160))
def test_no_name_breaks_the_layout(view, a, b, width):
    said = render_text(view(teams={"A": a, "B": b}, **FULL), ENGLISH, width).splitlines()
    assert all(cell_len(line) <= width for line in said)
    assert len([line for line in said if "·" in line]) >= 3


@pytest.mark.parametrize("phase", ["toss", "hide", "check", "hit", "show", "over", "halted"])
def test_every_phase_fits_eighty_by_twenty_four(view, phase):
    told = view(phase=phase, winner="A" if phase == "over" else None, note="The disk is full.", **FULL)
    said = render_text(told, ENGLISH).splitlines()
    assert len(said) <= 24
    assert max(map(cell_len, said)) <= 80


def test_terminal_lists_question_and_its_answers(view):
    said = render_text(view(question=QuestionView("two_struck", ("2", "3"), (2, 3))), ENGLISH)
    assert "The judge decides" in said
    assert "? Pads 2 and 3." in said
    assert "pad 2 / pad 3" in said


def printed(view, **how):
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, legacy_windows=False, _environ={}, **how)
    console.print(TerminalTable(view, ENGLISH))
    return out.getvalue()


def test_colours_follow_the_terminal(view):
    assert "38;2;" in printed(view(), color_system="truecolor")
    assert "\x1b[3" not in printed(view(), color_system=None)


def test_a_plain_terminal_gets_plain_characters(view):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console = Console(file=out, width=80, _environ={})
    console.print(TerminalTable(view(long={"A": 8, "B": 4}), ENGLISH))
    out.flush()
    said = out.buffer.getvalue().decode("ascii")  # type: ignore[attr-defined]
    assert "# # # #" in said


def test_terminal_shows_the_opened_seals_pad(view):
    assert "opened: it was under pad 4" in render_text(view(**FULL), ENGLISH)
    assert "opened" not in render_text(view(**(FULL | {"opening": None})), ENGLISH)


def test_scene_pixels_are_rows_of_blocks_and_dots():
    pixels = [(255, 0, 0)] * 3 + [(0, 0, 0)] * 65 + [(0, 0, 9)]
    lines = [line.plain for line in pixel_lines(pixels)]
    assert [len(line.split()[-1]) for line in lines] == [20, 20, 20, 9]
    assert lines[0].endswith("███" + "·" * 17)
    assert lines[3].endswith("·" * 8 + "█")
