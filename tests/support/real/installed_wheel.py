"""The wheel in an environment of its own, with links to this one's packages, so that nothing is downloaded."""

import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from programs import finish_program, start_program

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def base_packages(more=()):
    """Return the distributions that `pip install moccasin-mat MORE...` adds, besides the project itself."""
    found, todo = {}, [(need, "") for need in (*PROJECT["dependencies"], *more)]
    while todo:
        text, extra = todo.pop()
        need = Requirement(text)
        name = canonicalize_name(need.name)
        if name in found or (need.marker and not need.marker.evaluate({"extra": extra})):
            continue
        found[name] = metadata.distribution(name)
        todo += [(one, more) for one in found[name].requires or () for more in ("", *need.extras)]
    return found


def build_wheel(project, folder):
    """Build the wheel of the project at `project` into `folder`; return its path."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, project]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


class Installed:
    """The wheel in an environment of its own, without extras; `more` are requirements that are there too."""

    def __init__(self, folder, more=()):
        self.folder = folder / "Zoë Mat"
        self.work = folder / "work"
        self.work.mkdir()
        self.wheel = build_wheel(ROOT, folder / "wheels")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder], check=True)
        self.python = self.folder / "bin" / "python"
        (site,) = self.folder.glob("lib/python*/site-packages")
        for package in base_packages(more).values():
            for name in {Path(file).parts[0] for file in package.files} - {"..", "__pycache__"}:
                (site / name).symlink_to(package.locate_file(name))
        self.install(self.wheel)

    def install(self, wheel):
        install = ["install", "-q", "--no-deps", "--no-index", "--no-compile", wheel]
        subprocess.run([sys.executable, "-m", "pip", "--python", self.python, *install], check=True)

    def write(self, files):
        for name, content in files.items():
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_text(content, "utf-8")

    def environment(self, home=None):
        kept = {name: value for name, value in os.environ.items() if name not in {"HOME", "PYTHONPATH"}}
        return kept | ({"HOME": home} if home else {})

    def start(self, *words, home=None):
        """Start a command line; by default without HOME."""
        command = [self.folder / "bin" / "moccasin-mat", *words]
        return start_program(command, self.work, self.environment(home))

    def run(self, *words, home=None):
        """Run a command line to its end; return the result."""
        return finish_program(self.start(*words, home=home))
