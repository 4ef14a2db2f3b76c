"""The wheel without extras, in a folder with spaces and umlauts, run by a user without a home: no tracebacks.

The environment has links to the packages of this one, so that nothing is downloaded; it has only those that the base
installation needs.
"""

import re
import shlex
import signal
import subprocess
import sys
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import pytest
from cases import ALL_CASES, cases
from installed_wheel import Installed, base_packages
from verb_commands import FILES, NEEDS_EXTRA, SERVES, WORKS

from pi_controller import extras
from pi_controller.host import platform

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MAX_PACKAGES, MAX_MB = 26, 120
COMPILED = 1.35
"""Bytes of compiled files that pip adds for a byte of source, measured."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("small"))


def test_the_base_install_is_small(installed):
    packages = base_packages()
    assert len(packages) + 1 <= MAX_PACKAGES, sorted(packages)
    paths = {Path(one.locate_file(file)) for one in packages.values() for file in one.files}
    sizes = [(path.suffix, path.stat().st_size) for path in paths if path.is_file() and path.suffix != ".pyc"]
    sizes += [(Path(one.filename).suffix, one.file_size) for one in zipfile.ZipFile(installed.wheel).infolist()]
    total = sum(size * (1 + COMPILED if suffix == ".py" else 1) for suffix, size in sizes)
    assert total <= MAX_MB * 1e6


def test_help_of_every_verb_works_in_base_install(installed):
    program = """
import sys
from pi_controller.cli import VERBS, main
for verb in VERBS:
    try:
        main([*verb.split(), "--help"])
    except SystemExit as end:
        assert end.code == 0, verb
sys.exit(main(["--print-manual"]))
"""
    done = subprocess.run(
        [installed.python, "-c", program], env=installed.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize(("command", "extra"), [*NEEDS_EXTRA.items()][:: cases(7, 1)])
def test_a_missing_extra_is_named_with_its_command(installed, command, extra):
    installed.write(FILES)
    done = installed.run(*command.split())
    says = f"\n  install them: {shlex.quote(str(installed.python))} -m pip install 'moccasin-mat[{extra}]'\n"
    assert done.returncode == 2
    assert done.stderr.endswith(says), done.stderr
    assert "Traceback" not in done.stderr


def test_recordings_without_a_decoder_name_their_extra(installed):
    installed.write(FILES)
    done = installed.run("voice", "--folder", "words")
    assert done.returncode == 1, done.stderr
    assert "-m pip install 'moccasin-mat[voice]'" in done.stdout


@pytest.mark.parametrize(
    ("command", "status"),
    [one for one in WORKS.items() if ALL_CASES or "calibrate" not in one[0]][:: cases(7, 1)],
)
@pytest.mark.slow
def test_a_verb_works_without_extras(installed, command, status):
    installed.write(FILES)
    done = installed.run(*command.split(), home="/no/such/home")
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr


@pytest.mark.parametrize("command", [*SERVES][:: cases(2, 1)])
def test_pages_are_served_without_extras_until_stopped(installed, command):
    installed.write(FILES)
    process = installed.start(*command.split())
    try:
        line = process.stdout.readline()
        url = re.search(r"http://[\d.:]+/", line)[0]
        assert urllib.request.urlopen(url, timeout=10).status == 200
        for path in ("help/hardware", "help/hardware/drawings/mat.svg", "help/reference/commands"):
            assert urllib.request.urlopen(url + path, timeout=30).status == 200
    finally:
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
    assert (process.returncode, "Traceback" in said) == (0, False), said


PYTHON = shlex.quote(sys.executable)


@pytest.mark.parametrize(
    ("file", "content", "clone", "command"),
    [
        ("pyvenv.cfg", "", "", f"{PYTHON} -m pip install 'moccasin-mat[hub]'"),
        ("pyvenv.cfg", "", "/srv/a mat", f"{PYTHON} -m pip install -e '/srv/a mat[hub]'"),
        ("pyvenv.cfg", "uv = 0.9\n", "", "uv pip install --python FOLDER 'moccasin-mat[hub]'"),
        ("uv-receipt.toml", "", "", "uv pip install --python FOLDER 'moccasin-mat[hub]'"),
        ("pipx_metadata.json", "{}", "", "pipx runpip NAME install 'moccasin-mat[hub]'"),
    ],
)
def test_the_command_fits_the_installation(tmp_path, file, content, clone, command):
    (tmp_path / file).write_text(content)
    expected = command.replace("FOLDER", str(tmp_path)).replace("NAME", tmp_path.name)
    assert extras.install_command("hub", tmp_path, clone=clone) == expected


def test_a_venv_of_root_is_changed_with_sudo(tmp_path, monkeypatch):
    (tmp_path / "pyvenv.cfg").write_text("")
    monkeypatch.setattr("os.access", lambda *_: False)
    assert extras.install_command("hub", tmp_path, clone="").startswith("sudo ")


def test_user_unknown_to_the_machine_has_no_home(monkeypatch):
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    assert platform.home_folder() == Path("/nonexistent")
    assert platform.expand_home("~/words") == Path("~/words")


def test_every_extra_in_a_hint_exists():
    text = "\n".join(path.read_text("utf-8") for path in (ROOT / "pi_controller").rglob("*.py"))
    named = re.findall(r"""(?:requires_extra|install_hint|install_command)\(["']([\w-]+)["']""", text)
    assert len(named) > 10
    assert set(named) <= set(PROJECT["optional-dependencies"])


def test_the_exhibit_needs_none_of_the_update_packages():
    program = "import sys, pi_controller.exhibit.staff_desk; sys.exit('packaging' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
