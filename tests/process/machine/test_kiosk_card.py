"""The installation's SD card, started in qemu: its page and its faults on the screen, sound, sticks.

    MOCCASIN_KIOSK_CARD=kiosk.img pytest -n 0 -s tests/process/machine/test_kiosk_card.py

`hardware/image/build.py --kiosk` makes the image; `-s` shows what was measured, and MOCCASIN_PICTURES names a folder
for pictures of the screen. The machine has a Pi 4's processor, its memory, and no graphics but a frame buffer: cage is
told to draw by the processor, as it need not on a Pi.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from qemu_card import USB, Card, Pi, inserted, until, virt

from pi_controller.card.kiosk import FIRST_SIGN_TIMEOUT_S, WAITING
from pi_controller.host.request import KIOSK

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.machine

WATCHED = "ss -Htn state established '( dport = :8080 and dst 127.0.0.1 )'"
PYTHON = "/opt/moccasin-mat/bin/python"
STATE = "/var/lib/moccasin-mat"


@pytest.fixture
def card() -> Iterator[Card]:
    """Return the card of an installation, with the host's key for updates by stick."""
    with inserted("MOCCASIN_KIOSK_CARD", "sudo .venv/bin/python hardware/image/build.py FILE --kiosk") as made:
        made.put("update_key.pub", (made.folder / "key.pub").read_text("utf-8"))
        yield made


def pi_4(card: Card, *more: str) -> Pi:
    """Return a machine with a Pi 4's processor and 2 GB."""
    return virt(card, *USB, *more, processor="cortex-a72", memory_mb=2048, append="systemd.setenv=WLR_RENDERER=pixman")


def watched(pi: Pi) -> bool:
    """Return whether the browser has the installation's page."""
    return bool(pi.run(WATCHED).stdout.strip())


def monotonic_s(pi: Pi, unit: str) -> float:
    """Return when `unit` became active, s since the kernel's start."""
    return int(pi.told(f"systemctl show {unit} -P ActiveEnterTimestampMonotonic")) / 1e6


def keep_picture(pi: Pi, name: str, device: str = "screens") -> Counter[bytes]:
    """Take a picture of the screen, keep it where somebody wants pictures; return how often it has each colour."""
    path = pi.card.folder / f"{name}.ppm"
    pi.picture(path, device)
    if folder := os.environ.get("MOCCASIN_PICTURES"):
        Path(folder).mkdir(exist_ok=True)
        shutil.copy(path, folder)
    _, size, _, pixels = path.read_bytes().split(b"\n", 3)
    width, height = map(int, size.split())
    return Counter(pixels[at : at + 3] for at in range(0, 3 * width * height, 3))


def drawn(pi: Pi, name: str) -> bool:
    """Return whether the installation's page is on the screen: light, and with the many shades of its drawings."""
    colours = keep_picture(pi, name)
    light = sum(number for colour, number in colours.items() if min(colour) > 128)
    return light / sum(colours.values()) > 0.25 and len(colours) > 1000


def test_kiosk_shows_installation_again_after_page_crash(card: Card):
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
        starts_a_silent_browser_anew(pi)
        assert pi.told("systemctl --failed --plain --no-legend") == ""
        pi.machine.cut()
    with pi.machine:
        to_attract(pi, "a start after a power cut")


def starts_a_silent_browser_anew(pi: Pi) -> None:
    """A browser whose page on the disk is empty gives no sign of life: it is ended, and comes back with the page."""
    pi.told(f"touch /run/empty.html && mount --bind /run/empty.html {WAITING}")
    pi.told(f"systemctl --no-block restart {KIOSK}")
    restarts = f"systemctl show {KIOSK} -P NRestarts"
    begun = float(pi.told("cut -d ' ' -f 1 /proc/uptime"))
    until(lambda: int(pi.told(restarts)) > 0, "the screen without a sign of life is started anew")
    seconds = float(pi.told("cut -d ' ' -f 1 /proc/uptime")) - begun
    print(f"without a first sign of life it was started anew after {seconds:.0f} s")
    assert FIRST_SIGN_TIMEOUT_S <= seconds < FIRST_SIGN_TIMEOUT_S + 30
    pi.told(f"umount {WAITING} && systemctl --no-block restart {KIOSK}")
    until(lambda: watched(pi), "the browser shows the page again")
    until(lambda: drawn(pi, "after-silence"), "the page is on the screen again")


def to_attract(pi: Pi, start: str) -> None:
    """Give it power, wait for the installation's page on the screen, and print how long that took."""
    begun = time.monotonic()
    pi.start()
    until(lambda: watched(pi), "the browser shows the page")
    until(lambda: drawn(pi, "attract"), "the page is on the screen")
    wall, inside = time.monotonic() - begun, pi.told("cut -d ' ' -f 1 /proc/uptime")
    speed = pi.told("python3 -c 'import time; a = time.time(); sum(range(10**7)); print(time.time() - a)'")
    ready, sign = monotonic_s(pi, "moccasin-mat"), monotonic_s(pi, KIOSK)
    print(f"\n{start}: to READY {ready:.1f} s, to the browser's first sign of life {sign:.1f} s inside")
    print(f"to the page on the screen: {inside} s inside, {wall:.0f} s on the wall")
    print(f"sum(range(10**7)): {float(speed):.2f} s inside, beside the browser")
    print(pi.told("systemd-analyze time; systemd-analyze blame | head -8"))


HEARD = """
import numpy, soundfile
samples, rate = soundfile.read("/tmp/heard.wav")
loud = numpy.flatnonzero(abs(samples) > 0.05)
sound = samples[loud[0] : loud[-1] + 1]
level = abs(numpy.fft.rfft(sound))
found = [level[int(hertz * len(sound) / rate + 0.5)] for hertz in (440, 550, 660)]
print(len(sound) / rate, found[0] / found[1], found[2] / found[1])
"""
"""Prints how long the test sound was, and how far its two tones are above what is between them."""


def test_card_mounts_own_partitions_despite_copy_on_stick(card: Card):
    stick = card.forge("visitor")
    drive = ("-drive", f"if=none,id=forged,format=raw,file={stick}", "-device", "usb-storage,drive=forged,bus=usb.0")
    pi = pi_4(card, *drive)
    hot = card.forge("second-visitor")
    with pi.machine:
        pi.start()
        assert pi.told("readlink -f /dev/disk/by-label/MAT") == "/dev/sda1", "the label is the stick's"
        assert_own_partitions(pi)
        pi.plug_image("hot", hot)
        until(lambda: pi.run("test -b /dev/sdb3").returncode == 0, "the second stick is there")
        pi.told("udevadm settle; systemctl restart boot-firmware.mount moccasin-mat-card")
        assert_own_partitions(pi)
        play_the_test_sound(pi)
        set_the_clock(pi)
        pi.machine.cut()


def assert_own_partitions(pi: Pi) -> None:
    """All that is mounted is the card's, and the host's key is the only one that opens it."""
    for number, name in enumerate(("boot", "root", "state"), 1):
        assert pi.told(f"readlink -f /dev/moccasin-mat/{name}") == f"/dev/vda{number}"
    mounted = [pi.told(f"findmnt -n -o MAJ:MIN {folder}") for folder in ("/boot/firmware", "/", "/state")]
    assert mounted == pi.told("cat /sys/class/block/vda[123]/dev").split()
    key = (pi.card.folder / "key.pub").read_text("utf-8").strip()
    assert pi.told("cat /run/moccasin-mat-card/authorized_keys") == key
    assert pi.told("cat /etc/moccasin-mat/update_signers") == f"host {key}"
    assert pi.run("test -e /run/moccasin-mat-card/key-changes").returncode == 1


@contextmanager
def staff(pi: Pi) -> Iterator[httpx.Client]:
    """Sign in at the staff page with a new PIN of the head judge; yield the client."""
    told = pi.told("moccasin-mat judges --settings /etc/moccasin-mat/table.toml new-head")
    pin = re.search(r": (\S+) \(shown", told)[1]
    with httpx.Client(base_url=pi.url, timeout=60, headers={"origin": pi.url}) as web:
        signed = web.post("/staff/sign-in", json={"name": "Head judge", "pin": pin})
        assert signed.status_code == 200, signed.text
        yield web


def play_the_test_sound(pi: Pi) -> None:
    """The service plays the staff's test sound on a loopback device, and both its tones are recorded."""
    pi.told("modprobe snd-aloop && systemctl restart moccasin-mat")
    until(pi.page, "the page is there")
    record = "arecord -q -D plughw:Loopback,1 -f S16_LE -r 48000 -c 1 -d 120 /tmp/heard.wav"
    pi.told(f"systemd-run -q -u heard {record}")
    until(lambda: int(pi.run("stat -c %s /tmp/heard.wav").stdout or 0) > 100_000, "it is recorded")
    with staff(pi) as web:
        answer = web.post("/staff/do", json={"do": "sound"})
    assert answer.status_code == 200, answer.text
    pi.run("systemctl stop heard")
    seconds, *tones = map(float, pi.told(f"{PYTHON} -c '{HEARD}'").split())
    print(f"\nthe test sound lasted {seconds:.2f} s")
    assert 0.7 < seconds < 1.0
    assert min(tones) > 5


def set_the_clock(pi: Pi) -> None:
    """Without a network the staff sets the machine's clock, and its clock chip with it."""
    with staff(pi) as web:
        answer = web.post("/staff/do", json={"do": "clock", "now": "2031-05-06T07:08"})
    assert answer.status_code == 200, answer.text
    until(lambda: pi.told("date --utc +%F") == "2031-05-06", "the clock is set")
    until(lambda: pi.told("cat /sys/class/rtc/rtc0/date") == "2031-05-06", "the clock chip has it")
    assert pi.told("systemctl show moccasin-mat-clock -P Result") == "success"


DROP_IN = "/run/systemd/system/moccasin-mat.service.d/table.conf"
AS_A_TABLE = f"""mkdir -p {Path(DROP_IN).parent} && printf '[Service]\\nExecStart=\\nExecStart=%s\\n' \\
'/opt/moccasin-mat/bin/moccasin-mat run --settings /etc/moccasin-mat/table.toml' > {DROP_IN}
systemctl daemon-reload && systemctl restart moccasin-mat"""
"""Has the same service run a table, whose journal each start needs; the installation needs none to play."""
FILL = "fallocate -l $(df --output=avail -B1 /state | tail -1) /state/fill; cat /dev/zero > /state/rest || true"
"""Fills the third partition, with what is kept for root."""
DAMAGE = """
import pathlib
for path in pathlib.Path("/var/lib/moccasin-mat").glob("table.sqlite*"):
    if path.suffix == ".sqlite" and path.stat().st_size > 3072:
        with path.open("r+b") as file:
            file.seek(1024)
            file.write(bytes([165]) * 2048)
"""
"""Damages the journal."""


def test_each_fault_appears_on_screen_and_play_continues(card: Card):
    pi = pi_4(card, "-device", "virtio-gpu-pci,id=second-screen")
    with pi.machine:
        pi.machine.start()
        pi.order("set_link", name="net", up=False)
        until(lambda: drawn(pi, "no-network"), "the installation is on the screen without a network")
        pi.order("set_link", name="net", up=True)
        until(pi.page, "the network is there")
        two_screens_show_one_page(pi)
        wrong_settings_take_the_screen_until_they_are_right(pi)
        pi.told("sed -i '/^.exhibit/,/^mat =/ s/^mat = .*/mat = \"sensors\"/' /etc/moccasin-mat/table.toml")
        pi.told("systemctl restart moccasin-mat")
        shows_page(pi, "no-mat")
        with staff(pi) as web:
            assert "board" in problems(web)
            pi.told(FILL)
            pi.told("systemctl restart moccasin-mat")
            shows_page(pi, "disk-full-installation")
            assert "0.0 GB" in problems(web)
        pi.run(AS_A_TABLE)
        shows_fault(pi, "disk-full", "journal")
        pi.told("rm /state/fill /state/rest; systemctl restart moccasin-mat")
        until(pi.page, "there is room again, and the table's page")
        pi.told("systemctl stop moccasin-mat && mount -o remount,ro /state")
        pi.run("systemctl restart moccasin-mat")
        shows_fault(pi, "read-only", "journal", "state_read_only")
        pi.told("systemctl stop moccasin-mat && mount -o remount,rw /state")
        pi.told(f"{PYTHON} -c '{DAMAGE}' && systemctl restart moccasin-mat")
        until(pi.page, "the table's page is there again by itself")
        assert pi.told("ls /var/lib/moccasin-mat/table.damaged-*.sqlite"), "the damaged one is kept"
        assert pi.view()["question"]["about"] == "recovered", "and the judge is asked how to go on"
        # a table has the text screen
        pi.told("systemctl stop moccasin-mat-kiosk && systemctl restart moccasin-mat-screen")
        assert "was damaged" in pi.screen().replace("\n", " ")
        keep_picture(pi, "damaged-journal")
        pi.machine.cut()
    # the machine's key goes with the partition
    card.destroy(3, backups=False)
    (card.folder / "known").unlink()
    with pi.machine:
        pi.start()
        assert "left it empty" in pi.told("cat /run/moccasin-mat-card/faults"), "its check made it anew"
        with staff(pi) as web:
            assert "left it empty" in problems(web)
        shows_page(pi, "state-repaired")
        pi.machine.cut()
    card.destroy(3, backups=True)
    (card.folder / "known").unlink()
    with pi.machine:
        pi.machine.start()
        until(lambda: fault_shown(pi) == "state_lost", "the fault is told; ssh starts without the third partition")
        settle_picture(pi, "state-destroyed")
        told = pi.told("cat /run/moccasin-mat-card/faults")
        assert "mat-state" in told
        now = pi.told("ssh-keygen -l -f /run/moccasin-mat-card/ssh_host_ed25519_key").split()[1]
        assert now in told, "whoever logs in can compare the machine's new key"


def problems(web: httpx.Client) -> str:
    """Return the staff page's list of problems."""
    found = re.search(r'<ul class="faults">(.*?)</ul>', web.get("/staff").text)
    return found[1] if found else ""


def two_screens_show_one_page(pi: Pi) -> None:
    """Of two outputs with a screen one is switched off, and the other has the whole page."""
    told = pi.told("cat /sys/class/drm/card*-Virtual-*/status").split()
    assert told.count("connected") == 1, told
    assert pi.told("cat /sys/class/drm/card*-Virtual-1/status") == "connected"
    assert drawn(pi, "two-screens-first")
    assert len(keep_picture(pi, "two-screens-second", "second-screen")) < 20, "the console at most"


def wrong_settings_take_the_screen_until_they_are_right(pi: Pi) -> None:
    """The installation cannot start: the screen goes to the fault by itself, and back once the settings are right."""
    file = "/etc/moccasin-mat/table.toml"
    wrong = '/^.web/,/^port =/ s/^port = .*/port = "eighty"/'
    pi.run(f"cp {file} /tmp/right.toml && sed -i '{wrong}' {file} && systemctl restart moccasin-mat")
    begun = time.monotonic()
    shows_fault(pi, "wrong-settings", "settings")
    print(f"\nthe fault was on the screen after {time.monotonic() - begun:.0f} s")
    pi.told(f"cp /tmp/right.toml {file}")
    begun = time.monotonic()
    shows_page(pi, "right-settings")
    print(f"the page was back {time.monotonic() - begun:.0f} s after the settings were right")


def shows_page(pi: Pi, name: str) -> None:
    """The service runs, nothing is told to be wrong, and its page is on the screen; keep a picture of it."""
    until(pi.page, f"the page of {name}")
    until(lambda: watched(pi), "the browser has it")
    assert fault_shown(pi) == ""
    until(lambda: drawn(pi, name), "it is on the screen")


def shows_fault(pi: Pi, name: str, *codes: str) -> None:
    """The service does not run, and the screen is told one of `codes`; keep a picture of it."""
    until(lambda: fault_shown(pi) in codes, f"the fault of {name}")
    until(lambda: not watched(pi), "the browser is back on its own page")
    settle_picture(pi, name)


def fault_shown(pi: Pi) -> str:
    """Return the code of the fault that the screen is told, "" for none."""
    found = re.search(r'"code":"(\w+)"', pi.run("cat /run/moccasin-mat/fault.js").stdout)
    return found[1] if found else ""


def settle_picture(pi: Pi, name: str) -> None:
    """Take a picture once the screen has not changed for a moment and is not the console."""
    seen: list[Counter[bytes]] = []

    def is_still() -> bool:
        seen.append(keep_picture(pi, name))
        return len(seen) > 2 and seen[-1] == seen[-2] and len(seen[-1]) > 20

    until(is_still, f"the screen shows {name}")
