"""`moccasin-mat bracket`: a tournament as JSON lines."""

from __future__ import annotations

import json

import pytest

from pi_controller.cli.pipes import bracket
from pi_controller.errors import UsageError

LINES = [
    {"do": "enter", "teams": ["a", "b", "c"]},
    {"do": "result", "match": "W1-1", "winner": "c"},
    {"do": "result", "match": "nothing", "winner": "c"},
    {"do": "result", "match": "F1", "winner": "c"},
]


def run(tmp_path, capsys, lines, *options):
    path = tmp_path / "actions.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    status = bracket([*options, str(path)])
    return status, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_each_result_line_yields_a_line_of_matches(tmp_path, capsys):
    status, answers = run(tmp_path, capsys, LINES)
    assert status == 2
    assert len(answers) == 5
    assert [answer.get("error", {}).get("kind") for answer in answers] == [None, None, None, "invalid", "illegal"]
    assert answers[1]["ready"] == [
        {"match": "W1-1", "teams": ["b", "c"], "round": 1, "bracket": "winners", "begun": False}
    ]
    assert {"ready", "eliminated", "standings", "champion"} <= set(answers[2])


def test_formats_and_options(tmp_path, capsys):
    enter = [{"do": "enter", "teams": ["a", "b", "c"]}]
    assert run(tmp_path, capsys, enter, "--format", "single")[1][1]["ready"][0]["bracket"] == "winners"
    league = [*enter, {"do": "result", "match": "R1-1", "winner": "b", "sweep": True, "sticks": {"b": 11, "c": 0}}]
    status, answers = run(tmp_path, capsys, league, "--format", "round_robin")
    assert status == 0
    assert answers[2]["standings"][0] | {"team": "b", "points": 3, "sticks": 11} == answers[2]["standings"][0]
    with pytest.raises(UsageError):
        bracket(["--format", "swiss"])
    with pytest.raises(UsageError, match="cannot read"):
        bracket([str(tmp_path / "nothing")])


def test_third_place_requires_single_elimination(tmp_path, capsys):
    lines = [
        {"do": "enter", "teams": [*"abcd"]},
        *({"do": "result", "match": f"W1-{n}", "winner": "ab"[n - 1]} for n in (1, 2)),
    ]
    status, answers = run(tmp_path, capsys, lines, "--format", "single", "--third-place")
    assert (status, [one["match"] for one in answers[-1]["ready"]]) == (0, ["P3", "F1"])
    for options in (["--format", "double"], ["--format", "groups", "--knockout", "double"]):
        with pytest.raises(UsageError, match="third place"):
            bracket([*options, "--third-place"])
