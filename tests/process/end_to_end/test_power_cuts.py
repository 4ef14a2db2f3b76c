"""The plug pulled at random moments: what was shown is in the journal afterwards, and the chain is whole.

`python tests/process/end_to_end/power_cuts.py --cuts 600` pulls it as often as one likes.
"""

import os
import shutil
from functools import partial

import pytest
from cases import cases
from load_file import load_file

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None and not os.environ.get("MOCCASIN_CI"),
    reason="strace notes what is written: apt install strace",
)


@pytest.fixture(scope="module")
def script():
    return load_file("tests/process/end_to_end/power_cuts.py")


def test_power_cut_keeps_every_displayed_event(script):
    cuts = cases(15, 30)
    outcome, records = script.cuts(script.traced_writer, cuts, seed=7)
    assert records > 20
    assert outcome == {"cuts": cuts, "": cuts, "events lost": 0, "faults": 0}


@pytest.mark.slow
def test_power_cut_of_daemon_loses_no_events(script):
    outcome, records = script.cuts(partial(script.traced_daemon, ticks=600), 10, seed=3)
    assert records > 10
    assert outcome == {"cuts": 10, "": 10, "events lost": 0, "faults": 0}


@pytest.mark.parametrize("also", ["PRAGMA synchronous = NORMAL", "PRAGMA synchronous = OFF"])
def test_journal_without_full_sync_loses_events(script, also):
    outcome, _ = script.cuts(partial(script.traced_writer, also=also), 10, seed=7)
    assert outcome[""] < 10
    assert outcome["events lost"] > 0


@pytest.mark.parametrize("call", ["fsync,fdatasync:{}:when=20+13", "pwrite64:{}:when=80+37", "ftruncate:{}:when=3+4"])
@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "EROFS"][:: cases(3, 1)])
def test_intermittent_disk_errors_lose_no_events(script, call, error):
    """The calls are answered so now and then; what a failed sync was to write may never be written, as on Linux.

    Between two failures there is room for the calls of opening the journal again and writing one record: eleven syncs,
    three truncations.
    """
    faults = [call.format(f"error={error}")]
    outcome, records = script.cuts(partial(script.traced_writer, faults=faults), 15, seed=7)
    assert outcome.pop("faults") > 1
    assert records > 80
    assert outcome == {"cuts": 15, "": 15, "events lost": 0}
