"""The page's package outside the tree, installed beside the wheel: its driver passes the wheel's contract."""

import pytest
from extend_page import page_commands, run_command, write_page_files
from installed_wheel import Installed, build_wheel

NEEDS_EXTRA = ("languages",)


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """The wheel, pytest, and the package built from the page as its reader would."""
    made = Installed(tmp_path_factory.mktemp("outside"), ["pytest"])
    write_page_files(made.work)
    made.install(build_wheel(made.work, made.work / "dist"))
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("piped", "line"), [one for one in page_commands() if one[1].split()[1] not in NEEDS_EXTRA])
def test_command_of_the_page_runs_beside_the_wheel(outside, piped, line):
    done = run_command(piped, line, outside.work, outside.python, outside.environment())
    assert done.returncode == 0, (done.stdout, done.stderr)
    if "pytest" in line:
        assert "13 passed" in done.stdout


@pytest.mark.slow
def test_unknown_driver_is_refused_with_those_installed(outside):
    outside.write({"wrong.toml": '[strips]\nkind = "logg"\n'})
    done = outside.run("check-settings", "wrong.toml")
    assert done.returncode == 2
    assert "did you mean log?" in done.stdout + done.stderr
