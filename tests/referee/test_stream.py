"""`moccasin-mat referee`: lines in, lines out; what is no event is answered with an error and changes nothing."""

import io
import json
import subprocess
import sys

import pytest

from pi_controller.cli.pipes import referee as main
from pi_controller.errors import MatError, UsageError
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.referee import stream
from pi_controller.referee.commitment import check
from pi_controller.referee.settings import RefereeSettings
from pi_controller.referee.stream import run
from pi_controller.rules.registry import game

TOSS = {"t": 0.5, "event": "button", "name": "toss_a"}


def hands(*pads):
    return [
        {"t": 1.0 + n, "event": f"hand_{way}", "pad": pad, "side": "hider"}
        for n, pad in enumerate(pads)
        for way in ("in", "out")
    ]


def referee(*events, settings=None, **options):
    """Return (status, answers)."""
    dakota = game("dakota", options)
    out = io.StringIO()
    source = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
    status = run(dakota, DakotaReferee(dakota, settings, bytes), source, out)
    return status, [json.loads(line) for line in out.getvalue().splitlines()]


HIDDEN = [
    TOSS,
    *hands(3, 1, 4, 2),
    {"t": 6.0, "event": "button", "name": "ready"},
    {"t": 6.5, "event": "beads", "found": [{"pad": 2, "marked": True}]},
]


def test_new_phase_question_comes_with_its_line():
    silent = {"t": 0.7, "event": "sensors", "faults": [{"sensor": "disc", "pad": 3, "why": "silent"}]}
    _, out = referee(TOSS, silent, *HIDDEN[1:])
    assert [(line["t"], line["kind"]) for line in out[-2:]] == [(6.5, "commit"), (6.5, "question")]
    assert (out[-1]["about"], out[-1]["pads"]) == ("disc_dead", [3])


def test_a_hide():
    status, out = referee(
        *HIDDEN,
        {"t": 9.0, "event": "strike", "pads": [3]},
        {"t": 10.0, "event": "strike", "pads": [2]},
        {"t": 11.0, "event": "beads", "found": []},
    )
    assert status == 0
    kinds = [line["kind"] for line in out]
    assert kinds == ["action", *["hand_pass"] * 4, "ready", "commit", *["struck", "action"] * 2, "reveal", "shown"]
    toss, first, second = (line for line in out if line["kind"] == "action")
    assert toss["action"] == {"do": "toss", "winner": "A"}
    assert (toss["t"], toss["calls"], toss["state"]["long"]) == (0.5, [], {"A": 4, "B": 0})
    assert first["action"] == {"do": "hit", "found": False, "pad": 3}
    assert first["state"]["owed"] == "second"
    assert second["calls"] == ["paguga"]
    commit, reveal = out[6], out[-2]
    assert check(commit["hash"], "dakota", reveal["hide"], reveal["pad"], reveal["nonce"])


def test_a_foul_and_a_question():
    _, out = referee(TOSS, *hands(1, 2, 3), {"t": 6.0, "event": "button", "name": "ready_a"})
    assert {key: out[-3][key] for key in ("kind", "foul", "by")} == {
        "kind": "foul",
        "foul": "pad_skipped",
        "by": "hider",
    }
    assert out[-2]["action"] == {"do": "foul", "by": "hider", "kind": "pad_skipped"}
    _, out = referee(
        *HIDDEN, {"t": 9.0, "event": "strike", "pads": [3, 4]}, {"t": 9.5, "judge": "answer", "answer": "4"}
    )
    asked = next(line for line in out if line["kind"] == "question")
    assert (asked["about"], asked["choices"], asked["pads"]) == ("two_struck", ["3", "4", "none"], [3, 4])
    assert out[-1]["action"] == {"do": "hit", "found": False, "pad": 4}


def test_link_down_while_hit_is_owed_is_asked():
    _, out = referee(*HIDDEN, {"t": 9.0, "event": "link", "up": False})
    assert [line["kind"] for line in out[-2:]] == ["link", "question"]
    assert out[-1]["about"] == "link_gap"


@pytest.mark.parametrize("later", [[], [{"t": 20.0, "event": "strike", "pads": [1]}]])
def test_time_passes_with_the_lines(later):
    _, out = referee(*HIDDEN[:-1], *later)
    asked = [(line["about"], line["t"]) for line in out if line["kind"] == "question"]
    assert asked == [("no_reading", 9.0)]


def test_the_judge_on_the_pipe():
    status, out = referee(
        *HIDDEN,
        {"t": 9.0, "event": "strike", "pads": [2]},
        {"t": 10.0, "judge": "undo", "reason": "it was pad 3"},
        {"t": 11.0, "judge": "action", "action": {"do": "hit", "found": False, "pad": 3}},
        {"t": 12.0, "judge": "hide_again"},
    )
    assert status == 2
    assert [line.get("kind", "error") for line in out[-5:]] == [
        "undone",
        "void",
        "hide_again",
        "action",
        "error",
    ]
    assert out[-2]["state"]["owed"] == "second"
    assert out[-1]["error"]["kind"] == "illegal"


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"\xff\xfe",
        b"[]",
        b"12",
        b'{"t": 1}',
        b'{"event": "beads", "found": []}',
        b'{"t": "1", "event": "hand_in", "pad": 1}',
        b'{"t": 1e999, "event": "hand_in", "pad": 1}',
        b'{"t": NaN, "event": "hand_in", "pad": 1}',
        b'{"t": 1, "event": "hand_in", "pad": 7}',
        b'{"t": 1, "event": "hand_in", "pad": true}',
        b'{"t": 1, "event": "hand_in"}',
        b'{"t": 1, "event": "strike", "pads": [2, 2]}',
        b'{"t": 1, "event": "strike", "pads": 2}',
        b'{"t": 1, "event": "beads", "found": [{"pad": 0}]}',
        b'{"t": 1, "event": "beads", "found": [{"pad": "3"}]}',
        b'{"t": 1, "event": "button", "name": "fire"}',
        b'{"t": 1, "event": "dance"}',
        b'{"t": 1, "judge": "dance"}',
        b'{"t": 1, "judge": "undo", "event": "shown"}',
        b'{"t": 1, "judge": "action", "action": {"do": "hit", "found": "yes"}}',
        b'{"t": 1, "judge": "action", "action": 3}',
        b'{"t": 1, "judge": "action", "action": ' + b"[" * 100000 + b"]" * 100000 + b"}",
    ],
    ids=lambda line: line[:60].decode("ascii", "replace"),
)
def test_invalid_line_gives_error_without_effect(line):
    status, out = referee(*HIDDEN, line, b"   ", {"t": 9.0, "event": "strike", "pads": [2]})
    assert status == 2
    (error,) = (answer["error"] for answer in out if "error" in answer)
    assert (error["kind"], error["line"]) == ("invalid", len(HIDDEN) + 1)
    assert error["message"].startswith(f"line {len(HIDDEN) + 1}: ")
    assert "; " in error["message"], "what to do"
    assert len(error["message"].splitlines()) == 1
    _, clean = referee(*HIDDEN, {"t": 9.0, "event": "strike", "pads": [2]})
    assert [answer for answer in out if "error" not in answer] == clean


def test_options_fouls_and_the_hit_clock():
    _, out = referee(*HIDDEN, {"t": 40.0, "event": "link", "up": True}, settings=RefereeSettings(hit_seconds=10))
    assert [line["kind"] for line in out].count("foul") == 2
    out = subprocess.run(
        [sys.executable, "-m", "pi_controller", "referee", "dakota", "--set", "points=1", "--foul", "no_bead=ask"],
        input="\n".join(
            json.dumps(e)
            for e in [*HIDDEN[:-1], {"t": 7.0, "event": "beads", "found": []}, {"t": 8, "event": "link", "up": True}]
        ),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    asked = json.loads(out.splitlines()[-2])
    assert (asked["about"], asked["foul"]) == ("foul", "no_bead")


def test_lines_are_counted_with_the_blank_ones():
    status, out = referee(TOSS, b"", b"  ", {"t": 1.0, "judge": "undo"}, {"t": 2.0, "judge": "undo"})
    assert status == 2
    assert out[-1] == {
        "error": {"kind": "illegal", "message": f"line 5: there is nothing to undo; {stream.LINE_HINT}", "line": 5}
    }


def test_nearest_option_decides_between_two_struck_pads():
    out = subprocess.run(
        [sys.executable, "-m", "pi_controller", "referee", "dakota", "--nearest", "2, 4,1,3"],
        input="\n".join(json.dumps(e) for e in [*HIDDEN, {"t": 9.0, "event": "strike", "pads": [3, 4]}]),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert json.loads(out.splitlines()[-1])["action"] == {"do": "hit", "found": False, "pad": 4}


@pytest.mark.parametrize("pads", ["2;3", "1,1", "5", "-1", "1,"])
def test_invalid_nearest_option_is_refused(pads):
    with pytest.raises(MatError, match="nearest"):
        main(["dakota", f"--nearest={pads}"])


@pytest.mark.parametrize("argv", [["chess"], ["dakota", "--set", "points=many"], ["dakota", "--foul", "x"], []])
def test_usage(argv):
    with pytest.raises(UsageError):
        main(argv)
