"""The installation's SD card, started in qemu: its page on the screen, a tab that crashes, a reset by a stick.

    MOCCASIN_KIOSK_CARD=kiosk.img pytest -n 0 -s tests/machine/test_kiosk_card.py

`hardware/image/build.py --kiosk` makes the image; `-s` shows what was measured, and MOCCASIN_PICTURES names a folder
for pictures of the screen. The machine has a Pi 4's processor, its memory, and no graphics but a frame buffer: cage is
told to draw by the processor, as it need not on a Pi.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from qemu_card import USB, Card, Pi, inserted, until, virt

from pi_controller.setup.kiosk import KIOSK
from pi_controller.setup.reset_order import FILE, NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.machine

WATCHED = "ss -Htn state established '( dport = :8080 and dst 127.0.0.1 )'"
MARK = "from pi_controller.setup.reset_order import machine_mark as m; print(m())"
PYTHON = "/opt/moccasin-mat/bin/python"
STATE = "/var/lib/moccasin-mat"


@pytest.fixture
def card() -> Iterator[Card]:
    """Return the card of an installation, with the host's key for sticks."""
    with inserted("MOCCASIN_KIOSK_CARD", "sudo python3 hardware/image/build.py FILE --kiosk") as made:
        made.put("update_key.pub", (made.folder / "key.pub").read_text("utf-8"))
        yield made


def pi_4(card: Card) -> Pi:
    """Return a machine with a Pi 4's processor and 2 GB."""
    return virt(card, *USB, processor="cortex-a72", memory_mb=2048, append="systemd.setenv=WLR_RENDERER=pixman")


def watched(pi: Pi) -> bool:
    """Return whether the browser has the installation's page."""
    return bool(pi.run(WATCHED).stdout.strip())


def monotonic_s(pi: Pi, unit: str) -> float:
    """Return when `unit` became active, s since the kernel's start."""
    return int(pi.told(f"systemctl show {unit} -P ActiveEnterTimestampMonotonic")) / 1e6


def keep_picture(pi: Pi, name: str) -> Counter[bytes]:
    """Take a picture of the screen, keep it where somebody wants pictures; return how often it has each colour."""
    path = pi.card.folder / f"{name}.ppm"
    pi.picture(path)
    if folder := os.environ.get("MOCCASIN_PICTURES"):
        Path(folder).mkdir(exist_ok=True)
        shutil.copy(path, folder)
    _, size, _, pixels = path.read_bytes().split(b"\n", 3)
    width, height = map(int, size.split())
    return Counter(pixels[at : at + 3] for at in range(0, 3 * width * height, 3))


def drawn(pi: Pi, name: str) -> bool:
    """Return whether the installation's page is on the screen: one light ground, and more on it than two lines."""
    colours = keep_picture(pi, name)
    ground, number = colours.most_common(1)[0]
    return min(ground) > 128 and 0.25 < number / sum(colours.values()) < 0.9 and len(colours) > 50


def test_the_screen_shows_the_installation_and_a_page_that_crashed_comes_back(card: Card):
    pi = pi_4(card)
    with pi.machine:
        to_attract(pi, "the first start")
        print(pi.told("free -m; systemd-analyze security --no-pager 2>/dev/null | grep moccasin"))
        print(pi.told("ps -eo rss,args --sort=-rss | head -12 | cut -c1-110"))
        assert pi.told("systemctl is-active moccasin-mat moccasin-mat-kiosk-restart.path").split() == ["active"] * 2
        before = monotonic_s(pi, KIOSK)
        pi.told("pkill -KILL -f '[t]ype=renderer'")
        begun = time.monotonic()
        until(lambda: not drawn(pi, "crashed"), "the page is gone")
        until(lambda: monotonic_s(pi, KIOSK) > before, "the screen is started anew")
        print(f"started anew {time.monotonic() - begun:.0f} s after its page crashed")
        until(lambda: watched(pi), "the browser shows the page again")
        until(lambda: drawn(pi, "again"), "the page is on the screen again")
        assert pi.told("systemctl --failed --plain --no-legend") == ""
        pi.machine.cut()
    with pi.machine:
        to_attract(pi, "a start after a power cut")


def to_attract(pi: Pi, start: str) -> None:
    """Give it power, wait for the installation's page on the screen, and print how long that took."""
    begun = time.monotonic()
    pi.start()
    until(lambda: watched(pi), "the browser shows the page")
    until(lambda: drawn(pi, "attract"), "the page is on the screen")
    wall, inside = time.monotonic() - begun, pi.told("cut -d ' ' -f 1 /proc/uptime")
    speed = pi.told("python3 -c 'import time; a = time.time(); sum(range(10**7)); print(time.time() - a)'")
    print(f"\n{start}: to READY {monotonic_s(pi, 'moccasin-mat'):.1f} s, to cage {monotonic_s(pi, KIOSK):.1f} s inside")
    print(f"to the page on the screen: {inside} s inside, {wall:.0f} s on the wall")
    print(f"sum(range(10**7)): {float(speed):.2f} s inside, beside the browser")
    print(pi.told("systemd-analyze time; systemd-analyze blame | head -8"))


def test_a_stick_with_a_signed_order_resets_it(card: Card):
    pi = pi_4(card)
    with pi.machine:
        pi.start()
        pi.told("moccasin-mat judges --settings /etc/moccasin-mat/table.toml new-head")
        pi.told(f"touch {STATE}/exhibit-usage.json {STATE}/table.sqlite; echo x > /etc/moccasin-mat/hall.profile.json")
        number, boot = pi.told("cat /etc/moccasin-mat/reset/number"), pi.told("cat /proc/sys/kernel/random/boot_id")
        order = card.folder / FILE
        order.write_text(
            f'machine = "{pi.told(f"{PYTHON} -c {MARK!r}")}"\nnumber = "{number}"\nold_files = "aside"\n', "utf-8"
        )
        pi.plug("first", order)
        last = "cat /etc/moccasin-mat/reset/last 2>/dev/null || true"
        until(lambda: "is not signed" in pi.told(last), "an order without a signature is refused")
        signature = card.sign(order, NAMESPACE)
        pi.order("device_del", id="first")
        begun = time.monotonic()
        pi.plug("second", order, signature)
        until(lambda: pi.run("cat /proc/sys/kernel/random/boot_id").stdout.strip() not in {boot, ""}, "it starts anew")
        until(pi.page, "the page is there again")
        print(f"\nreset {time.monotonic() - begun:.0f} s after the stick was put in")
        assert f"reset {number} is done" in pi.told(last)
        assert pi.told("cat /etc/moccasin-mat/reset/number") != number
        here, aside, settings = (
            pi.told(f"ls {folder}").split() for folder in (STATE, f"{STATE}/before-reset-{number}", "/etc/moccasin-mat")
        )
        assert not {"judges.sqlite", "exhibit-usage.json"} & set(here)
        assert {"judges.sqlite", "exhibit-usage.json"} <= set(aside)
        assert "table.sqlite" in here
        assert "hall.profile.json" in settings
        # the stick is still in, and the same order is looked at once more
        log = "journalctl -b -o cat -u 'moccasin-mat-stick@*'"
        until(lambda: "each order holds once" in pi.told(log), "no order holds twice")
        assert f"reset {number} is done" in pi.told(last), "what came of it stays what the staff reads"
        assert pi.told("systemctl is-active moccasin-mat") == "active"
