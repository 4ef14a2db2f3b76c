"""The installed service on a systemd that booted: it starts, is watched, comes back, and is examined."""

from __future__ import annotations

import json
import re
import time
from collections import Counter

import pytest
from guest_table import START_S, Page, Table

pytestmark = [pytest.mark.machine, pytest.mark.timeout(7200)]
WELL = ("unit", "running", "room", "writing", "journal", "fsync", "gpiozero", "lgpio", "group dialout")
"""What doctor must find well here."""
LOOP = "import time; b = time.perf_counter(); sum(range(10**7)); print(time.perf_counter() - b)"


@pytest.fixture(scope="module")
def table(image, machine_on, figures):
    """Return a table installed in a machine that was just booted; what is written there is thrown away."""
    machine, port = machine_on(f"file={image}/disk.img,format=raw,snapshot=on")
    with machine:
        figures("boot to a shell, s of the wall", round(machine.boot(), 1))
        figures("boot", machine.check("systemctl is-system-running --wait; systemd-analyze | head -1"))
        begun = time.monotonic()
        inside = float(machine.check(f"python3 -c '{LOOP}'"))
        figures("a loop of Python", f"{inside:.2f} s inside, {time.monotonic() - begun:.1f} s on the wall")
        table = Table(machine, port)
        table.said = table.install()
        yield table


def test_setup_starts_a_table_that_reports_ready(table, figures):
    assert "The table runs" in table.said
    assert table.property("ActiveState") == "active"
    figures("start to READY=1, s inside, as installed", table.ready_s())
    table.configure(buttons="none")
    figures("start to READY=1, s inside, with judges", table.ready_s())
    assert table.until(link=False)["game"] == "dakota"
    figures("resident memory, MB", table.resident_mb())


def test_doctor_finds_the_service_and_its_journal_well(table, figures):
    begun = time.monotonic()
    done = table.machine.run("moccasin-mat mat check --json", START_S)
    figures("doctor inside, s of the wall", round(time.monotonic() - begun, 1))
    lines = json.loads(done.text[done.text.index("{") :])["lines"]
    outcomes = {line["name"]: line["outcome"] for line in lines}
    assert [name for name in WELL if outcomes[name] != "pass"] == [], lines
    figures("doctor inside", ", ".join(f"{n} {what}" for what, n in Counter(outcomes.values()).items()))


def test_sandbox_exposure_is_at_most_1_6(table, figures):
    said = table.machine.check("systemd-analyze security moccasin-mat --no-pager | tail -1")
    found = re.search(r"([\d.]+) (\w+)", said)
    figures("systemd-analyze security", found[0])
    assert float(found[1]) <= 1.6


def test_watchdog_restarts_stopped_service_which_resumes_its_journal(table, figures):
    pin = table.new_judge("Ann")
    page = Page(table.port)
    page.sign_in("Ann", pin)
    state = page.ask("GET", "/judge/state.json")
    call = {"judge": "action", "action": {"do": "toss", "winner": "A"}}
    answer = page.ask("POST", "/judge/command", {"key": "a-toss-01", "expect": state["view"]["revision"], "call": call})
    assert answer["ok"]
    before, restarts = table.property("MainPID"), table.property("NRestarts")
    stopped = float(table.machine.check(f"kill -STOP {before}; cat /proc/uptime").split()[0])
    wait = f"until [ $(systemctl show moccasin-mat -P NRestarts) != {restarts} ]; do sleep 0.5; done"
    table.machine.check(wait, START_S)
    table.machine.check("until systemctl is-active -q moccasin-mat; do sleep 0.5; done", START_S)
    figures("from SIGSTOP to READY=1 again, s inside", round(table.active_at() - stopped, 1))
    assert table.property("MainPID") != before
    assert (
        "watchdog" in table.machine.check("journalctl -u moccasin-mat --no-pager | grep -i watchdog | head -3").lower()
    )
    assert table.until(phase="hide")["sheet"]["hider"] == "A"


def test_service_starts_at_boot_and_resumes_its_journal(table, figures):
    boot = table.machine.check("cat /proc/sys/kernel/random/boot_id")
    figures("reboot to a shell, s of the wall", round(table.machine.reboot(), 1))
    assert table.machine.check("cat /proc/sys/kernel/random/boot_id") != boot
    table.machine.check("until systemctl is-active -q moccasin-mat; do sleep 0.5; done", START_S)
    figures("start to READY=1 while the machine starts, s inside", table.ready_s())
    figures("kernel's start to READY=1, s inside", table.active_at())
    assert table.until(phase="hide")["sheet"]["hider"] == "A"


def test_setup_is_taken_back(table):
    table.machine.check("moccasin-mat service remove --yes", START_S)
    assert table.machine.run("systemctl is-active moccasin-mat").text.splitlines()[-1] in {"inactive", "unknown"}
    assert table.machine.run("ls /etc/systemd/system/moccasin-mat.service").status != 0
    assert table.machine.run("test -s /var/lib/moccasin-mat/table.sqlite").status == 0
