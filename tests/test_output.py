"""Lines of the command: paths, options and quoted commands are in one piece, on a terminal and in a pipe."""

import ast
import io
import re
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from rich.table import Table
from rich.text import Text

from pi_controller import output
from pi_controller.cli import VERBS, find_verb, main
from pi_controller.output import line_width, open_console, show_progress

ROOT = Path(__file__).parents[1]
PATH = "/srv/" + "moccasin-mat-table/" * 8
WHOLE = re.compile(r"(?<!\w)'[^'\n]+'(?!\w)|[/-]\w[\w./-]*")


@pytest.fixture
def cp1252(monkeypatch):
    """Return what replaces the standard output by a terminal, or else a pipe, in the encoding that Windows gives it."""

    def replace(*, is_terminal):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
        stream.isatty = lambda: is_terminal
        monkeypatch.setattr(sys, "stdout", stream)
        return stream

    return replace


def record_of(folder):
    path = folder / "a.record"
    path.write_text("Record: 1\nGame: dakota\nTeam A: Wa\u014bbdi\nTeam B: \u00d6yate\n\n     toss A\nend\n", "utf-8")
    return str(path)


def test_pipes_always_get_utf_8(cp1252, tmp_path):
    out = cp1252(is_terminal=False)
    assert main(["game", "record", record_of(tmp_path)]) == 0
    out.flush()
    assert {"Wa\u014bbdi", "\u00d6yate"} <= set(out.buffer.getvalue().decode("utf-8").split())


def test_terminal_escapes_letters_it_lacks(cp1252, tmp_path):
    out = cp1252(is_terminal=True)
    assert main(["game", "record", record_of(tmp_path)]) == 0
    out.flush()
    assert {"Wa\\u014bbdi", "\u00d6yate"} <= set(out.buffer.getvalue().decode("cp1252").split())


def test_piped_lines_are_not_wrapped_or_padded(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    table = Table.grid()
    table.add_column(overflow="fold")
    table.add_row(Text(PATH))
    table.add_row("short")
    console = open_console()
    console.print(table)
    console.print(Text(f"run 'moccasin-mat mat check --settings {PATH}'"))
    assert capsys.readouterr().out.splitlines() == [PATH, "short", f"run 'moccasin-mat mat check --settings {PATH}'"]
    assert line_width() > len(PATH)


@pytest.mark.parametrize("verb", VERBS)
def test_help_keeps_paths_options_and_commands_whole(verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    parser = find_verb(verb).parser()
    texts = [parser.description or "", *(action.help or "" for action in parser._actions)]
    shown = parser.format_help()
    assert [whole for text in texts for whole in WHOLE.findall(" ".join(text.split())) if whole not in shown] == []


def test_consoles_on_standard_output_are_open_consoles():
    made = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / "pi_controller").rglob("*.py")
        if path.name != "output.py" and "rich.console" in path.read_text("utf-8")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Console"
        if not {"file", "stderr"} & {keyword.arg for keyword in node.keywords}
    ]
    assert made == []


@pytest.mark.parametrize("is_terminal", [True, False])
def test_long_work_shows_progress_on_terminals_only(monkeypatch, is_terminal):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    timer = Mock(ident=None)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(output, "Timer", Mock(return_value=timer))
    monkeypatch.setenv("TERM", "xterm")
    with show_progress("reading a.sqlite"):
        after_s, show = output.Timer.call_args.args
        assert (after_s, timer.start.called) == (2.0, is_terminal)
        if is_terminal:
            show()
    assert ("reading a.sqlite" in stream.getvalue()) is is_terminal
