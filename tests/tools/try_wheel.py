"""Try every verb from the wheel, as a user without a home, with each Python and each extra; print a table.

    sudo .venv/bin/python tests/tools/try_wheel.py [PYTHON ...]

For each PYTHON (by default this one) it makes environments in a folder with spaces and umlauts: one without extras, one
for each extra that people install, and one with all of them. Packages come from where pip takes them. The commands run
as a user that the machine does not know, without HOME; with all extras as `nobody`, whose HOME does not exist. The exit
status is 1 if one of them prints a traceback, ends with another status than expected, or hides a missing extra.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests/support")]

from check import uv_environment  # noqa: E402
from verb_commands import FILES, JOURNAL, NEEDS_EXTRA, SERVES, WORKS  # noqa: E402

from pi_controller.cli import VERBS, split_command  # noqa: E402

EXTRAS = ("board", "completion", "docs", "flash", "hub", "languages", "link", "pi", "postgres", "update")
EXTRAS += ("voice", "watch")
BRINGS = {
    "mat flash": {"board"},
    "hub": {"link"},
    "pi": {"board", "completion", "languages", "link", "update"},
}
"""Extras that another extra contains."""
UNTIL_STOPPED = {
    *SERVES,
    "hub run trial",
    "run --settings hub.toml",
    "run --settings french.toml",
    "exhibit --sim --settings exhibit.toml",
}
"""Commands that run until they are stopped, if their extra is there."""
WITH_EXTRA = {
    "watch": 2,
    "hub demo --once": 0,
    "hub setup venue": 0,
    "hub join 127.0.0.1 0000-0000-0000-0000-0000 --settings hub.toml": 2,
    "words languages": 0,
    "demo --language fr.po": 0,
    "service update stick": 2,
    "mat flash": 2,
    "mat ports": 1,
    "--print-completion bash": 0,
}
"""Exit statuses of the commands of NEEDS_EXTRA if the extra is there, without a board, a table or a hub."""
OPTIONS = {"hub demo --once": "--teams 2 --tables 1 --points 1 --pace 0 --page 0", "watch": "--once"}
"""More words of a command, which make it short."""
LIMIT_S, SERVES_S = 600.0, 30.0


class User(NamedTuple):
    """A user that runs the commands."""

    number: int
    home: str


UNKNOWN, NOBODY = User(54321, ""), User(65534, "/no/such/home")
"""A user that the machine does not know, without HOME; one whose home does not exist."""


class Result(NamedTuple):
    """The end of a command, and what it printed to standard error."""

    status: int
    errors: str
    served: bool = False


class Environment:
    """A Python environment with the wheel."""

    def __init__(self, python: Path, folder: Path, wheel: Path, extras: tuple[str, ...]) -> None:
        self.folder, self.extras = folder, extras
        subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
        need = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
        command = [ROOT / ".venv/bin/uv", "pip", "install", "-q", "--python", folder / "bin/python", need]
        subprocess.run(command, check=True, env=uv_environment())
        self.work = folder / "work"
        base = (folder / "bin/python3").resolve().parents[1]
        self.loader = {"LD_LIBRARY_PATH": str(base / "lib")} if folder.parent in base.parents else {}

    def make_work(self, user: User) -> None:
        """Make the folder in which the commands of `user` run."""
        shutil.rmtree(self.work, ignore_errors=True)
        for name, content in FILES.items():
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_text(content, "utf-8")
        for path in (self.work, *self.work.rglob("*")):
            os.chown(path, user.number, user.number)

    def run(self, words: str, user: User) -> Result:
        """Run a command line of `moccasin-mat` as `user`; stop it once it serves its page."""
        home = {"HOME": user.home} if user.home else {}
        who = {"user": user.number, "group": user.number, "extra_groups": []}
        command = [self.folder / "bin/moccasin-mat", *words.split(), *OPTIONS.get(words, "").split()]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                command,
                cwd=self.work,
                env={"PATH": "/usr/bin:/bin", **home, **self.loader},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                **who,
            )
            served = words in UNTIL_STOPPED and wait_for_page(process, out.fileno())
            if served:
                process.send_signal(signal.SIGINT)
            try:
                status = process.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
            errors.seek(0)
            return Result(status, errors.read(), served)


def wait_for_page(process: subprocess.Popen[bytes], out: int) -> bool:
    """Wait until the command has printed an address; return False if it ended before."""
    ends = time.monotonic() + SERVES_S
    while process.poll() is None and time.monotonic() < ends:
        if b"http://" in os.pread(out, 1 << 16, 0):
            time.sleep(1)
            return True
        time.sleep(0.1)
    return process.poll() is None


def find_fault(environment: Environment, words: str, result: Result) -> str:
    """Return what is wrong with the end of a command, "" for nothing."""
    if "Traceback" in result.errors:
        return "traceback"
    present = {more for extra in environment.extras for more in (extra, *BRINGS.get(extra, ()))}
    extra = NEEDS_EXTRA.get(words)
    if extra and extra not in present:
        hint = rf"needs packages that are not installed\n  install them: .* -m pip install 'moccasin-mat\[{extra}\]'\n$"
        return "" if result.status == 2 and re.search(hint, result.errors) else f"does not name the extra {extra}"
    if words in UNTIL_STOPPED:
        return "" if result.served and result.status == 0 else f"served {result.served}, status {result.status}"
    expected = {**WITH_EXTRA, **WORKS, **JOURNAL, "mat check --sim": 1}[words]  # the user is not in the group dialout
    return "" if result.status == expected else f"status {result.status} in place of {expected}"


def readable_python(python: Path, folder: Path) -> Path:
    """Return `python`, or a copy of its installation in `folder` if other users may not read it."""
    told = subprocess.run(
        [python, "-c", "import sys; print(sys.base_prefix)"], check=True, capture_output=True, text=True
    )
    prefix = Path(told.stdout.strip())
    if all(path.stat().st_mode & stat.S_IXOTH for path in (prefix, *prefix.parents)):
        return python
    copy = folder / prefix.name
    shutil.copytree(
        prefix, copy, symlinks=True, ignore=shutil.ignore_patterns("site-packages", "__pycache__", "test", "*.a")
    )
    (next(copy.glob("lib/python3.*")) / "site-packages").mkdir()
    return copy / "bin/python3"


def try_python(python: Path, folder: Path, wheel: Path) -> list[str]:
    """Try all commands with one Python; print a line for each environment and return the faults."""
    version = subprocess.run([python, "-V"], check=True, capture_output=True, text=True).stdout.split()[1]
    python = readable_python(python, folder)
    faults = []
    for extras in ((), *((one,) for one in EXTRAS), EXTRAS):
        name = "all extras" if len(extras) > 1 else f"[{extras[0]}]" if extras else "no extra"
        place = folder / f"Zoë Mat {version} {name}"
        environment = Environment(python, place, wheel, extras)
        if len(extras) == 1:  # the commands of this extra alone
            present = {*extras, *BRINGS.get(extras[0], ())}
            commands = [words for words, extra in NEEDS_EXTRA.items() if extra in present] or ["mat check --sim"]
            commands += ["words list --folder words"] if "voice" in present else []
        else:
            commands = [*NEEDS_EXTRA, *WORKS, *JOURNAL, *SERVES, "words list --folder words"]
        found, user = [], NOBODY if len(extras) > 1 else UNKNOWN
        environment.make_work(user)
        for words in commands:
            result = environment.run(words, user)
            if fault := find_fault(environment, words, result):
                found.append(f"{version} {name}: {words}: {fault}\n{result.errors[-2000:]}")
                print(found[-1], file=sys.stderr, flush=True)
        print(f"| {version} | {name} | {len(commands)} | {len(found)} |", flush=True)
        faults += found
        shutil.rmtree(place)
    return faults


def main() -> int:
    """Try each Python; return 1 if something is wrong."""
    if os.geteuid() != 0:
        print("needs root, to run commands as other users")
        return 2
    commands = (*NEEDS_EXTRA, *WORKS, *JOURNAL, *SERVES, "words list --folder words")
    tried = {split_command(words.split())[0] for words in commands}
    assert set(VERBS) <= tried, set(VERBS) - tried
    WORKS["words list --folder words"] = 1
    faults = []
    with tempfile.TemporaryDirectory(prefix="wheel-", dir="/var/tmp") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "wheels", ROOT]
        subprocess.run(build, check=True, capture_output=True)
        (wheel,) = (folder / "wheels").glob("*.whl")
        print("| Python | installed | commands | faults |\n| --- | --- | --- | --- |")
        for python in sys.argv[1:] or [sys.executable]:
            faults += try_python(Path(python), folder, wheel)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
