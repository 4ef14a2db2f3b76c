"""What a package index shows: the README's pictures and links are whole, whoever builds it; a tag alone releases."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import licences
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("package_metadata", ROOT / ".ci/package_metadata.py")
hook = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(hook)
README = (ROOT / "README.md").read_text("utf-8")
ADDRESS = "https://code.example/people/mat"
TARGET = re.compile(r"\]\(([^)\s]+)\)")


def test_address_makes_every_picture_and_link_absolute():
    text = hook.packaged(README, ADDRESS, "abc123")
    targets = TARGET.findall(text)
    assert targets == [
        target
        if ":" in target
        else f"{ADDRESS}/{'raw' if target.endswith(('.png', '.svg')) else 'blob'}/abc123/{target}"
        for target in TARGET.findall(README)
    ]
    assert f"![The live page in the middle of a game]({ADDRESS}/raw/abc123/.github/pictures/live-page.png)" in text


def test_readme_without_address_has_no_relative_links():
    text = hook.packaged(README, "", "")
    assert not [target for target in TARGET.findall(text) if ":" not in target]
    assert "![" not in text
    assert "A tournament tomorrow: a hub draws the teams" in " ".join(text.split())
    assert len(text.split()) > 0.9 * len(README.split()) - 60


def test_the_address_is_the_workflows_own():
    github = {"GITHUB_SERVER_URL": "https://code.example", "GITHUB_REPOSITORY": "people/mat", "GITHUB_SHA": "abc123"}
    assert hook.repository(github) == (ADDRESS, "abc123")
    assert hook.urls(ADDRESS)["Source"] == ADDRESS
    for missing in github:
        assert hook.repository({key: value for key, value in github.items() if key != missing}) == ("", "")
    assert hook.urls("") == {}


def test_readme_and_urls_come_from_the_hook_alone():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(project["dynamic"]) == {"readme", "urls"}
    assert not {"readme", "urls"} & set(project)


@pytest.mark.parametrize(
    ("package", "oldest"),
    [("cryptography", "46.0.7"), ("h11", "0.16"), ("jinja2", "3.1.6"), ("soundfile", "0.13"), ("starlette", "1.3.1")],
)
def test_no_version_with_a_known_hole_is_allowed(package, oldest):
    """Each is the first without a published vulnerability that matters here; pyproject.toml names it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lists = (project["dependencies"], *project["optional-dependencies"].values())
    needs = [Requirement(one) for some in lists for one in some]
    (bound,) = [min(Version(one.version) for one in need.specifier) for need in needs if need.name == package]
    assert bound >= Version(oldest)


def test_licence_table_lists_every_installed_package():
    groups = re.findall(r"^\| (.+) \| (.+) \|$", licences.TABLE.read_text("utf-8"), re.MULTILINE)[2:]
    rows = [(name, licence) for licence, names in groups for name in names.split(", ")]
    listed = dict(rows)
    assert set(listed) == set(licences.packages())
    assert not [
        name
        for name, licence in rows
        if re.search(r"\bA?GPL", licence.replace("LGPL", "")) and "Mozilla" not in licence
    ]
    base = [name for name, extras in licences.packages().items() if extras == ["base"]]
    assert not [name for name in base if listed[name] in {licences.UNKNOWN, "UNKNOWN"}]


def test_commit_hooks_run_from_the_environment():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    hooks = [hook for repository in config["repos"] for hook in repository["hooks"]]
    assert {repository["repo"] for repository in config["repos"]} == {"local"}
    assert {hook["language"] for hook in hooks} == {"system"}
    programs = {hook["entry"].split()[0] for hook in hooks}
    assert [
        name for name in programs if not Path(sys.executable).with_name(name.removeprefix(".venv/bin/")).exists()
    ] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert "pre-commit" in {Requirement(one).name for one in project["optional-dependencies"]["test"]}
    assert "`.venv/bin/pre-commit install`" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_the_citation_names_the_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"version: {project['version']}\n" in (ROOT / ".github/CITATION.cff").read_text("utf-8")


@pytest.mark.parametrize("needed", ["id-token: write", "needs: checks", "release.py dist", "workflow_call"])
def test_a_release_is_checked_and_has_no_password(needed):
    workflows = {path.stem: path.read_text("utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")}
    assert needed in "".join(workflows.values())
    assert "secrets." not in workflows["release"]
