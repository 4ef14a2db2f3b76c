"""The house rules that no tool knows: small modules, no machine's names, the top level as drawn."""

import ast
import builtins
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
from extend_page import page_files

ROOT = Path(__file__).parent.parent


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\n") if name and (ROOT / name).exists()]


def test_the_ci_calls_the_readmes_test_command():
    commands = re.findall(r"^    (python3 -m venv .*)$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(commands) == 2, "the README has two commands: one plays a game, one passes the tests"
    assert commands[1] in (ROOT / ".ci" / "run").read_text("utf-8")


def test_no_module_is_longer_than_900_lines():
    long = {
        str(path.relative_to(ROOT)): lines
        for path in tracked("pi_controller/**.py", "firmware/*.py")
        if (lines := len(path.read_text("utf-8").splitlines())) > 900
    }
    assert not long


def test_importing_modules_reads_no_pin_map():
    program = """
import importlib, pkgutil, pi_controller, pi_controller.pinmap
def pinmap():
    raise AssertionError("read at import")
pi_controller.pinmap.pinmap = pinmap
for module in pkgutil.walk_packages(pi_controller.__path__, "pi_controller."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_no_host_names_or_machine_paths():
    # spelled in pieces so that this file does not find itself
    hosts = re.compile(
        "|".join(
            ["py" + r"pi\.org", "python" + r"hosted\.org", "npm" + r"js\.(?:org|com)", "/ho" + "me/", "/ro" + "ot/"]
        )
    )
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        if path.suffix not in {".png", ".wav", ".journal", ".store"}
        for match in [hosts.search(path.read_text("utf-8", "replace"))]  # recordings are binary
        if match
    ]
    assert not found


def test_top_level_has_its_listed_entries():
    shown = {path.relative_to(ROOT).parts[0] for path in tracked()}
    plain = {name for name in shown if not name.startswith(".")}
    assert plain == {
        "pyproject.toml", "firmware", "pi_controller", "hardware", "tests",
        "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md",
    }  # fmt: skip


def test_python_files_named_in_docstrings_and_pages_exist():
    files = [path for path in tracked() if path.suffix in {".py", ".md"} and path.name != "CHANGELOG.md"]
    there = {path.name for path in files} | {Path(name).name for name in page_files()}  # a reader's own
    named = re.compile(r"`(?:[\w/]+/)?(\w+\.py)`")
    gone = {(str(path), name) for path in files for name in named.findall(path.read_text("utf-8")) if name not in there}
    assert gone == set()


SYSTEM_ERRORS = {name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, OSError)}
SYSTEM_ERRORS |= {"Exception", "BaseException", "lgpio.error", "httpx.TransportError"}  # they carry its text too


def raw_uses(handler):
    """Yield the lines where an exception handler puts its error into a text as it is."""
    for node in ast.walk(ast.Module(handler.body, [])):
        match node:
            case ast.FormattedValue(value=used) | ast.Attribute(value=used, attr="strerror"):
                found = [used]
            case ast.Call(func=ast.Name(id="str") | ast.Attribute(value=ast.Name(id="log")), args=found):
                pass
            case _:
                continue
        if any(isinstance(used, ast.Name) and used.id == handler.name for used in found):
            yield node.lineno


def test_system_errors_are_described_without_number():
    raw = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in tracked("pi_controller/*.py")
        if " as " in (text := path.read_text("utf-8")) and "except " in text  # to parse them all takes seconds
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ExceptHandler) and node.name and node.type
        if SYSTEM_ERRORS & {ast.unparse(kind) for kind in getattr(node.type, "elts", [node.type])}
        for line in raw_uses(node)
    ]
    assert not raw, "describe_error() of pi_controller.errors puts them into words"


def test_version_matches_in_project_file_and_package():
    import pi_controller

    assert (
        tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"] == pi_controller.__version__
    )


def test_mutation_groups_name_code_and_tests_that_exist():
    folder = ROOT / "tests" / "mutation"
    listed = subprocess.run(
        [sys.executable, folder / "mutate.py", "--list"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert listed.returncode == 0, listed.stderr
    groups = tomllib.loads((folder / "groups.toml").read_text("utf-8")).values()
    tests = {test.removeprefix("--deselect=").partition("::")[0] for group in groups for test in group["tests"]}
    assert sorted(test for test in tests if not (ROOT / test).is_file()) == []


def test_no_modules_import_each_other_in_a_circle():
    graph = grimp.build_graph("pi_controller", cache_dir=None, exclude_type_checking_imports=True)
    TopologicalSorter({name: graph.find_modules_directly_imported_by(name) for name in graph.modules}).prepare()


REAL_TIME = {
    "time.sleep", "time.monotonic", "time.perf_counter", "threading.Thread", "threading.Timer", "threading.Barrier",
    "threading.Event", "asyncio.run", "asyncio.wait_for", "subprocess.Popen", "socket.create_server", "uvicorn.Server",
}  # fmt: skip
"""What waits for the machine: only in tests/browser, tests/process and tests/support/real."""


def find_real_time(path, real):
    """Yield what in a test waits for the machine, and what it imports from `real`, the names of such modules."""
    text = path.read_text("utf-8")
    if not any(name in text for name in (*REAL_TIME, *real, "playwright")):  # to parse them all takes seconds
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and (name := ast.unparse(node)) in REAL_TIME:
            yield name
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        modules += [one.name for one in node.names] if isinstance(node, ast.Import) else []
        yield from (one for one in modules if one in real or one.startswith("playwright"))


def test_no_test_in_process_waits_for_real_time():
    tests = ROOT / "tests"
    real = {path.stem for path in (tests / "support" / "real").glob("*.py")}
    apart = (tests / "browser", tests / "process", tests / "support" / "real", tests / "benchmarks")
    found = {
        f"{path.relative_to(ROOT)}: {what}"
        for path in tracked("tests/**.py")
        if path.name.startswith(("test_", "conftest")) or path.parent.name == "support"
        if not any(path.is_relative_to(folder) for folder in apart)
        for what in find_real_time(path, real)
    }
    assert found == set()
