"""The house rules, checked like everything else: style, types, the one way through the code, and what ships."""

import re
import resource
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent


MOST_CPU_S = 900
"""Of the processor's time, ten times what pyright takes: no limit on a machine that is slow or busy."""


def run(*command):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=limit)
    assert done.returncode == 0, done.stdout + done.stderr


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\n") if name and (ROOT / name).exists()]


def test_ruff():
    run(BIN / "ruff", "check")


def test_formatting():
    run(BIN / "ruff", "format", "--check")


def test_types():
    run(BIN / "pyright", "--pythonpath", sys.executable)


def test_everything_flows_one_way():
    run(BIN / "lint-imports")


def test_the_ci_calls_the_readmes_test_command():
    commands = re.findall(r"^    (python3 -m venv .*)$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(commands) == 2, "the README has two commands: one plays a game, one passes the tests"
    assert commands[1] in (ROOT / ".ci" / "run").read_text("utf-8")


def test_modules_stay_small():
    long = {
        str(path.relative_to(ROOT)): lines
        for path in tracked("pi_controller/**.py", "firmware/*.py")
        if (lines := len(path.read_text("utf-8").splitlines())) > 400
    }
    assert not long


def test_no_host_names_or_machine_paths():
    # spelled in pieces so that this file does not find itself
    hosts = re.compile(
        "|".join(
            ["py" + r"pi\.org", "python" + r"hosted\.org", "npm" + r"js\.(?:org|com)", "/ho" + "me/", "/ro" + "ot/"]
        )
    )
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        if path.suffix not in {".png", ".wav", ".journal"}
        for match in [hosts.search(path.read_text("utf-8"))]
        if match
    ]
    assert not found


def test_the_wheel_carries_the_firmware_the_pin_map_and_the_pages(tmp_path):
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-cache-dir", "-w", str(tmp_path), str(ROOT))
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    needed = {
        *(f"pi_controller/_firmware/{name}.py" for name in ("main", "board", "sampler")),
        "pi_controller/_hardware/pinmap.toml",
        "pi_controller/link/wire.py",
        "pi_controller/py.typed",
        *(f"pi_controller/show/locale/{name}" for name in ("moccasin_mat.pot", "dak.po", "oj.po", "LANGUAGES.md")),
    }
    assert needed <= names
    assert any(name.startswith("pi_controller/web/") and name.endswith(".css") for name in names)
    assert not any(name.startswith("tests/") for name in names)


def test_the_top_level_is_as_drawn():
    shown = {path.relative_to(ROOT).parts[0] for path in tracked()}
    plain = {name for name in shown if not name.startswith(".")}
    assert plain == {
        "pyproject.toml", "firmware", "pi_controller", "hardware", "tests",
        "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md",
    }  # fmt: skip


def test_a_version_is_said_once():
    import pi_controller

    assert (
        tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"] == pi_controller.__version__
    )
