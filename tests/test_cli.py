"""The command line: lazy, and two plain lines when something is wrong."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pi_controller import __version__
from pi_controller.cli import GROUPS, NOUNS, VERBS, arguments, find_verb, main, split_command


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_names_every_command_in_eight_groups(flag, capsys):
    assert main([flag]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(GROUPS) == 8
    assert all(f"  {group}" in lines for group in GROUPS)
    assert {name.split()[0] for name in VERBS} == {name for names in GROUPS.values() for name in names}
    rows = {line.split()[0]: line for line in lines if line.startswith("    ")}
    assert all(verb.split()[-1] in rows[verb.split()[0]] for verb in VERBS)


@pytest.mark.parametrize("noun", NOUNS)
def test_a_noun_alone_lists_its_actions(noun, capsys):
    assert main([noun]) == 2
    listed = capsys.readouterr().out
    assert main([noun, "--help"]) == main(["help", noun]) == 0
    assert capsys.readouterr().out == listed * 2
    actions = [name.split()[1] for name in VERBS if name.startswith(f"{noun} ")]
    assert [line.split()[0] for line in listed.splitlines() if line.startswith("  ")] == actions


@pytest.mark.parametrize(
    ("earlier", "now"),
    [
        ("doctor --json", ("mat check", ["--json"])),
        ("check-settings --example --game patol", ("settings example", ["--game", "patol"])),
        ("setup --root x --undo", ("service remove", ["--root", "x"])),
        ("setup --kiosk", ("service install", ["--kiosk"])),
        ("voice --play paguga", ("words play", ["paguga"])),
        ("settings check --json", ("settings check", ["--json"])),
    ],
)
def test_an_earlier_word_runs_its_command(earlier, now):
    assert split_command(earlier.split()) == now


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("check", ["settings check", "mat check"]),
        ("settings chek", ["settings check"]),
        ("demp", ["demo"]),
        ("firmware", ["mat flash"]),
    ],
)
def test_an_unknown_command_names_the_nearest(typed, meant, capsys):
    assert main(typed.split()) == 2
    assert re.findall(r"'([^']+)'", capsys.readouterr().err.splitlines()[1]) == meant


def test_help_imports_no_slow_modules():
    # a module list cannot be noisy where a stop watch would be
    code = "import sys; from pi_controller.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split()
    assert not {"numpy", "scipy", "pydantic", "starlette", "serial", "gpiozero", "rich", "argparse"} & set(loaded)


@pytest.mark.slow
def test_a_table_needs_no_scipy():
    # these tests compare with it; a table's machine does not have it
    code = (
        "import sys\n"
        "from pi_controller.cli import VERBS, find_verb, main\n"
        "for verb in VERBS: find_verb(verb)\n"
        "from pi_controller.board import buttons\n"
        "from pi_controller.web import judge_api, server\n"
        "assert main(['demo', '--speed', 'max', '--set', 'points=1']) == 0\n"
        "assert not [name for name in sys.modules if name.partition('.')[0] == 'scipy']"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_its_own_help(verb, capsys):
    with pytest.raises(SystemExit) as left:
        find_verb(verb).main(["--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    assert f"moccasin-mat {verb}" in text
    assert "Exit status: 0" in text
    with pytest.raises(SystemExit):
        main(["help", *verb.split()])
    assert capsys.readouterr().out == text


def test_verb_help_imports_no_slow_modules():
    code = (
        "import sys; from contextlib import suppress; from pi_controller.cli import VERBS, main\n"
        "for verb in VERBS:\n"
        "    with suppress(SystemExit): main([*verb.split(), '--help'])\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split()
    slow = {"numpy", "scipy", "starlette", "uvicorn", "rich", "pydantic", "serial", "gpiozero", "argon2", "sqlite3"}
    assert not slow & set(loaded)


def test_the_manual_has_every_verb_with_its_options(capsys):
    assert main(["--print-manual"]) == 0
    page = capsys.readouterr().out
    for verb in VERBS:
        section = page.partition(f"\n.SS {verb}\n".replace("-", "\\-"))[2].partition("\n.SS ")[0].replace("\\-", "-")
        options = re.findall(r"--[a-z][a-z-]+", find_verb(verb).parser().format_usage())
        assert "Exit status: 0" in section, verb
        assert all(option in section for option in options), verb
    assert "/nowhere/table.toml" in page


@pytest.mark.skipif(shutil.which("man") is None, reason="no man here")
def test_the_manual_is_printed_without_a_warning(capsys):
    main(["--print-manual"])
    command = ["man", "--warnings", "-l", "-"]
    done = subprocess.run(command, input=capsys.readouterr().out, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "settings check" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_shell_completes_every_verb(shell, capsys):
    assert main(["--print-completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for verb in VERBS for word in verb.split())
    assert "--knocked" in script or shell == "tcsh"


COMPLETED = {
    "settings ch": "check",
    "demo --spe": "--speed",
    "judges new-h": "new-head",
    "demo --game pat": "patol",
    "referee dakota --preset umpi": "umpired",
    "score dakota --set poin": "points=5",
}


def test_bash_completes_verbs_options_and_choices(tmp_path, capsys):
    main(["--print-completion", "bash"])
    script = tmp_path / "completion"
    script.write_text(capsys.readouterr().out)
    for words, found in COMPLETED.items():
        line = f"moccasin-mat {words}".split()
        command = (
            f"source {script}; COMP_WORDS=({' '.join(line)}); COMP_CWORD={len(line) - 1}; "
            "$(complete -p moccasin-mat | sed 's/.*-F //; s/ .*//'); echo \"${COMPREPLY[@]}\""
        )
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        assert found in done.stdout.split(), done.stderr


def test_install_page_adds_completion_beside_others(tmp_path):
    page = (Path(__file__).parents[1] / "hardware/INSTALL.md").read_text("utf-8")
    commands = "\n".join(re.findall(r"^    (.*\bcompletion.*)$", page, re.MULTILINE))
    (tmp_path / ".bash_completion").write_text("complete -W mine other\n")
    script = f'moccasin-mat() {{ {sys.executable} -m pi_controller "$@"; }}\n{commands}'
    subprocess.run(["bash", "-ec", script], env=os.environ | {"HOME": str(tmp_path)}, check=True)
    assert (tmp_path / ".bash_completion").read_text() == "complete -W mine other\n"
    loaded = tmp_path / ".local/share/bash-completion/completions/moccasin-mat"
    assert "complete " in loaded.read_text("utf-8")


def test_a_shell_that_is_not_known_is_refused(capsys):
    assert main(["--print-completion", "sh"]) == main(["--print-completion"]) == 2
    assert "choose one of: bash, zsh, tcsh" in capsys.readouterr().err


def test_version_options_print_the_version(capsys):
    assert main(["-V"]) == main(["--version"]) == 0
    assert set(capsys.readouterr().out.splitlines()) == {f"moccasin-mat {__version__}"}


@pytest.mark.parametrize("verb", ["run", "mat check", "judges", "words list", "mat calibrate", "mat record"])
def test_table_verbs_default_to_the_installed_settings(verb):
    assert f"default: {arguments.INSTALLED}" in " ".join(find_verb(verb).parser().format_help().split())


def test_installed_settings_are_used_and_announced_once(tmp_path, monkeypatch, capsys):
    installed = tmp_path / "table.toml"
    assert main(["words", "list"]) == 0
    assert capsys.readouterr().err == ""
    installed.write_text('[game]\nname = "bageswin"\n')
    monkeypatch.setattr(arguments, "INSTALLED", installed)
    assert main(["words", "list"]) == 0
    out, err = capsys.readouterr()
    assert "bageswin" in out
    assert err == f"settings: {installed}\n"
    other = tmp_path / "other.toml"
    other.write_text("")
    assert main(["words", "list", "--settings", str(other)]) == 0
    out, err = capsys.readouterr()
    assert "dakota" in out
    assert err == ""


def test_check_settings_without_file_checks_runs_own(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["settings", "check"]) == 0
    assert capsys.readouterr().err == "settings: the defaults\n"
    (tmp_path / "table.toml").write_text("[web]\nport = 0.5\n")
    assert main(["settings", "check"]) == 2
    assert capsys.readouterr().err.startswith("settings: table.toml\nmoccasin-mat: table.toml:2: [web] port")
    installed = tmp_path / "installed.toml"
    installed.write_text('[game]\nname = "bageswin"\n')
    monkeypatch.setattr(arguments, "INSTALLED", installed)
    assert main(["settings", "check"]) == 0
    out, err = capsys.readouterr()
    assert "bageswin" in out
    assert err == f"settings: {installed}\n"


@pytest.mark.parametrize(
    "argv",
    [
        ["scroe"],
        ["xyzzy"],
        ["score"],
        ["score", "chess"],
        ["score", "dakota", "--set", "pionts=3"],
        ["score", "dakota", "--set", "points=none"],
        ["score", "dakota", "no-such-file"],
        ["demo", "--speed", "fast"],
        ["demo", "--game", "chess"],
        ["demo", "--seeed", "3"],
        ["mat", "strikes", "no-such.wav"],
        ["game", "replay", "no-such.sqlite"],
        ["run", "--settings", "no-such.toml"],
        ["referee", "chess"],
        ["settings", "check", "no-such.toml"],
        ["mat", "check", "--settings", "no-such.toml"],
    ],
    ids=" ".join,
)
def test_wrong_call_prints_two_lines_and_exits_2(argv, capsys):
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 2, err
    assert lines[0].startswith("moccasin-mat: ")
    assert lines[1].startswith("  ")


def test_no_verb_shows_the_help_and_fails(capsys):
    assert main([]) == 2
    assert "usage:" in capsys.readouterr().out


def test_closed_output_pipe_is_no_error():
    hits = 'yes \'{"do":"hit","found":false}\' | head -20000'
    command = f"{hits} | {sys.executable} -m pi_controller score dakota | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.startswith('{"state"')
    assert done.stderr == ""
