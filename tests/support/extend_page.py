"""The package of the page for developers: its files and commands, read from the page as a reader copies them."""

import re
import shlex
import subprocess
import tomllib
from itertools import pairwise
from pathlib import Path

from outside_package import install_package

PAGE = Path(__file__).parents[2] / "pi_controller/help/pages/develop/extend.md"
FILE = re.compile(r"`([\w/]+\.(?:py|toml))`")
COMMAND = re.compile(r"^    (?:(.+) \| )?((?:python|moccasin-mat) (?!-m venv).+)$", re.MULTILINE)


def page_files():
    """Return the text of each file by its path: the block after the paragraph that names it and ends in a colon."""
    blocks = [""]
    for part in PAGE.read_text("utf-8").split("\n\n"):
        if part.strip("\n").startswith("    ") and blocks[-1].startswith("    "):
            blocks[-1] += f"\n\n{part}"
        else:
            blocks.append(part)
    files = {"our_mat/__init__.py": ""}
    for paragraph, block in pairwise(blocks):
        if block.startswith("    ") and paragraph.endswith(":") and (named := FILE.findall(paragraph)):
            files[named[-1]] = re.sub(r"^    ", "", block, flags=re.MULTILINE).rstrip() + "\n"
    return files


def write_page_files(folder):
    """Write the page's files into `folder`; return the project as pyproject.toml has it."""
    for name, text in page_files().items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    return tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]


def install_page_package(folder):
    """Write the page's package into `folder` as an installer leaves it; return its project."""
    project = write_page_files(folder)
    install_package(folder, project["name"], project["version"], project["entry-points"])
    return project


def page_commands():
    """Return (what is piped in, command) of each command on the page."""
    return COMMAND.findall(PAGE.read_text("utf-8"))


def run_command(piped, line, folder, python, env):
    """Run a command of the page in `folder` with `python`; return what has ended."""
    words = shlex.split(line)
    command = [python, *words[1:]] if words[0] == "python" else [python, "-m", "pi_controller", *words[1:]]
    command, into = (command[:-2], command[-1]) if ">" in command else (command, None)
    given = piped.removeprefix("echo ").strip("'") + "\n" if piped else ""
    done = subprocess.run(command, cwd=folder, input=given, env=env, capture_output=True, text=True, check=False)
    if into:
        (folder / into).write_text(done.stdout, "utf-8")
    return done
