"""Pass every check there is: style, types, the direction of imports, the packages, then the tests.

    .venv/bin/python tests/check.py [PYTEST'S OPTIONS]      the day's set of tests
    .venv/bin/python tests/check.py --all [PYTEST'S OPTIONS]
    .venv/bin/python tests/check.py --lower-bounds [PYTEST'S OPTIONS]
    .venv/bin/python tests/check.py --mutations [MUTATE'S OPTIONS]

The steps before the tests run two at a time; then the tests have the machine alone. Each step runs although one before
it failed, and the last lines say which did and what time they took. What a step writes is shown where it fails. The
exit status is 1 where any did.

With --all the tests marked slow run too, the others with all their cases, and the lower bounds after them.

With --lower-bounds there is one step: install the oldest versions that pyproject.toml allows into a fresh environment,
from where pip takes its packages, and run the tests of the parts that use them there (a few minutes).

With --mutations there is one step as well: change the source in small ways and see that a test fails for each change
(tests/mutation/mutate.py; an hour or more).
"""

import compileall
import concurrent.futures
import os
import shlex
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
    "pi_controller/board/wire.py",
    "pi_controller/THIRD_PARTY.md",
    "pi_controller/py.typed",
    "pi_controller/web/static/style.css",
    "pi_controller/web/static/tokens.css",
    *(f"pi_controller/web/static/{name}" for name in ("NotoSans-Regular.woff2", "OFL.txt")),
    "pi_controller/web/templates/base.html",
    *(f"pi_controller/help/{name}" for name in ("mkdocs.yml", "pages/index.md", "pages/judge/sheet.md")),
    *(f"pi_controller/_hardware/{name}" for name in ("parts.md", "image/README.md", "drawings/mat.svg")),
    "pi_controller/games/patol/console.html",
    *(f"pi_controller/card/units/{name}" for name in ("table.service", "kiosk.service", "first-sign.py.in")),
    *(f"pi_controller/display/locale/{name}" for name in ("moccasin_mat.pot", "LANGUAGES.md")),
}
"""What the wheel must carry besides the code that is imported."""

BOUNDED_EXTRAS = ("board", "completion", "hub", "languages", "postgres", "update", "voice", "watch")
TEST_TOOLS = ("hypothesis", "playwright", "pytest", "pytest-timeout", "pytest-xdist")
"""What these tests import besides the product: of any version."""
USING_PACKAGES = (
    *(f"tests/web/test_{name}.py" for name in ("attacks", "feed", "judge_api", "server")),
    *(f"tests/web/test_{name}.py" for name in ("client", "shares", "signing", "web_security")),
    *(f"tests/hub/test_{name}.py" for name in ("inbox", "messages", "outbox", "store", "table_link")),
    *(f"tests/process/test_{name}.py" for name in ("hub_database", "hub_line", "web_server")),
    *(f"tests/table/test_{name}.py" for name in ("journal", "table", "view")),
    *(f"tests/recording/test_{name}.py" for name in ("blocks", "recorder")),
    *(f"tests/sensing/test_{name}.py" for name in ("beads", "strikes")),
    *(f"tests/{name}" for name in ("config", "display", "help/test_help.py", "test_cli.py")),
    *(f"tests/{name}.py" for name in ("calibration/test_profile", "process/test_update")),
)
"""The quick tests of what each package is there for."""
UV_NAMES = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "find-links": "UV_FIND_LINKS"}
"""uv's environment variables for pip's settings, which uv does not read."""


def run(*command, env=None):
    """Run a command in the project's folder; return what it wrote where it failed, "" where all is well."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=env)
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


def collect():
    """Import each test module; return what cannot be."""
    compileall.compile_dir(ROOT / "pi_controller", quiet=1)
    return run(BIN / "pytest", "--all", "--collect-only", "-n", "0")


def tests(options):
    """Run pytest, which writes for itself; return "" where all passed."""
    done = subprocess.run([BIN / "pytest", *options], cwd=ROOT, check=False)
    return "" if done.returncode == 0 else f"status {done.returncode}"


def uv_environment():
    """Return an environment in which uv takes packages from where pip does."""
    told = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    environment = {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # as pip does: the version decides, not the index
    for line in told.stdout.splitlines():
        name, _, value = line.partition("=")
        setting, (value,) = name.rsplit(".", 1)[-1], shlex.split(value)
        if setting == "cert":
            environment.setdefault("SSL_CERT_FILE", value)
        elif setting in UV_NAMES:
            environment.setdefault(
                UV_NAMES[setting], (" " if setting == "extra-index-url" else ",").join(value.split())
            )
    return environment | os.environ


def lower_bounds(options):
    """Run the tests of `USING_PACKAGES` with the oldest versions allowed; return "" where all passed."""
    uv, environment = BIN / "uv", uv_environment()
    with tempfile.TemporaryDirectory() as folder:
        oldest, python = Path(folder, "oldest.txt"), Path(folder, "env", "bin", "python")
        extras = [f"--extra={extra}" for extra in BOUNDED_EXTRAS]
        resolve = [uv, "pip", "compile", "-q", "--python", sys.executable, "--resolution=lowest-direct"]
        install = [uv, "pip", "install", "-q", "--python", python]
        for command in (
            [uv, "venv", "-q", "--python", sys.executable, python.parents[1]],
            [*resolve, *extras, "-o", oldest, "pyproject.toml"],
            [*install, "-r", oldest, "-c", oldest, *TEST_TOOLS],
            [*install, "--no-deps", "-e", "."],
        ):
            if failed := run(*command, env=environment):
                return failed
        options = ["-p", "no:cacheprovider", "-m", "not chromium and not emulated and not machine", *options]
        done = subprocess.run([python, "-m", "pytest", *options, *USING_PACKAGES], cwd=ROOT, check=False)
    return "" if done.returncode == 0 else f"status {done.returncode}"


def mutations(options):
    """Run mutate.py, which prints its own figures; return "" if each group reaches its aim."""
    done = subprocess.run([sys.executable, "tests/mutation/mutate.py", *options], cwd=ROOT, check=False)
    return "" if done.returncode == 0 else f"status {done.returncode}"


def main():
    """Take all steps and tell of each; return the exit status."""
    options = sys.argv[1:]
    if "--lower-bounds" in options:
        options.remove("--lower-bounds")
        return take({"lower bounds": lambda: lower_bounds(options)})
    if "--mutations" in options:
        options.remove("--mutations")
        return take({"mutations": lambda: mutations(options)})
    before = {
        "types": lambda: run(BIN / "pyright", "--pythonpath", sys.executable),  # the longest begins first
        "style": lambda: run(BIN / "ruff", "check"),
        "formatting": lambda: run(BIN / "ruff", "format", "--check"),
        "imports": lambda: run(BIN / "lint-imports"),
        "packages": packages,
        "collection": collect,  # compiles all tests once, and not in each worker of the next step
    }
    after = {"lower bounds": lambda: lower_bounds([])} if "--all" in options else {}
    return take(before, {"tests": lambda: tests(options)}, after)


def take(*groups):
    """Take the steps of each group two at a time, one group after the other; return the exit status."""
    summary = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for steps in groups:
            taken = [pool.submit(take_step, name, step) for name, step in steps.items()]
            for done in concurrent.futures.as_completed(taken):
                line, fault = done.result()
                summary.append(line)
                print(line, *([fault] if fault else []), sep="\n", flush=True)
    print("", *summary, sep="\n")
    return int(any("FAILED" in line for line in summary))


def take_step(name, step):
    """Take one step; return its line of the summary and what is wrong, "" for nothing."""
    began = time.monotonic()
    fault = step()
    return f"{name:<12} {'FAILED' if fault else 'passed'} {time.monotonic() - began:6.1f} s", fault


if __name__ == "__main__":
    sys.exit(main())
