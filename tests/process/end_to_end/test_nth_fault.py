"""Each write, sync and read of a store fails once, at each n: nothing acknowledged is lost; the next start is whole."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import faulted_stores
import pytest
from cases import cases

SCRIPT = Path(faulted_stores.__file__)
FAULTS = {"fsync": "EIO", "fdatasync": "EIO", "pwrite64": "ENOSPC", "pread64": "EIO"}

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None and not os.environ.get("MOCCASIN_CI"),
    reason="strace injects the faults: apt install strace",
)


def run(store, folder, call, *faults):
    """Run the writer of `store` in `folder`; return what it acknowledged, and the calls of one kind that it made."""
    folder.mkdir()
    kept = folder / faulted_stores.NAME
    paths = [f"-P{folder}", *(f"-P{kept}{ending}" for ending in faulted_stores.ENDINGS)]
    traced = ["strace", "-f", "-qq", "-o", str(folder / "calls"), *paths, "-e", f"trace={call}", *faults]
    done = subprocess.run([*traced, sys.executable, SCRIPT, store, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [tuple(line.split()) for line in done.stdout.splitlines()], (folder / "calls").read_text()


@pytest.mark.parametrize("call", FAULTS)
@pytest.mark.parametrize("store", faulted_stores.CHECKS)
def test_acknowledged_outlives_fault_of_nth_call(tmp_path, store, call):
    acknowledged, made = run(store, tmp_path / "whole", call)
    if (count := made.count("(")) == 0:
        return  # a store that is synced by the other call
    failed = 0
    for n in range(1, count + 1, cases(max(1, count // 2), 1)):
        folder = tmp_path / str(n)
        kept, made = run(store, folder, call, f"--inject={call}:error={FAULTS[call]}:when={n}")
        failed += "(INJECTED)" in made
        assert len(kept) == len(acknowledged), n
        faulted_stores.CHECKS[store](folder / faulted_stores.NAME, kept)
    assert failed
