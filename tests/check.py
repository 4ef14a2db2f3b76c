"""Pass every check there is: style, types, the direction of imports, the packages, then the tests.

    .venv/bin/python tests/check.py [PYTEST'S OPTIONS]

Each step runs although one before it failed, and the last lines say which did and what time they took. What a step
writes is shown where it fails. The exit status is 1 where any did.
"""

import compileall
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
SHIPPED = {
    *(f"pi_controller/_firmware/{name}.py" for name in ("main", "board", "sampler")),
    "pi_controller/_hardware/pinmap.toml",
    "pi_controller/link/wire.py",
    "pi_controller/py.typed",
    "pi_controller/web/static/style.css",
    "pi_controller/web/templates/base.html",
    "pi_controller/web/games/slahal.html",
    *(f"pi_controller/show/locale/{name}" for name in ("moccasin_mat.pot", "dak.po", "oj.po", "LANGUAGES.md")),
}
"""What the wheel must carry besides the code that is imported."""


def run(*command):
    """Run a command in the project's folder; return what it wrote where it failed, "" where all is well."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr or f"status {done.returncode}"


def packages():
    """Build the source package, and of it the wheel; return what is wrong with them, "" for nothing."""
    with tempfile.TemporaryDirectory() as folder:
        if failed := run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder):
            return failed
        if failed := run(sys.executable, "-m", "twine", "check", "--strict", *map(str, Path(folder).iterdir())):
            return failed
        (path,) = Path(folder).glob("*.whl")
        names = set(zipfile.ZipFile(path).namelist())
    faults = [f"{name} is not in the wheel" for name in sorted(SHIPPED - names)]
    faults += [f"{name} is in the wheel" for name in sorted(names) if name.startswith("tests/")]
    return "\n".join(faults)


def tests(options):
    """Run pytest, which writes for itself; return "" where all passed."""
    compileall.compile_dir(ROOT / "pi_controller", quiet=1)  # once, and not by each worker
    done = subprocess.run([BIN / "pytest", *options], cwd=ROOT, check=False)
    return "" if done.returncode == 0 else f"status {done.returncode}"


def main():
    """Take all steps and tell of each; return the exit status."""
    steps = {
        "style": lambda: run(BIN / "ruff", "check"),
        "formatting": lambda: run(BIN / "ruff", "format", "--check"),
        "types": lambda: run(BIN / "pyright", "--pythonpath", sys.executable),
        "imports": lambda: run(BIN / "lint-imports"),
        "packages": packages,
        "tests": lambda: tests(sys.argv[1:]),
    }
    summary = []
    for name, step in steps.items():
        began = time.monotonic()
        fault = step()
        summary.append(f"{name:<11} {'FAILED' if fault else 'passed'} {time.monotonic() - began:6.1f} s")
        print(summary[-1], *([fault] if fault else []), sep="\n", flush=True)
    print("", *summary, sep="\n")
    return int(any("FAILED" in line for line in summary))


if __name__ == "__main__":
    sys.exit(main())
