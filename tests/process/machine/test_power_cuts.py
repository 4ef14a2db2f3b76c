"""The whole guest loses its power, on a disk that forgets what was not flushed: nothing acknowledged is lost.

Half of the cuts come at any moment, half where a flush was asked for and not yet done.
The guest is up without systemd, in a third of the time; disk, file system, kernel and table are the same.
"""

from __future__ import annotations

import base64
import io
import os
import random
import shutil
import tarfile
import time
from pathlib import Path

import pytest
from guest_table import INSIDE, JOURNAL, SETTINGS, START_S, Page, made_judge
from nbd_disk import ForgetfulDisk
from virtual_machine import REAL_TIME
from witness import BROKEN, Witness

from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.facts import CommandIssued

pytestmark = [pytest.mark.machine, pytest.mark.timeout(14400)]
CUTS = int(os.environ.get("MOCCASIN_CUTS", "20"))
JUDGES = ("Ann", "Bo")
GIVING_S = (6.0, 14.0)
"""From the first acknowledged command to the cut, on the wall."""
NOISE = """\
import os, random, time
file = os.open("/var/tmp/noise", os.O_WRONLY | os.O_CREAT)
while True:
    os.pwrite(file, random.randbytes(65536), 65536 * random.randrange(16))
    time.sleep(0.1)
"""
WRITES = (
    "sysctl -qw vm.dirty_expire_centisecs=50 vm.dirty_writeback_centisecs=20; "
    "python3 -S /opt/noise.py >/dev/null 2>&1 &"
)
"""Another program writes, and flushes nothing: a cut then finds something in the disk's cache."""
RUN = "moccasin-mat run --settings /etc/moccasin-mat/table.toml </dev/null >/tmp/table.log 2>&1 &"


@pytest.fixture(scope="module")
def disk(image, sockets, tmp_path_factory):
    """Return a copy of the guest's disk that forgets."""
    copy = tmp_path_factory.mktemp("disk") / "disk.img"
    shutil.copy(image / "disk.img", copy)
    with ForgetfulDisk(copy, sockets / "nbd") as disk:
        yield disk
    copy.unlink()


@pytest.fixture
def machine(machine_on, sockets, disk):
    """Return a machine on that disk, and its page's port."""
    drive = f"file=nbd:unix:{sockets}/nbd,format=raw,cache=writeback"
    machine, port = machine_on(drive, append="init=/opt/tests/minimal_init.sh", emulated=REAL_TIME)
    with machine:
        yield machine, port


def page_answers(page):
    """Wait until the table's page answers."""
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        try:
            return page.ask("GET", "/view.json")
        except BROKEN:
            time.sleep(0.2)
    raise AssertionError("the page does not answer")


def test_power_cuts_lose_no_acknowledged_call(machine, disk, figures, tmp_path):
    machine, port = machine
    machine.boot()
    settings = SETTINGS.format(journal=JOURNAL, points=20, board="none", buttons="none", port=INSIDE)
    lines = settings.replace("\n", "\\n")
    machine.check(
        f"mkdir -p /var/lib/moccasin-mat /etc/moccasin-mat; printf '{lines}' > /etc/moccasin-mat/table.toml; sync"
    )
    machine.put(NOISE, "/opt/noise.py")
    pages = {name: Page(port, keep_alive=True) for name in JUDGES}
    pins = {name: made_judge(machine, name, "--settings /etc/moccasin-mat/table.toml") for name in JUDGES}
    machine.check("sync")
    machine.send(WRITES)
    machine.send(RUN)
    page_answers(Page(port))
    for name, page in pages.items():
        page.sign_in(name, pins[name])
    chance = random.Random(1)
    acknowledged: dict[str, int] = {}
    given = held = lost = signed_in = 0
    giving_s = 0.0
    for cut in range(CUTS):
        witnesses = [Witness(pages[name], name, random.Random(f"{cut} {name}"), acknowledged) for name in JUDGES]
        before = len(acknowledged)
        begun = time.monotonic()
        for witness in witnesses:
            witness.start()
        while len(acknowledged) == before and time.monotonic() < begun + START_S:
            time.sleep(0.05)
        time.sleep(chance.uniform(*GIVING_S))
        if cut % 2:  # every other time when the most is to be lost
            assert disk.reach_flush(START_S), "nothing was flushed"
        machine.cut()
        giving_s += time.monotonic() - begun
        for witness in witnesses:
            witness.stop()
            witness.join()
            assert witness.fault is None, witness.fault
            given += witness.given
        for page in pages.values():
            page.close()
        gone = disk.lose_power(chance)
        held, lost = held + gone.held, lost + gone.lost
        booted = machine.boot()
        packed = machine.check("tar -czf - -C /var/lib moccasin-mat | base64", START_S)
        with tarfile.open(fileobj=io.BytesIO(base64.b64decode(packed)), mode="r:gz") as files:
            files.extractall(tmp_path / str(cut), filter="data")
        path = tmp_path / str(cut) / "moccasin-mat" / Path(JOURNAL).name
        found = verify_journal(path)
        with Journal(path, read_only=True) as journal:
            keys = [fact.key for _, _, fact in journal.records() if isinstance(fact, CommandIssued) and fact.key]
        figures(
            f"cut {cut + 1}",
            f"{len(acknowledged) - before} acknowledged, {gone.lost} of {gone.held} sectors lost, "
            f"{disk.writes} writes and {disk.flushes} flushes so far, up in {booted:.0f} s, "
            f"{found.records} records, {'whole' if found.whole else found.wrong}",
        )
        assert found.whole, found.wrong
        assert not set(acknowledged) - set(keys), "acknowledged, and not in the journal"
        assert len(set(keys)) == len(keys), "a command counted twice"
        machine.send(WRITES)
        machine.send(RUN)
        page_answers(Page(port))
        for name, page in pages.items():
            if page.signed_out():
                signed_in += 1
                page.sign_in(name, pins[name])
    for page in pages.values():
        page.close()
    figures("power cuts", CUTS)
    figures("commands acknowledged, and of them lost", (len(acknowledged), 0))
    figures("commands given, a second on the wall", round(given / giving_s, 1))
    figures("sectors that were not flushed, and of them lost", (held, lost))
    figures("judges who had to sign in again", signed_in)
