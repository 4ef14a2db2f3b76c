"""Verbs that need no table run without Unix; those of a table say in one sentence that they need Linux.

Windows is imitated: modules that it lacks cannot be imported, functions that it lacks are removed. The file system and
the network stay those of this machine.
"""

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from cases import cases
from programs import finish_program, start_program

from pi_controller.host import platform

WITHOUT_UNIX = """
import asyncio, concurrent.futures, logging, multiprocessing, os, shutil, signal, socket, subprocess, sys, sysconfig
import tempfile, types, urllib.request

sysconfig.get_config_vars()  # read before the platform's name is changed
free = shutil.disk_usage("/")
for name in ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None
for module, names in {
    os: "chown fchmod fchown fork geteuid getegid getgroups getloadavg getuid openpty sched_yield statvfs sync ttyname",
    signal: "SIGHUP SIGKILL SIGUSR1 SIGUSR2 alarm setitimer",
}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)

def refused(*_):
    raise NotImplementedError

asyncio.SelectorEventLoop.add_signal_handler = refused
msvcrt = sys.modules["msvcrt"] = types.ModuleType("msvcrt")
msvcrt.LK_NBLCK = 2
msvcrt.locking = lambda file, mode, size: None
shutil.disk_usage = lambda path: free  # on Windows it does not ask os.statvfs
sys.platform = "other"  # "win32" would make other packages load libraries of Windows
"""
ACTIONS = '{"do": "toss", "winner": "A"}\n'


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("other system")
    (folder / "hooks").mkdir()
    (folder / "hooks" / "sitecustomize.py").write_text(WITHOUT_UNIX)
    (folder / "actions").write_text(ACTIONS)
    (folder / "settings.toml").write_text("[web]\nport = 0\n")
    return folder


def start(work, *words):
    environment = os.environ | {"PYTHONPATH": str(work / "hooks"), "PYTHONDONTWRITEBYTECODE": "1", "USERNAME": "mat"}
    return start_program([sys.executable, "-m", "pi_controller", *words], work, environment)


def run(work, *words):
    return finish_program(start(work, *words))


def test_the_imitation_has_no_unix_modules(work):
    program = "import sys; import pathlib\ntry: import fcntl\nexcept ImportError: sys.exit(7)"
    done = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": str(work / "hooks")}, check=False)
    assert done.returncode == 7


@pytest.mark.parametrize(
    "command",
    [
        "score dakota actions",
        "bracket",
        "referee dakota",
        "words languages --json",
        "check-settings settings.toml",
        "judges new-head",
        "languages",
        "hub setup venue",
        "hub director venue",
        pytest.param("hub demo --once --teams 2 --tables 1 --points 1 --pace 0 --page 0", marks=pytest.mark.slow),
        pytest.param("calibrate --sim", marks=pytest.mark.slow),
        "--print-manual",
        "--print-completion bash",
    ][:: cases(2, 1)],
)
def test_a_verb_needs_no_unix(work, command):
    done = run(work, *command.split())
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stdout[-500:] + done.stderr


@pytest.mark.slow
def test_a_game_is_played_and_its_journal_read(work):
    for command in (
        "demo --game slahal --seed 2 --journal game.sqlite --no-web",
        "replay game.sqlite",
        "verify game.sqlite",
        "export game.sqlite -o game",
        "record game.sqlite",
        "recover game.sqlite -o copy.sqlite",
    ):
        done = run(work, *command.split())
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), (command, done.stdout[-500:] + done.stderr)


def test_the_hub_serves_its_page_until_stopped(work):
    (work / "hall").mkdir()
    (work / "hall" / "hub.toml").write_text("[page]\nport = 0\nhttps = 0\nstream = 0\n")
    process = start(work, "hub", "run", "hall")
    try:
        line = next(line for line in process.stdout if "http://" in line)
        url = next(word for word in line.split() if word.startswith("http://"))
        assert urllib.request.urlopen(url, timeout=10).status == 200
    finally:
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
    assert (process.returncode, "Traceback" in said) == (0, False), said


@pytest.mark.parametrize("verb", ["run", "exhibit", "service install", "mat check", "service update"])
def test_a_verb_of_the_table_needs_linux(work, verb):
    done = run(work, *verb.split())
    assert done.returncode == 2
    assert done.stderr.startswith(f"moccasin-mat: {verb.removesuffix(' install')} needs Linux\n")


def test_windows_lock_of_another_program_raises_blocking_error(tmp_path, monkeypatch):
    class Msvcrt:
        LK_NBLCK = 2

        @staticmethod
        def locking(file, mode, size):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", Msvcrt)
    with (tmp_path / "lock").open("w+b") as file, pytest.raises(BlockingIOError):
        platform.lock_file(file)


def test_unix_modules_are_imported_behind_the_seam():
    """The Linux-only modules are those of the service and its checks."""
    names = ("fcntl", "termios", "tty", "pwd", "grp", "resource", "syslog")
    package = Path(platform.__file__).parents[1]
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if line.lstrip().startswith(("import ", "from ")) and line.split()[1] in names
    }
    linux_only = {"tools/machine_checks.py"}
    assert found == linux_only | {"host/platform.py"}
