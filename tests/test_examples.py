"""What is written for strangers is so: every example at a Python prompt runs, every command line is understood."""

from __future__ import annotations

import argparse
import ast
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pi_controller import cli
from pi_controller.cli import arguments
from pi_controller.help.contents import GENERATED

ROOT = Path(__file__).parents[1]
LISTED = subprocess.run(
    ["git", "ls-files", "*.md", "pi_controller/*.py"], cwd=ROOT, capture_output=True, text=True, check=True
)
FILES = [name for name in LISTED.stdout.split("\n") if name and (ROOT / name).exists()]
PAGES = [name for name in FILES if name.endswith(".md")]
PROMPT = [name for name in FILES if re.search(r"^ *>>> ", (ROOT / name).read_text("utf-8"), re.MULTILINE)]
PUBLIC = [
    Path(name).parent.name
    for name in FILES
    if name.count("/") == 2 and name.endswith("/__init__.py") and "__all__" in (ROOT / name).read_text("utf-8")
]
"""The packages with a public face."""
IN_A_BLOCK = re.compile(r"^    (?:.* )?(?:\S*/)?moccasin-mat (?=[a-z])([^#\n]+?) *(?:#.*)?$", re.MULTILINE)
IN_A_SENTENCE = re.compile(r"`moccasin-mat ((?!help)[a-z][a-z-]* [^`\n]+)`")
COMMANDS = sorted(
    {
        (page, line)
        for page in PAGES
        for form in (IN_A_BLOCK, IN_A_SENTENCE)
        for line in form.findall((ROOT / page).read_text("utf-8"))
    }
)
PIPED = re.compile(r"^    printf '(.+)' \| moccasin-mat (.+)$", re.MULTILINE)
PIPES = sorted({(page, *found) for page in PAGES for found in PIPED.findall((ROOT / page).read_text("utf-8"))})
SCRIPT = re.compile(r"\b(?:python|pytest)[^`\n|]*? (tests/[\w/.*]+)")
SCRIPTS = sorted({(page, path) for page in PAGES for path in SCRIPT.findall((ROOT / page).read_text("utf-8"))})


class ParsedError(Exception):
    """The line was understood; nothing further is to happen."""


def module_of(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@pytest.mark.parametrize("name", PROMPT)
def test_prompt_examples_give_their_printed_output(name: str):
    wrong: list[str] = []
    runner = doctest.DocTestRunner()
    if name.endswith(".md"):
        text = (ROOT / name).read_text("utf-8").replace("```", "")
        cases = [doctest.DocTestParser().get_doctest(text, {}, name, name, 0)]
    else:
        cases = doctest.DocTestFinder().find(import_module(module_of(name)))
    for case in cases:
        runner.run(case, out=wrong.append)
    assert not wrong, "".join(wrong)
    assert runner.tries, "no example was found"


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_exists_and_has_an_example(package: str):
    module = import_module(f"pi_controller.{package}")
    examples = "".join(example.source for example in doctest.DocTestParser().get_examples(module.__doc__))
    used = {node.id for node in ast.walk(ast.parse(examples)) if isinstance(node, ast.Name)}
    assert sorted(module.__all__) == sorted(set(module.__all__))
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name in used, f"{name} stands in no example of pi_controller.{package}"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = module.nothing


@pytest.mark.parametrize("package", PUBLIC)
def test_package_import_loads_no_slow_modules(package: str):
    code = f"import sys, pi_controller.{package}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "pydantic", "rich", "sqlite3", "starlette", "serial", "gpiozero"} & set(loaded)


@pytest.mark.slow
def test_the_reference_is_built_without_a_warning(tmp_path: Path):
    command = [sys.executable, ROOT / "tests" / "api_pages.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(page.stem for page in (tmp_path / "pi_controller").glob("*.html")) == sorted(PUBLIC)


def test_there_are_lines_to_look_at():
    assert len(PUBLIC) == 10
    assert len({page for page, _ in COMMANDS}) >= 8
    assert len(COMMANDS) >= 50
    assert len(PIPES) >= 2
    assert len(SCRIPTS) >= 20


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_every_documented_command_line_is_parsed(page: str, line: str, monkeypatch: pytest.MonkeyPatch):
    def parsed(parser: arguments.Parser, argv: list[str] | None = None, namespace: object = None) -> None:
        argparse.ArgumentParser.parse_args(parser, argv, namespace)
        raise ParsedError

    for parse in ("parse_args", "parse_intermixed_args"):
        monkeypatch.setattr(arguments.Parser, parse, parsed)
    needed = re.sub(r"\[[^]]*\](?:\.\.\.)?", "", line)  # without [what may be left out]
    words = shlex.split(re.sub(r"[<>|].*", "", needed))
    if " ".join(words) in cli.VERBS:
        return  # a command's name alone
    with pytest.raises((ParsedError, SystemExit)) as ended:
        cli.main(words)
    assert isinstance(ended.value, ParsedError) or ended.value.code == 0


@pytest.mark.parametrize(("page", "lines", "line"), PIPES)
def test_piped_example_lines_are_accepted(page: str, lines: str, line: str, monkeypatch: pytest.MonkeyPatch):
    given = lines.replace("\\n", "\n").encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given), "utf-8"))
    assert cli.main(shlex.split(line)) == 0, page


@pytest.mark.parametrize("page", [page for page in PAGES if "-m venv" in (ROOT / page).read_text("utf-8")])
def test_page_with_venv_names_its_debian_package(page: str):
    assert "python3-venv" in (ROOT / page).read_text("utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file(page: str):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text("utf-8"))
    targets = [os.path.normpath(Path(page).parent / link) for link in links]
    assert not [path for path in targets if path not in GENERATED and not (ROOT / path).exists()]


@pytest.mark.parametrize(("page", "path"), SCRIPTS)
def test_every_script_that_is_named_is_there(page: str, path: str):
    assert list(ROOT.glob(path)), f"{page} names {path}"
