"""`moccasin-mat chances`: a page for people, JSON for programs, and two plain lines when something is wrong."""

import json
import subprocess
import sys

import pytest

from pi_controller.cli import main
from pi_controller.rules import chances, registry
from pi_controller.rules.play import start


def told(capsys, *argv):
    assert main(["chances", *argv]) == 0
    return capsys.readouterr().out


def test_the_page_has_every_chance_in_eighty_columns(capsys):
    page = told(capsys, "dakota")
    assert page.startswith("dakota")
    solved = chances.solve(registry.game("dakota"))
    for label, chance in solved.openings():
        assert f"{label}" in page
        assert f"{100 * chance:.1f} %" in page
    assert max(map(len, page.splitlines())) <= 80
    assert page.count(" %") >= sum(len(cells) for _, cells in solved.page().rows)


def test_json_has_the_whole_figures(capsys):
    found = json.loads(told(capsys, "dakota", "--json", "--set", "points=3", "--first", "1/3", "--second", "0.5"))
    solved = chances.solve(registry.game("dakota", {"points": 3}), 1 / 3, 1 / 2)
    assert found["opening"] == dict(solved.openings())
    assert found["settings"]["points"] == 3
    assert found["residual"] <= 1e-12
    assert [row["state"] for row in found["page"]["rows"]] == [label for label, _ in solved.page().rows]


ACTIONS = [
    {"do": "toss", "winner": "B"},
    {"do": "hit", "found": False},
    {"do": "hit", "found": True},
    {"do": "hit", "found": False},
]


def test_after_a_file_of_actions(tmp_path, capsys):
    file = tmp_path / "game.jsonl"
    file.write_text("\n\n".join(map(json.dumps, ACTIONS)), "utf-8")
    play = start("dakota")
    for action in ACTIONS:
        play.push(action)
    expected = chances.solve(play.game).by_player(play.state)
    found = json.loads(told(capsys, "dakota", "--json", "--after", str(file)))
    assert found["chances"] == expected
    assert found["from"] == play.game.sheet(play.state)
    page = told(capsys, "dakota", "--after", str(file))
    assert repr(play) in page
    assert f"B  {100 * expected['B']:.1f} %" in page


def test_the_sheets_own_state_is_read_back(capsys):
    play = start("dakota")
    states = [play.state for action in ACTIONS if play.push(action) is not None]
    play.push("foul", by="hider", kind="no_bead")
    solved = chances.solve(play.game)
    for state in [*states, play.state]:
        keys = json.dumps(play.game.sheet(state))
        found = json.loads(told(capsys, "dakota", "--json", "--from", keys))
        assert found["from"] == play.game.sheet(state)
        assert found["chances"]["A"] == solved.win_chance(state)


def test_decision_hide_reads_back_with_second_hit_owed(capsys, at):
    game = registry.game("dakota")
    missed, _ = game.play(at(6, 14, 0, "yawapi", (1, 2)), {"do": "hit", "found": False})
    found = json.loads(told(capsys, "dakota", "--json", "--from", json.dumps(game.sheet(missed))))
    assert found["chances"]["A"] == chances.solve(game).win_chance(missed)


@pytest.mark.parametrize(
    "argv",
    [
        ["dakota", "--first", "2"],
        ["dakota", "--first", "1/0"],
        ["dakota", "--second", "often"],
        ["dakota", "--first", "1"],
        ["patol"],
        ["slahal", "--from", "{}"],
        ["chess"],
        ["dakota", "--after", "no-such-file"],
        ["dakota", "--from", "{"],
        ["dakota", "--from", "[]"],
        ["dakota", "--from", "{}"],
        ["dakota", "--from", '{"long": {"A": 4}}'],
        ["dakota", "--from", '{"long": {"A": 16, "B": 5}}'],
        ["dakota", "--from", '{"long": {"A": 4, "B": 4}, "situation": "wheya"}'],
        ["dakota", "--from", '{"long": {"A": 4, "B": 4}, "short": {"A": 5, "B": 0}}'],
        ["dakota", "--from", '{"long": {"A": 4, "B": 4}, "after": {}, "from": "{}"}'],
        ["dakota", "--set", "points=none"],
    ],
    ids=" ".join,
)
def test_wrong_arguments_print_two_lines_and_status_2(argv, capsys):
    assert main(["chances", *argv]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 2, err
    assert lines[0].startswith("moccasin-mat: ")


def test_a_refused_action_names_its_line(tmp_path, capsys):
    file = tmp_path / "game.jsonl"
    file.write_text('{"do": "toss", "winner": "A"}\n{"do": "toss", "winner": "A"}\n', "utf-8")
    assert main(["chances", "dakota", "--after", str(file)]) == 2
    assert "line 2: the toss is done" in capsys.readouterr().err


def test_help_needs_no_numbers():
    code = (
        "import sys; from contextlib import suppress; from pi_controller.cli import main\n"
        "with suppress(SystemExit): main(['chances', '--help'])\n"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_former_verb_odds_works_but_is_unlisted(capsys):
    assert main(["chances", "dakota"]) == 0
    page = capsys.readouterr().out
    assert main(["odds", "dakota"]) == 0
    assert capsys.readouterr().out == page
    with pytest.raises(SystemExit):
        main(["odds", "--help"])
    assert main(["--help"]) == 0
    assert "odds" not in capsys.readouterr().out
