"""The SD card's image, as far as it can be checked without building it: files, units, packages, its settings."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import build
import pytest

from pi_controller.setup.place import PROGRAMS as PROGRAMS_FOLDER
from pi_controller.setup.place import place
from pi_controller.setup.plan import first_settings
from pi_controller.setup.unit import unit
from pi_controller.table.settings import load
from pi_controller.table.settings_example import example

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


def test_what_is_written_is_on_the_last_partition_or_in_memory():
    for where, (what, _, kind, options, _, _) in mounts().items():
        if what.startswith("LABEL=") and where != "/state":
            assert "ro" in options.split(","), where
        elif kind != "tmpfs" and where != "/state":
            assert what.startswith("/state/"), where
            assert options.split(",") == ["bind", "nofail"], where
    state = mounts()["/state"][3].split(",")
    assert {"noatime", "nosuid", "nodev", "noexec", "errors=remount-ro", "nofail", "x-systemd.growfs"} <= set(state)


def test_the_folders_of_the_service_are_kept():
    here = place(system=True)
    for folder in (here.state, here.settings_folder):
        assert str(folder) in mounts()


def test_the_partition_grows_before_udev_looks_at_it():
    """Else udev loses sight of it while it is checked, it is not mounted, and the table does not start."""
    unit = (UNITS / "moccasin-mat-grow.service").read_text("utf-8")
    assert re.search(r"^Before=systemd-udevd.service systemd-udev-trigger.service ", unit, re.MULTILINE)
    assert "WantedBy=sysinit.target" in unit
    assert ".device" not in unit


def test_no_login_and_no_hash_stands_in_any_file():
    for path in (*FILES.rglob("*"), *(IMAGE / "card").iterdir()):
        if path.is_file() and path.suffix != ".pyc":  # which these tests leave there
            assert not re.search(r"\$(1|5|6|y|2[aby])\$|BEGIN [A-Z ]*PRIVATE KEY", path.read_text("utf-8")), path
    assert {"getty@.service", "autovt@.service", "serial-getty@.service", "console-getty.service"} <= set(build.OFF)
    ssh = (FILES / "etc/ssh/sshd_config.d/card.conf").read_text("utf-8")
    assert "PasswordAuthentication no" in ssh
    assert "KbdInteractiveAuthentication no" in ssh
    opens = (UNITS / "ssh.service.d/card.conf").read_text("utf-8")
    assert "ConditionPathExists=/run/moccasin-mat-card/authorized_keys" in opens


def test_a_file_with_several_names_takes_its_room_once(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "one").write_bytes(bytes(10_000))
    for name in ("two", "folder/three"):
        (tmp_path / name).hardlink_to(tmp_path / "one")
    assert build._used(tmp_path) == 3 * 4096 + (tmp_path / "folder").stat().st_size


def test_the_packages_have_what_the_card_runs():
    packages = {name for names in build.PACKAGES.values() for name in names}
    assert {"raspi-firmware", "linux-image-arm64", "firmware-brcm80211"} <= packages
    assert {"systemd", "udev", "python3", "openssh-server", "wpasupplicant", "avahi-daemon"} <= packages
    assert "tzdata" in packages, "card.py looks for time zones"
    assert "fdisk" in packages, "grow.sh calls sfdisk"


def test_the_first_settings_are_good_and_open_to_the_hall(tmp_path):
    made = first_settings("", place(system=True), lit=False)
    web = made.web.model_copy(update={"host": "0.0.0.0", "judges": True})
    (tmp_path / "table.toml").write_text(example(made.model_copy(update={"web": web})), "utf-8")
    settings = load(tmp_path / "table.toml")
    assert settings.web.judges
    assert settings.web.host == "0.0.0.0"
    assert 'update={"host": "0.0.0.0", "judges": True}' in build.FIRST_SETTINGS
    compile(build.FIRST_SETTINGS, "first settings", "exec")


def test_the_lines_of_config_txt_are_setups_own():
    lines = build.boot.by_model(build.MODELS)
    assert lines[0] == "[pi3]"
    assert lines[-1] == "[all]"
    assert "core_freq=250" in lines[: lines.index("[pi4]")]
    assert "core_freq=500" in lines[lines.index("[pi4]") :]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_finds_no_fault_with_the_units(tmp_path):
    folder = tmp_path / "units"
    shutil.copytree(UNITS, folder)
    (folder / "moccasin-mat.service").write_text(unit(place(system=True)), "utf-8")
    for path in folder.glob("*.service"):  # the programs are on the card only
        text = path.read_text("utf-8").replace("/opt/moccasin-mat/bin/python ", "/bin/true ")
        text = text.replace("/opt/moccasin-mat/bin/moccasin-mat ", "/bin/true ")
        path.write_text(text, "utf-8")
    names = sorted(path.name for path in folder.glob("moccasin-mat*.service"))
    command = ["systemd-analyze", "verify", "--man=no", *(str(folder / name) for name in names)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if "moccasin-mat" in line or str(folder) in line]
    assert not ours


def test_what_starts_is_there():
    own = {name for name in build.ON if name.startswith("moccasin-mat")}
    assert {f"{name}.service" for name in own} == {
        path.name for path in UNITS.glob("*.service") if "@" not in path.name
    }
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


def test_good_settings_are_taken_and_kept_when_the_next_are_wrong(card, folders):
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
def test_settings_that_no_table_could_run_with_here_are_not_taken(card, folders, text, fault):
    (folders.boot / "table.toml").write_text(text, "utf-8")
    assert fault in card.take_table(folders)
    assert not (folders.settings / "table.toml").exists()


def test_a_wrong_machine_file_leaves_the_last_wifi(card, folders):
    path = folders.boot / "machine.toml"
    path.write_text('name = "hall-2"\n[wifi]\nnetwork = "Mat"\npassword = "eight or more"\n', "utf-8")
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
    full = re.sub(r"^# (?=(name|zone|country|network|password|hidden) =|\[)", "", text, flags=re.MULTILINE)
    (folders.boot / "machine.toml").write_text(full, "utf-8")
    machine, fault = card.take_machine(folders)
    assert fault == ""
    assert machine.wifi.network


def test_a_wifis_name_and_password_are_no_settings_of_wpa_supplicant(card):
    wifi = card.Wifi(network='a"\n}\nnetwork={', password='"} ssid="\\ x', country="CA")
    lines = card.wpa_settings(wifi).splitlines()
    assert lines[:2] == ["country=CA", "network={"]
    assert len(lines) == 7
    assert lines[-1] == "}"
    assert bytes.fromhex(lines[2].split("=")[1]).decode() == wifi.network
    assert "key_mgmt=NONE" in card.wpa_settings(card.Wifi(network="open"))
    assert card.wpa_settings(card.Wifi()) == ""
    with pytest.raises(ValueError, match="8 to 63"):
        card.Wifi(network="x", password="line\nbreak")


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen")
def test_only_public_keys_open_ssh_and_the_machine_makes_its_own_key_once(card, folders, tmp_path):
    assert card.take_keys(folders) == ""
    assert not (folders.run / "authorized_keys").exists()
    assert not (folders.state / "ssh").exists()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    public = (tmp_path / "key.pub").read_text("utf-8")
    (folders.boot / "authorized_keys.txt").write_text(f"# mine\r\n{public.strip()}\r\nhello\r\n", "utf-8")
    assert "1 of 2 lines" in card.take_keys(folders)
    assert (folders.run / "authorized_keys").read_text("utf-8") == public
    own = (folders.state / "ssh/ssh_host_ed25519_key").read_bytes()
    card.take_keys(folders)
    assert (folders.state / "ssh/ssh_host_ed25519_key").read_bytes() == own
    (folders.boot / "authorized_keys").write_text("hello\n", "utf-8")
    (folders.run / "authorized_keys").unlink()
    assert "1 of 1 lines" in card.take_keys(folders)
    assert not (folders.run / "authorized_keys").exists()


def test_the_machines_id_is_kept_from_the_first_start(card, folders, tmp_path):
    now = tmp_path / "machine-id"
    now.write_text("uninitialized\n", "utf-8")
    card.keep_machine_id(folders, now)
    assert not (folders.state / "machine-id").exists()
    for number in "ab":
        now.write_text(f"{number * 32}\n", "utf-8")
        card.keep_machine_id(folders, now)
        assert (folders.state / "machine-id").read_text("utf-8") == "a" * 32 + "\n"


def test_the_screen_fits_the_smallest_console():
    from io import StringIO

    from rich.console import Console

    screen = program("screen")
    urls = ["http://192.168.178.123:8080", "http://moccasin-mat.local:8080"]
    head = "sign in at /judge as Head judge with the PIN 123456: write it down, it is shown until the next start"
    drawn = StringIO()
    Console(file=drawn, width=80, soft_wrap=True).print(screen.page("Table 1", urls, head, "", "ready"))
    rows = sum(-(-max(1, len(line)) // 80) for line in drawn.getvalue().splitlines())
    assert rows <= 25
    assert urls[1] in drawn.getvalue()


def test_only_keys_of_the_host_sign_updates(card, folders):
    kept = folders.settings / "update_signers"
    assert card.take_signers(folders) == ""
    assert not kept.exists(), "there is no default key"
    key = folders.boot / "made"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    public = key.with_suffix(".pub").read_text("utf-8")
    (folders.boot / card.SIGNER).write_text(f"# ours\n{public}nonsense\n", "utf-8")
    assert "1 lines" in card.take_signers(folders)
    assert kept.read_text("utf-8") == f"host {public}"
    (folders.boot / card.SIGNER).unlink()
    assert card.take_signers(folders) == ""
    assert not kept.exists()


def test_a_stick_is_looked_at_where_the_host_has_a_key_and_seen_by_nobody_else():
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


def test_a_stick_with_an_order_is_for_a_reset_alone(tmp_path):
    from pi_controller.setup.reset_order import FILE

    script = (PROGRAMS / "stick.sh").read_text("utf-8").replace("exec /opt/moccasin-mat/bin/", "exec echo ")
    told = f"mount() {{ echo $*; }}\n{script}"

    def runs():
        command, environment = ["sh", "-c", told, "sh", "sda1"], {**os.environ, "RUNTIME_DIRECTORY": str(tmp_path)}
        return subprocess.check_output(command, text=True, env=environment).splitlines()

    mounted = f"-o ro,nosuid,nodev,noexec /dev/sda1 {tmp_path}"
    assert runs() == [mounted, f"moccasin-mat update {tmp_path}"]
    (tmp_path / FILE).touch()
    assert runs() == [mounted, f"moccasin-mat reset --order {tmp_path}"]


def test_settings_that_a_reset_set_aside_are_not_taken_until_they_change(card, folders):
    from pi_controller.setup.changes import digest

    text = '[table]\nname = "Our hall"\njournal = "/var/lib/moccasin-mat/table.sqlite"\n'
    (folders.boot / "table.toml").write_text(text, "utf-8")
    (folders.settings / "reset").mkdir()
    aside = folders.settings / "reset/set-aside"
    aside.write_text(f"{digest(text)}\n", "utf-8")
    for _ in range(2):
        assert "set aside by a reset" in card.take_table(folders)
        assert not (folders.settings / "table.toml").exists()
    (folders.boot / "table.toml").write_text(text.replace("Our", "Their"), "utf-8")
    assert card.take_table(folders) == ""
    (folders.boot / "table.toml").write_text(text, "utf-8")
    assert card.take_table(folders) == ""
    assert (folders.settings / "table.toml").read_text("utf-8") == text


def test_the_kiosk_card_has_its_packages_and_sets_up_its_screen():
    from pi_controller.setup.kiosk import PROGRAMS

    assert set(PROGRAMS) <= set(build.KIOSK)
    assert not set(PROGRAMS) & {name for names in build.PACKAGES.values() for name in names}
    assert build.setup_command(kiosk=True) == f"{build.setup_command(kiosk=False)} --kiosk"
    assert build.parser().parse_args(["card.img", "--kiosk"]).kiosk


def test_under_a_browser_a_pin_must_be_wanted(tmp_path):
    screen = program("screen")
    settings = load_with(tmp_path, "")
    assert screen.head_judge(settings, wanted=False, covered=True) == ""
    assert "/staff" in screen.head_judge(settings, wanted=True, covered=True)


def test_the_screen_stays_on_the_page_and_off_a_pin(card, folders, monkeypatch):
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
    return load(folder / "table.toml")


def test_apts_own_sources_have_the_pis_firmware_and_stand_in_no_file():
    try:
        lines = build.own_sources("bookworm").splitlines()
    except (OSError, SystemExit, subprocess.CalledProcessError):
        pytest.skip("this machine's apt knows no Debian")
    assert lines
    assert all(line.startswith("deb ") and line.endswith(" main non-free-firmware") for line in lines)
