"""The SD card's image, as far as it can be checked without building it: files, units, packages, its settings."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import build
import pytest
from needed import need

from pi_controller.card import wifi_files
from pi_controller.card.plan import first_settings
from pi_controller.card.service_unit import unit
from pi_controller.card.wifi_files import wpa_settings
from pi_controller.config import format_example, machine_settings, own_network, read_settings
from pi_controller.config.machine_settings import Wifi
from pi_controller.host.place import HUB_UNIT, make_place
from pi_controller.host.place import PROGRAMS as PROGRAMS_FOLDER
from pi_controller.host.status import SCREEN_RESTART, FaultChannel

IMAGE = Path(build.__file__).parent
FILES = IMAGE / "files"
UNITS = FILES / "etc/systemd/system"
PROGRAMS = FILES / "usr/local/lib/moccasin-mat"
SCRIPTS = [*PROGRAMS.glob("*.sh"), *(FILES / "etc/initramfs-tools").glob("[hs]*/**/*")]


def program(name: str) -> Any:
    """Return a program of the card's as a module."""
    spec = importlib.util.spec_from_file_location(f"card_{name}", PROGRAMS / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def card():
    return program("card")


@pytest.fixture
def folders(card, tmp_path):
    made = card.Card(*(tmp_path / name for name in ("boot", "settings", "state", "run")))
    for folder in (made.boot, made.settings, made.state, made.run):
        folder.mkdir()
    return made


def mounts():
    lines = (FILES / "etc/fstab").read_text("utf-8").splitlines()
    return {fields[1]: fields for line in lines if (fields := line.split()) and not line.startswith("#")}


def test_writable_mounts_are_state_partition_or_tmpfs():
    for where, (what, _, kind, options, _, _) in mounts().items():
        if what.startswith("/dev/") and where != "/state":
            assert "ro" in options.split(","), where
        elif kind != "tmpfs" and where != "/state":
            assert what.startswith("/state/"), where
            assert options.split(",") == ["bind", "nofail"], where
    state = mounts()["/state"][3].split(",")
    assert {"noatime", "nosuid", "nodev", "noexec", "errors=remount-ro", "nofail", "x-systemd.growfs"} <= set(state)


def test_partitions_are_named_by_disk_not_label():
    devices = [what for what, *_ in mounts().values() if what.startswith("/dev/")]
    assert devices == [f"/dev/moccasin-mat/{name}" for name in ("root", "boot", "state")]
    for path in FILES.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            assert not re.search(r"LABEL=(MAT|mat-)|by-label|blkid -L", path.read_text("utf-8")), path
    rule = (FILES / "etc/initramfs-tools/moccasin-mat.rules").read_text("utf-8").splitlines()
    usb = rule.index('SUBSYSTEMS=="usb", GOTO="moccasin_mat_end"')
    assert usb < next(n for n, line in enumerate(rule) if "SYMLINK+=" in line)


def test_initramfs_names_partitions_of_root_disk_alone(tmp_path):
    script = (FILES / "etc/initramfs-tools/scripts/init-bottom/card").read_text("utf-8")
    disks = {"devices/mmc0/block/mmcblk0": "mmcblk0p", "devices/usb1/1-1/block/sda": "sda"}
    (tmp_path / "sys/class/block").mkdir(parents=True)
    (tmp_path / "dev/moccasin-mat").mkdir(parents=True)
    (tmp_path / "proc").mkdir()
    for disk, prefix in disks.items():
        for number in (1, 2, 3):
            folder = tmp_path / "sys" / disk / f"{prefix}{number}"
            folder.mkdir(parents=True)
            (folder / "partition").write_text(f"{number}\n", "utf-8")
            (tmp_path / f"sys/class/block/{prefix}{number}").symlink_to(folder)
            (tmp_path / f"dev/{prefix}{number}").touch()
    (tmp_path / "dev/moccasin-mat/root").symlink_to(tmp_path / "dev/mmcblk0p2")
    (tmp_path / "proc/mounts").write_text(f"none / tmpfs rw 0 0\n{tmp_path}/dev/moccasin-mat/root /root ext4 ro 0 0\n")
    told = re.sub(r"(?<=[\s\"(<>#])/?(/(?:proc|sys|run|dev)\b)", rf"{tmp_path}\1", script).replace(
        "/mat-state", "mat-state"
    )
    told = told.replace("state=/dev/", f"state={tmp_path}/dev/").replace("${disk#/sys}", f"${{disk#{tmp_path}/sys}}")
    command = ["sh", "-c", f"mount() {{ echo mount $* >>{tmp_path}/mounted; return 1; }}\n{told}", "card"]
    subprocess.run(command, check=True, cwd=tmp_path, env={**os.environ, "rootmnt": "/root"})
    rules = (tmp_path / "run/udev/rules.d/61-moccasin-mat-card.rules").read_text("utf-8").splitlines()
    for rule, number, name in zip(rules, (1, 2, 3), ("boot", "root", "state"), strict=True):
        assert 'DEVPATH=="/devices/mmc0/block/mmcblk0/*"' in rule
        assert f'ATTR{{partition}}=="{number}", SYMLINK+="moccasin-mat/{name}"' in rule
    assert f" {tmp_path}/dev/mmcblk0p3 " in (tmp_path / "mounted").read_text("utf-8")


def test_service_folders_are_persistent_mounts():
    here = make_place()
    for folder in (here.state, here.settings_folder):
        assert str(folder) in mounts()


def test_the_partition_grows_before_udev_looks_at_it():
    """Else udev loses sight of it while it is checked, it is not mounted, and the table does not start."""
    unit = (UNITS / "moccasin-mat-grow.service").read_text("utf-8")
    assert re.search(r"^Before=systemd-udevd.service systemd-udev-trigger.service ", unit, re.MULTILINE)
    assert "WantedBy=sysinit.target" in unit
    assert ".device" not in unit


def test_files_contain_no_login_hash_or_key():
    for path in (*FILES.rglob("*"), *(IMAGE / "card").iterdir()):
        if path.is_file() and path.suffix != ".pyc":  # which these tests leave there
            assert not re.search(r"\$(1|5|6|y|2[aby])\$|BEGIN [A-Z ]*PRIVATE KEY", path.read_text("utf-8")), path
    assert {"getty@.service", "autovt@.service", "serial-getty@.service", "console-getty.service"} <= set(build.OFF)
    ssh = (FILES / "etc/ssh/sshd_config.d/card.conf").read_text("utf-8")
    assert "PasswordAuthentication no" in ssh
    assert "KbdInteractiveAuthentication no" in ssh
    opens = (UNITS / "ssh.service.d/card.conf").read_text("utf-8")
    assert "ConditionPathExists=/run/moccasin-mat-card/authorized_keys" in opens


def test_hard_linked_file_is_counted_once(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "one").write_bytes(bytes(10_000))
    for name in ("two", "folder/three"):
        (tmp_path / name).hardlink_to(tmp_path / "one")
    assert build._used(tmp_path) == 3 * 4096 + (tmp_path / "folder").stat().st_size


def test_analogue_sound_driver_is_included_and_loaded():
    driver = "/usr/lib/modules/6.1.0/kernel/drivers/staging/vc04_services/bcm2835-audio/snd-bcm2835.ko"
    assert any(fnmatch(driver, path) for path in build.LEFT_OUT)
    assert any(fnmatch(driver, path) for path in build.KEPT)
    rule = (FILES / "etc/udev/rules.d/72-card-sound.rules").read_text("utf-8")
    assert "kmod load snd_bcm2835" in rule
    assert not list(FILES.glob("etc/modules-load.d/*")), "the start of another machine would wait for a Pi's driver"


def test_first_settings_are_valid_and_open_to_network(tmp_path):
    made = first_settings("", make_place(), lit=False)
    web = made.web.model_copy(update={"host": "0.0.0.0", "judges": True})
    (tmp_path / "table.toml").write_text(format_example(made.model_copy(update={"web": web})), "utf-8")
    settings = read_settings(tmp_path / "table.toml")
    assert settings.web.judges
    assert settings.web.host == "0.0.0.0"
    assert 'update={"host": "0.0.0.0", "judges": True}' in build.FIRST_SETTINGS
    compile(build.FIRST_SETTINGS, "first settings", "exec")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_finds_no_fault_with_the_units(tmp_path):
    folder = tmp_path / "units"
    shutil.copytree(UNITS, folder)
    (folder / "moccasin-mat.service").write_text(unit(make_place()), "utf-8")
    for path in folder.glob("*.service"):  # the programs are on the card only
        text = path.read_text("utf-8").replace("/opt/moccasin-mat/bin/python ", "/bin/true ")
        text = text.replace("/opt/moccasin-mat/bin/moccasin-mat ", "/bin/true ")
        path.write_text(text, "utf-8")
    names = sorted(path.name for path in folder.glob("moccasin-mat*.*") if path.is_file())
    command = ["systemd-analyze", "verify", "--man=no", *(str(folder / name) for name in names)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if "moccasin-mat" in line or str(folder) in line]
    assert not ours


def test_enabled_units_and_their_programs_exist():
    own = {name for name in build.ON if name.startswith("moccasin-mat")}
    starts = {path.name for path in UNITS.iterdir() if path.is_file() and "\n[Install]\n" in path.read_text("utf-8")}
    assert {name if "." in name else f"{name}.service" for name in own} == starts
    for path in UNITS.glob("*.service"):
        for named in re.findall(r"/usr/local/lib/moccasin-mat/\S+", path.read_text("utf-8")):
            assert (FILES / named.lstrip("/")).is_file(), named


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="there is no shellcheck: apt install shellcheck")
@pytest.mark.parametrize("script", [path for path in SCRIPTS if path.is_file()], ids=lambda path: path.name)
def test_shellcheck_finds_no_fault(script):
    command = ["shellcheck", "-s", "sh", "-e", "SC1091", str(script)]  # what it sources is in the initramfs
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.stdout


@pytest.mark.skipif(shutil.which("dtc") is None, reason="there is no dtc: apt install device-tree-compiler")
def test_the_overlay_compiles(tmp_path):
    command = ["dtc", "-q", "-@", "-I", "dts", "-O", "dtb", "-o", str(tmp_path / "spi.dtbo"), str(IMAGE / "spi.dts")]
    subprocess.run(command, check=True)


def test_invalid_settings_leave_last_good_ones(card, folders):
    kept = folders.settings / "table.toml"
    assert "there is no table.toml" in card.take_table(folders)
    good = b'\xef\xbb\xbf[table]\r\nname = "Table 7"\r\njournal = "/var/lib/moccasin-mat/table.sqlite"\r\n'
    (folders.boot / "table.toml").write_bytes(good)
    assert card.take_table(folders) == ""
    assert kept.read_bytes() == good
    (folders.boot / "table.toml").write_text("[table]\nname = 7\n[web]\nport = 'eighty'\n", "utf-8")
    fault = card.take_table(folders)
    assert "table.toml:2: [table] name" in fault
    assert "table.toml:4: [web] port" in fault
    assert "the last good one holds" in fault
    assert kept.read_bytes() == good
    assert sorted(path.name for path in folders.settings.iterdir()) == ["table.toml"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[table]\njournal = "/srv/table.sqlite"\n', "nothing can be written in /srv"),
        ('[table]\njournal = "table.sqlite"\n', "nothing can be written in"),
        (
            '[table]\njournal = "/var/lib/moccasin-mat/t.sqlite"\n[board]\nprofile = "hall"\n',
            "there is no profile",
        ),
    ],
)
def test_settings_with_unusable_paths_are_refused(card, folders, text, fault):
    (folders.boot / "table.toml").write_text(text, "utf-8")
    assert fault in card.take_table(folders)
    assert not (folders.settings / "table.toml").exists()


def test_a_wrong_machine_file_leaves_the_last_wifi(card, folders):
    path = folders.boot / "machine.toml"
    path.write_text('name = "hall-2"\n[wifi]\ncountry = "US"\nnetwork = "Mat"\npassword = "eight or more"\n', "utf-8")
    machine, fault = card.take_machine(folders)
    assert (machine.name, fault) == ("hall-2", "")
    path.write_text('name = "Hall 3"\n[wifi]\nnetwork = "Mat"\npassword = 12345678\ncountry = "usa"\n', "utf-8")
    machine, fault = card.take_machine(folders)
    assert machine.name == "hall-2"
    assert machine.wifi.password == "eight or more"
    assert "machine.toml:1: name" in fault
    assert "machine.toml:5: [wifi] country" in fault
    assert "machine.toml:4: [wifi] password" in fault
    assert "12345678" not in fault, "nobody's password stands on the screen"
    assert (folders.settings / "machine.toml").stat().st_mode & 0o077 == 0


def test_the_cards_example_is_a_machine_file(card, folders):
    text = (IMAGE / "card/machine.toml").read_text("utf-8")
    (folders.boot / "machine.toml").write_text(text, "utf-8")
    assert card.take_machine(folders) == (card.Machine(), "")
    if not card.ZONES.is_dir():
        pytest.skip("there are no time zones here: apt install tzdata")
    keys = "name|zone|hub|country|network|password|hidden|own|rotate|output|chip"
    full = re.sub(rf"^# (?=({keys}) =|\[)", "", text, flags=re.MULTILINE)
    (folders.boot / "machine.toml").write_text(full, "utf-8")
    machine, fault = card.take_machine(folders)
    assert fault == ""
    assert machine.wifi.network
    assert (machine.screen.rotate, machine.screen.output, machine.clock.chip) == (90, "HDMI-A-1", "ds3231")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[wifi]\nnetwork = "Mat"\n', "[wifi] country"),
        ("[screen]\nrotate = 45\n", "[screen] rotate"),
        ('[screen]\noutput = "the left one"\n', "[screen] output"),
        ('[clock]\nchip = "ds1307"\n', "[clock] chip"),
    ],
)
def test_invalid_machine_file_is_refused_at_its_key(card, folders, text, place):
    (folders.boot / "machine.toml").write_text(text, "utf-8")
    machine, fault = card.take_machine(folders)
    assert place in fault
    assert machine == card.Machine()


def test_wifi_credentials_cannot_inject_wpa_settings():
    wifi = Wifi(network='a"\n}\nnetwork={', password='"} ssid="\\ x', country="CA")
    lines = wpa_settings(wifi).splitlines()
    assert lines[:2] == ["country=CA", "network={"]
    assert len(lines) == 7
    assert lines[-1] == "}"
    assert bytes.fromhex(lines[2].split("=")[1]).decode() == wifi.network
    assert "key_mgmt=NONE" in wpa_settings(Wifi(network="open", country="US"))
    assert wpa_settings(Wifi()) == ""
    with pytest.raises(ValueError, match="8 to 63"):
        Wifi(network="x", password="line\nbreak")


def test_ssh_accepts_public_keys_with_stable_host_key(card, folders, public_key):
    assert card.take_keys(folders) == ""
    assert not (folders.run / "authorized_keys").exists()
    assert not (folders.state / "ssh").exists()
    public = public_key("mine")
    (folders.boot / "authorized_keys.txt").write_text(f"# mine\r\n{public.strip()}\r\nhello\r\n", "utf-8")
    assert "1 of 2 lines" in card.take_keys(folders)
    assert (folders.run / "authorized_keys").read_text("utf-8") == public
    own = (folders.state / "ssh/ssh_host_ed25519_key").read_bytes()
    used = folders.run / "ssh_host_ed25519_key"
    assert used.read_bytes() == own
    assert used.stat().st_mode & 0o077 == 0
    card.take_keys(folders)
    assert (folders.state / "ssh/ssh_host_ed25519_key").read_bytes() == own
    (folders.boot / "authorized_keys").write_text("hello\n", "utf-8")
    (folders.run / "authorized_keys").unlink()
    assert "1 of 1 lines" in card.take_keys(folders)
    assert not (folders.run / "authorized_keys").exists()


@pytest.fixture
def public_key(tmp_path):
    """Make public keys."""
    program = need(shutil.which("ssh-keygen"), "ssh-keygen (apt install openssh-client)")

    def make(name):
        command = [program, "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", tmp_path / name]
        subprocess.run(command, check=True)
        return (tmp_path / f"{name}.pub").read_text("utf-8")

    return make


def test_key_changes_are_reported_once_and_logged(card, folders, public_key):
    ours, theirs = public_key("ours"), public_key("theirs")

    def start(login="", signer=""):
        for name, text in ((card.KEYS[0], login), (card.SIGNER, signer)):
            (folders.boot / name).unlink(missing_ok=True)
            if text:
                (folders.boot / name).write_text(text, "utf-8")
        for path in folders.run.iterdir():
            path.unlink()
        card.take_keys(folders)
        card.take_signers(folders)
        return card.note_key_changes(folders, "2026-11-23 12:00")

    assert start(ours) == "", "the keys of the first start"
    assert start(ours) == ""
    assert not (folders.run / "key-changes").exists()
    told = start(ours + theirs, theirs)
    assert len(told.splitlines()) == 3
    assert all("(theirs)" in line for line in told.splitlines()[1:])
    assert "log in from now on" in told
    assert "sign updates from now on" in told
    assert start(ours + theirs, theirs) == "", "told once"
    assert len((folders.run / "key-changes").read_text("utf-8").splitlines()) == 2, "and kept for the staff page"
    assert "(ours) may not log in any more" in start(theirs, theirs)
    for _ in range(20):
        start(theirs)
        start(theirs, theirs)
    assert len((folders.run / "key-changes").read_text("utf-8").splitlines()) == card.MAX_KEY_CHANGES


def test_clock_chip_is_registered_on_pin_bus(card, tmp_path):
    devices = tmp_path / "sys/bus/i2c/devices"
    for number, node in (("1", card.I2C_NODE), ("2", "i2c@7e805000")):
        (tmp_path / "firmware" / node).mkdir(parents=True)
        (devices / f"i2c-{number}").mkdir(parents=True)
        (devices / f"i2c-{number}/of_node").symlink_to(tmp_path / "firmware" / node)
    assert card.start_clock_chip("", lambda: False, tmp_path) == ""
    looks = []

    def wait():
        looks.append(1)
        if len(looks) == 2:
            (devices / "1-0068/rtc/rtc0").mkdir(parents=True)
        return len(looks) < 5

    assert card.start_clock_chip("ds3231", wait, tmp_path) == ""
    assert len(looks) == 2
    assert (devices / "i2c-1/new_device").read_text("ascii") == "ds3231 0x68"
    assert not (devices / "i2c-2/new_device").exists()
    shutil.rmtree(devices / "1-0068")
    looks.clear()
    assert "[clock] chip" in card.start_clock_chip("ds3231", lambda: bool(looks.append(1)), tmp_path)


@pytest.fixture
def display(tmp_path, monkeypatch):
    """Return the program of the screen, and the files of a machine with two outputs."""
    for name in ("card0-HDMI-A-1", "card0-HDMI-A-2"):
        (tmp_path / "sys/class/drm" / name).mkdir(parents=True)
        (tmp_path / "sys/class/drm" / name / "status").write_text("connected\n", "ascii")
    (tmp_path / "sys/class/graphics/fbcon").mkdir(parents=True)
    (tmp_path / "etc/moccasin-mat").mkdir(parents=True)
    return program("display")


def statuses(root):
    return [(root / f"sys/class/drm/card0-HDMI-A-{n}/status").read_text("ascii").strip() for n in (1, 2)]


def test_one_output_is_used_and_turned(display, tmp_path):
    (tmp_path / "etc/moccasin-mat/machine.toml").write_text('[screen]\nrotate = 270\noutput = "HDMI-A-1"\n', "utf-8")
    assert display.screen_settings(tmp_path) == (270, "HDMI-A-1")
    assert display.rotate_screen(tmp_path, 270)
    assert not display.rotate_screen(tmp_path, 270), "as before"
    assert (tmp_path / display.OPTIONS).read_text("utf-8") == 'CAGE_OPTIONS="-r -r -r"\n'
    assert (tmp_path / "sys/class/graphics/fbcon/rotate_all").read_text("ascii") == "3"
    assert display.MATRICES[270] in (tmp_path / display.TOUCH_RULE).read_text("utf-8")


def test_all_outputs_but_one_are_switched_off(display, tmp_path, monkeypatch):
    kept = Path.write_text

    def kernel(path, text, *more):  # answers like the kernel: a connector is looked at again
        return kept(path, "connected\n" if text == "detect" else text, *more)

    monkeypatch.setattr(Path, "write_text", kernel)
    display.select_output(tmp_path, "", detect=False)
    assert statuses(tmp_path) == ["connected", "off"], "one of two"
    display.select_output(tmp_path, "HDMI-A-2", detect=True)
    assert statuses(tmp_path) == ["off", "connected"]
    display.select_output(tmp_path, "", detect=False)
    assert statuses(tmp_path) == ["off", "connected"], "under a running page the one that is on stays"
    display.select_output(tmp_path, "HDMI-A-3", detect=True)
    assert statuses(tmp_path) == ["connected", "off"], "a screen that is not there leaves no dark one"


@pytest.mark.parametrize("text", ["", "[screen", "screen = 7\n", "[screen]\nrotate = 45\noutput = 3\n"])
def test_unusable_machine_file_leaves_screen_default(display, tmp_path, text):
    (tmp_path / "etc/moccasin-mat/machine.toml").write_text(text, "utf-8")
    assert display.screen_settings(tmp_path) == (0, "")
    display.rotate_screen(tmp_path, 0)
    assert (tmp_path / display.OPTIONS).read_text("utf-8") == 'CAGE_OPTIONS=""\n'
    assert not (tmp_path / display.TOUCH_RULE).exists()


def test_empty_third_partition_is_reported(card, folders):
    assert "left it empty" in card.tell_emptied(folders)
    (folders.settings / "table.toml").write_text("", "utf-8")
    assert card.tell_emptied(folders) == ""


def test_a_lost_third_partition_leaves_wifi_and_ssh(card, folders, public_key):
    assert card.usable(folders) == (folders, "")
    (folders.settings / "machine.toml").write_text(
        'name = "hall-2"\n[wifi]\ncountry = "US"\nnetwork = "Mat"\n', "utf-8"
    )
    (folders.boot / "authorized_keys").write_text(public_key("mine"), "utf-8")
    folders.state.rmdir()
    spare, lost = card.usable(folders)
    assert "third partition" in lost
    assert card.take_machine(spare)[0].name == "hall-2", "the last good settings, where they can be read"
    (folders.boot / "machine.toml").write_text('name = "hall-3"\n', "utf-8")
    assert card.take_machine(spare)[0].name == "hall-3"
    assert card.take_keys(spare) == ""
    assert (folders.run / "authorized_keys").exists()
    sshd = (FILES / "etc/ssh/sshd_config.d/card.conf").read_text("utf-8")
    assert re.findall(r"^HostKey /run/moccasin-mat-card/(.*)$", sshd, re.MULTILINE) == [card.HOST_KEY]
    assert (folders.run / card.HOST_KEY).read_text("ascii").startswith("-----BEGIN OPENSSH")
    assert "SHA256:" in card.fingerprint(folders)
    assert (spare.settings.stat().st_mode | (folders.run / card.HOST_KEY).stat().st_mode) & 0o077 == 0


def test_unwritable_state_keeps_host_key(card, folders):
    (folders.state / "ssh").mkdir()
    (folders.state / "ssh" / card.HOST_KEY).write_text("the same key\n", "ascii")
    folders.settings.rmdir()
    spare, _ = card.usable(folders)
    card._host_key(spare)
    assert (folders.run / card.HOST_KEY).read_text("ascii") == "the same key\n"


def test_the_settings_do_not_need_the_third_partition():
    unit = (UNITS / "moccasin-mat-card.service").read_text("utf-8")
    assert "RequiresMountsFor" not in unit
    assert "\nAfter=state.mount etc-moccasin\\x2dmat.mount\n" in unit


SOUND = """\
22 1 179:2 / / ro,noatime - ext4 /dev/root ro
30 22 179:3 / /state ro,nosuid - ext4 /dev/mmcblk0p3 rw,errors=remount-ro
31 22 179:3 /table /var/lib/moccasin-mat rw - ext4 /dev/mmcblk0p3 rw
32 22 179:3 /settings /etc/moccasin-mat rw - ext4 /dev/mmcblk0p3 rw
"""


def without_line(number):
    return "\n".join(line for line in SOUND.splitlines() if not line.startswith(number))


@pytest.mark.parametrize(
    ("mountinfo", "free", "code"),
    [
        (SOUND, 10**9, None),
        (SOUND, 5000, "disk_full"),
        (SOUND.replace("rw,errors", "ro,errors"), 10**9, "state_read_only"),
        (without_line("30"), 10**9, "state_lost"),
        (without_line("31"), 10**9, "state_incomplete"),
        (without_line("32"), 10**9, "state_incomplete"),
    ],
)
def test_a_bad_third_partition_is_named(mountinfo, free, code):
    found = program("fault").card_fault(mountinfo, free)
    assert (found and found[0]) == code


def test_service_fault_code_keeps_earlier_reason(tmp_path):
    fault, channel = program("fault"), FaultChannel(tmp_path)

    def code(result, mountinfo=SOUND):
        fault.report(channel, result, mountinfo, 10**9, 0.0)
        return channel.read() and channel.read().code

    assert code("success") is None
    assert code("exit-code") == "service_exit_code"
    channel.write("journal", "it is damaged", "", 0.0)
    assert code("exit-code") == "journal"
    assert code(None) == "journal"
    assert code("watchdog") == "service_watchdog"
    assert "hung" in channel.read().message
    assert code(None, without_line("30")) == "state_lost"


def test_service_fault_restarts_screen_unless_watchdog(tmp_path):
    fault, channel = program("fault"), FaultChannel(tmp_path)
    for result, restarts in (("watchdog", False), ("timeout", True), (None, True)):
        channel.clear()
        fault.report(channel, result, SOUND, 10**9, 0.0)
        assert (tmp_path / SCREEN_RESTART).exists() == restarts, result
        (tmp_path / SCREEN_RESTART).unlink(missing_ok=True)


def test_required_units_report_failure_to_fault_unit():
    told = "OnFailure=moccasin-mat-fault.service"
    for name in ("state.mount.d/fault.conf", "moccasin-mat.service.d/card.conf", "moccasin-mat-card.service"):
        assert told in (UNITS / name).read_text("utf-8").splitlines(), name
    own = (UNITS / "moccasin-mat-fault.service").read_text("utf-8")
    assert "RequiresMountsFor" not in own
    assert "StateDirectory" not in own
    for line in ("User=moccasin-mat", "RuntimeDirectory=moccasin-mat", "RuntimeDirectoryPreserve=yes"):
        assert line in own.splitlines()
        assert line in unit_text().splitlines()


def unit_text():
    return unit(make_place(), exhibit=True)


def test_text_screen_replaces_addresses_with_fault(tmp_path):
    from io import StringIO

    from rich.console import Console

    screen, channel = program("screen"), FaultChannel(tmp_path)
    channel.write("state_lost", "The third partition cannot be read.", "Write a new card.", 0.0)
    drawn = StringIO()
    shown = screen.page("Table 1", [], "", "table.toml: wrong", "it does not run", channel.read())
    Console(file=drawn, width=80, soft_wrap=True).print(shown)
    for part in ("third partition", "Write a new card.", "1970-01-01", "table.toml: wrong", "state_lost"):
        assert part in drawn.getvalue()
    assert "No network" not in drawn.getvalue()


def test_machine_id_of_first_start_is_reused(card, folders, tmp_path):
    now = tmp_path / "machine-id"
    now.write_text("uninitialized\n", "utf-8")
    card.keep_machine_id(folders, now)
    assert not (folders.state / "machine-id").exists()
    for number in "ab":
        now.write_text(f"{number * 32}\n", "utf-8")
        card.keep_machine_id(folders, now)
        assert (folders.state / "machine-id").read_text("utf-8") == "a" * 32 + "\n"


def test_host_signer_keys_alone_sign_updates(card, folders, public_key):
    kept = folders.settings / "update_signers"
    assert card.take_signers(folders) == ""
    assert not kept.exists(), "there is no default key"
    public = public_key("ours")
    (folders.boot / card.SIGNER).write_text(f"# ours\n{public}nonsense\n", "utf-8")
    assert "1 lines" in card.take_signers(folders)
    assert kept.read_text("utf-8") == f"host {public}"
    (folders.boot / card.SIGNER).unlink()
    assert card.take_signers(folders) == ""
    assert not kept.exists()


def test_stick_unit_needs_signer_key_and_private_mounts():
    unit = (UNITS / "moccasin-mat-stick@.service").read_text("utf-8")
    assert "ConditionPathExists=/etc/moccasin-mat/update_signers" in unit
    assert "PrivateMounts=yes" in unit
    assert "ExecStartPre" not in unit, "what it mounts the next command does not see"
    rule = (FILES / "etc/udev/rules.d/71-card-stick.rules").read_text("utf-8")
    assert 'ENV{ID_BUS}=="usb"' in rule
    assert "moccasin-mat-stick@%k.service" in rule
    assert str(PROGRAMS_FOLDER) in mounts()
    service = (UNITS / "moccasin-mat.service.d/card.conf").read_text("utf-8")
    assert f"Environment=PYTHONPATH={PROGRAMS_FOLDER}/current" in service


@pytest.mark.parametrize("status", [0, 2])
def test_stick_is_mounted_restricted_and_searched_for_update(tmp_path, status):
    program, stick = tmp_path / "moccasin-mat", tmp_path / "stick"
    script = (PROGRAMS / "stick.sh").read_text("utf-8").replace("/opt/moccasin-mat/bin/moccasin-mat", str(program))
    program.write_text(f'#!/bin/sh\necho "$@"\nexit {status}\n')
    program.chmod(0o755)
    command = ["sh", "-c", f"mount() {{ echo $*; }}\n{script}", "sh", "sda1"]
    environment = {**os.environ, "RUNTIME_DIRECTORY": str(stick)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.splitlines() == [f"-o ro,nosuid,nodev,noexec /dev/sda1 {stick}", f"service update {stick}"]
    assert done.returncode == status


def test_page_settings_last_until_boot_partition_changes(card, folders):
    boot, kept = folders.boot / "table.toml", folders.settings / "table.toml"
    text = '[table]\nname = "Our hall"\njournal = "/var/lib/moccasin-mat/table.sqlite"\n'
    boot.write_text(text, "utf-8")
    assert card.take_table(folders) == ""
    by_page = text.replace("Our", "Their")
    kept.write_text(by_page, "utf-8")
    assert card.take_table(folders) == ""
    assert kept.read_text("utf-8") == by_page
    boot.write_text(text.replace("Our", "Another"), "utf-8")
    assert card.take_table(folders) == ""
    assert kept.read_text("utf-8") == boot.read_text("utf-8")
    kept.unlink()
    assert card.take_table(folders) == ""
    assert kept.exists(), "settings that were lost come from the boot partition again"


def test_card_without_wifi_opens_own_network_once(card, folders):
    (folders.boot / "machine.toml").write_text('name = "hall-2"\n', "utf-8")
    first = card.open_first_network(folders, card.take_machine(folders)[0])
    assert first.wifi.own
    assert first.name == "hall-2"
    again = card.open_first_network(folders, card.take_machine(folders)[0])
    assert again == first
    assert (folders.settings / "machine.toml").stat().st_mode & 0o077 == 0
    for wifi in ({"own": False}, {"network": "Hall", "country": "US"}):
        machine = card.Machine.model_validate({"wifi": wifi})
        assert card.open_first_network(folders, machine) == machine


def test_own_network_alone_redirects_phones_to_page(card, folders):
    own = {"own": True, "network": "Mat", "password": "correct horse"}
    for wifi, hub, files in (
        (own, None, {"wpa_supplicant.conf", "own.network", "dnsmasq.conf", "portal"}),
        (own, True, {"wpa_supplicant.conf", "own.network", "dnsmasq.conf", "portal", "hub"}),
        ({"network": "Hall", "country": "US"}, False, {"wpa_supplicant.conf"}),
        ({"own": False}, True, {"hub"}),
    ):
        for path in folders.run.iterdir():
            path.unlink()
        card.write_machine_files(folders, card.Machine.model_validate({"hub": hub, "wifi": wifi}), os.getgid())
        assert {path.name for path in folders.run.iterdir()} == files | {"machine.json"}
        if "portal" in files:
            where = (folders.run / "portal").read_text("utf-8").strip()
            assert where == ("http://10.42.0.1:8090/" if hub else "http://10.42.0.1:8080/judge/start")
            for name in files - {"wpa_supplicant.conf"}:
                assert "correct horse" not in (folders.run / name).read_text("utf-8")
            for name in ("wpa_supplicant.conf", "machine.json"):
                assert (folders.run / name).stat().st_mode & 0o007 == 0


def test_hub_and_network_units_wait_for_card_files():
    run = str(machine_settings.CARD_RUN)
    conditions = {
        "own-network.service": f"{run}/dnsmasq.conf",
        "portal.socket": f"{run}/portal",
        "hub.service": f"{run}/hub",
    }
    for name, path in conditions.items():
        text = (UNITS / f"moccasin-mat-{name}").read_text("utf-8")
        assert f"\nConditionPathExists={path}\n" in text
        assert "\nAfter=moccasin-mat-card.service" in text
    assert (UNITS / HUB_UNIT).is_file(), "an update starts it again by this name"
    portal = (UNITS / "moccasin-mat-portal.socket").read_text("utf-8")
    assert f"\nListenStream={own_network.OWN_ADDRESS}:80\n" in portal
    assert "wpa_supplicant.service" in build.OFF


@pytest.mark.parametrize("asked", ["GET /generate_204 HTTP/1.1", "GET /hotspot-detect.html HTTP/1.0", "nonsense", ""])
def test_captive_portal_redirects_phone_to_page(tmp_path, asked):
    (tmp_path / "portal").write_text("http://10.42.0.1:8080/judge/start\n", "utf-8")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        head = f"{asked}\r\nHost: connectivitycheck.example\r\n\r\n" if asked else ""
        ours.sendall(head.encode())
        ours.shutdown(socket.SHUT_WR)
        command = ["sh", str(PROGRAMS / "portal.sh"), str(tmp_path / "portal")]
        subprocess.run(command, stdin=theirs, stdout=theirs, check=True, timeout=20)
        theirs.close()
        answer = ours.makefile("rb").read().decode()
    assert answer.startswith("HTTP/1.1 302 ")
    assert "\r\nLocation: http://10.42.0.1:8080/judge/start\r\n" in answer
    assert answer.endswith("\r\n\r\n")


def test_first_network_screen_fits_smallest_console():
    from io import StringIO

    from rich.console import Console

    screen = program("screen")
    head = "sign in at /judge as Head judge with the PIN 123456: write it down, it is shown until the next start"
    for hub, at in ((None, "8080/judge/start"), (False, "8080"), (True, "8090")):
        machine = screen.MachineState(hub, True, wifi_files.new_network_name(), "", "abcd-efgh-jkmn")
        drawn = StringIO()
        shown = screen.page("Table 1", ["http://10.42.0.1:8080"], head, "", "ready", None, machine)
        Console(file=drawn, width=80, soft_wrap=True).print(shown)
        lines = drawn.getvalue().splitlines()
        assert sum(-(-max(1, len(line)) // 80) for line in lines) <= 25
        for part in (machine.network, "abcd-efgh-jkmn", f"Page: http://10.42.0.1:{at}"):
            assert any(part in line for line in lines)
        assert (":8443/director" in drawn.getvalue()) == bool(hub)


def test_under_a_browser_a_pin_must_be_wanted(tmp_path):
    screen = program("screen")
    settings = load_with(tmp_path, "")
    assert screen.head_judge(settings, wanted=False, covered=True) == ""
    assert "/staff" in screen.head_judge(settings, wanted=True, covered=True)


def test_kiosk_stays_on_page_without_showing_pin(card, folders, monkeypatch):
    dropin = (UNITS / "moccasin-mat-kiosk.service.d/card.conf").read_text("utf-8")
    for name in card.NEW_HEAD:
        assert f"\nConditionPathExists=!/boot/firmware/{name}\n" in dropin
    monkeypatch.setattr(card, "shown_port", lambda _: 8080)
    for wrong in ("port = 80", "enabled = false"):
        (folders.boot / "table.toml").write_text(f"[web]\n{wrong}\n", "utf-8")
        assert "set enabled = true and port = 8080 under [web]" in card.take_table(folders)


def test_a_head_judges_pin_is_made_once(tmp_path):
    screen = program("screen")
    settings = load_with(tmp_path, "judges = true")
    assert re.search(r"as Head judge with the PIN \S+:", screen.head_judge(settings, wanted=False))
    assert screen.head_judge(settings, wanted=False) == ""
    assert "PIN" in screen.head_judge(settings, wanted=True)
    assert screen.head_judge(load_with(tmp_path, "judges = false"), wanted=True) == ""


def load_with(folder, web):
    (folder / "table.toml").write_text(f"[web]\n{web}\n", "utf-8")
    return read_settings(folder / "table.toml")
