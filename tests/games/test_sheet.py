"""The score sheet's contract, in the process and as the command."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pi_controller.cli.pipes import score
from pi_controller.errors import UsageError
from pi_controller.rules import sheet
from pi_controller.rules.registry import game

if TYPE_CHECKING:
    from pathlib import Path

TOSS = b'{"do":"toss","winner":"A"}\n'
MISS = b'{"do":"hit","found":false}\n'
COMMAND = [sys.executable, "-m", "pi_controller", "score"]


def keep(*lines: bytes, **chosen: object) -> tuple[int, list[Any]]:
    """Keep the score of `lines`; return the exit status and what was written."""
    out = io.StringIO()
    status = sheet.run(game("dakota", chosen), lines, out)
    return status, [json.loads(line) for line in out.getvalue().splitlines()]


INVALID = {
    "no JSON": b"nope",
    "half": b'{"do":"hit","found":tr',
    "two values": MISS.strip() + MISS,
    "single quotes": b"{'do':'hit','found':false}",
    "a list": b"[1]",
    "a word": b'"hit"',
    "a number": b"7",
    "null": b"null",
    "no do": b"{}",
    "unknown word": b'{"do":"jump"}',
    "wrong type": b'{"do":"hit","found":1}',
    "pad 7": b'{"do":"hit","found":false,"pad":7}',
    "a key more": b'{"do":"hit","found":false,"hard":true}',
    "a key twice": b'{"do":"hit","found":false,"found":true}',
    "NaN": b'{"do":"hit","found":false,"pad":NaN}',
    "Infinity": b'{"do":"hit","found":false,"pad":-Infinity}',
    "beyond floats": b'{"do":"hit","found":false,"pad":1e999}',
    "huge number": b'{"do":"hit","found":false,"pad":' + b"9" * 10_000 + b"}",
    "large number": b'{"do":"hit","found":false,"pad":' + b"9" * 3000 + b"}",
    "deep lists": b"[" * 200_000,
    "deep objects": b'{"do":' * 100_000,
    "deep and whole": b'{"do":' + b"[" * 500 + b"]" * 500 + b"}",
    "no UTF-8": b'{"do":"hit\xff","found":false}',
    "UTF-16": '{"do":"hit","found":false}'.encode("utf-16"),
    "a surrogate": b'{"do":"\\ud800"}',
    "NUL": b"\x00",
    "control character": b'{"do":"hi\x01t"}',
    "long word": b'{"do":"' + b"x" * 100_000 + b'"}',
    "mark in the middle": b"\xef\xbb\xbf" + MISS,
}


@pytest.mark.parametrize("line", INVALID.values(), ids=INVALID)
def test_invalid_line_is_answered_and_sheet_continues(line: bytes):
    status, answers = keep(TOSS, line, MISS)
    assert status == 2
    assert set(answers[2]) == {"error"}
    assert answers[2]["error"]["kind"] == "invalid"
    message = answers[2]["error"]["message"]
    assert message
    assert len(message) < 300
    assert "\n" not in message
    assert answers[3]["state"]["owed"] == "second"


@given(st.lists(st.binary(max_size=40) | st.text(max_size=40).map(str.encode), max_size=5))
@example([b'{"do":' * 3000])
@settings(max_examples=100, deadline=None)
def test_no_line_ends_the_sheet(lines: list[bytes]):
    status, answers = keep(b"\n", *lines)  # a blank line first, for a byte order mark may begin a file
    assert len(answers) == 1 + sum(bool(line.strip()) for line in lines)
    assert status == (2 if len(answers) > 1 else 0)


def test_blank_lines_and_line_endings_are_ignored():
    status, answers = keep(b"\n", b"\xef\xbb\xbf" + TOSS.strip() + b"\r\n", b"  \t\r\n")
    assert (status, len(answers)) == (2, 2)  # the mark belongs to the first line only
    status, answers = keep(b"\xef\xbb\xbf" + TOSS.strip() + b"\r\n", b"\n", b"  \t\r\n", MISS.strip())
    assert (status, len(answers)) == (0, 3)


def test_an_empty_sheet_is_in_order():
    status, answers = keep()
    assert (status, len(answers)) == (0, 1)


def test_every_answer_is_flushed():
    flushed: list[str] = []

    class Out(io.StringIO):
        def flush(self) -> None:
            flushed.append(self.getvalue())

    sheet.run(game("dakota"), [TOSS, b"nope\n"], Out())
    assert [text.count("\n") for text in flushed] == [1, 2, 3]


def test_actions_are_read_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "game.jsonl"
    path.write_bytes(TOSS + MISS + MISS)
    for arguments in (
        ["dakota", str(path)],
        ["dakota", "--set", "points=3", str(path)],
        ["--set=points=3", "dakota", str(path)],
    ):
        assert score(arguments) == 0
        assert len(capsys.readouterr().out.splitlines()) == 4
    path.write_bytes(TOSS + TOSS)
    assert score(["dakota", str(path)]) == 2


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["checkers"], "there is no game 'checkers'"),
        (["dakota", "--set", "point=3"], "dakota has no option 'point'"),
        (["dakota", "--set", "points=0"], "option points cannot be 0"),
        (["dakota", "--set", "points"], "'points' is not an assignment"),
        (["dakota", "--set", "points=3", "--set", "points=4"], "option points is set twice"),
        (["dakota", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
        (["dakota", "."], "cannot read ."),
        (["dakota", "a", "b"], "score: unrecognized arguments"),
        (["dakota", "--points", "3"], "score: unrecognized arguments"),
        ([], "score: the following arguments are required"),
    ],
)
def test_wrong_arguments_raise_before_any_input_or_output(
    arguments: list[str],
    what: str,
    *,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError) as caught:
        score(arguments)
    assert caught.value.message.startswith(what)
    assert caught.value.hint
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("arguments", [["--help"], ["dakota", "--help"], ["dakota", "-h"]])
def test_help_lists_the_options(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        score(arguments)
    assert not caught.value.code
    out = capsys.readouterr().out
    for option in game("dakota").options:
        assert f"{option.name}: {option.allowed}" in out
        assert option.about in out


def test_command_prints_error_and_hint_lines():
    done = subprocess.run([*COMMAND, "dakota", "--set", "points=ten"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "moccasin-mat: option points cannot be 'ten'",
        "  points takes a whole number from 1 to 99",
    ]
