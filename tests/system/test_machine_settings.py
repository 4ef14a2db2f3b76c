"""The card's Wi-Fi: what wpa_supplicant and dnsmasq themselves take, and whose eyes the password is for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import msgspec
import pytest
from needed import need
from pydantic import ValidationError

from pi_controller.card import wifi_files
from pi_controller.config import machine_report, own_network
from pi_controller.config import machine_settings as ms
from pi_controller.hub.settings import HTTPS_PORT, HubSettings

if TYPE_CHECKING:
    from pathlib import Path

SBIN = "/usr/sbin:/usr/local/sbin:/sbin"
WPA = shutil.which("wpa_supplicant", path=SBIN)
DNSMASQ = shutil.which("dnsmasq", path=SBIN)
OWN = {"own": True, "network": 'Mat "7"', "password": "correct horse", "country": "CA"}


def complaints(folder: Path, settings: str) -> str:
    """Return what wpa_supplicant says about lines of its settings; it ends at a device that is not there."""
    path = folder / "wpa.conf"
    path.write_text(settings, "utf-8")
    command = [need(WPA, "apt install wpasupplicant"), "-c", str(path), "-D", "wired", "-i", "no-such-device", "-t"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    said = done.stdout + done.stderr
    assert "initialized wpa_supplicant" in said
    return "\n".join(
        line for line in said.splitlines() if re.search(r"Line \d+|[Ii]nvalid|[Ff]ailed to (read|parse)", line)
    )


@pytest.mark.parametrize(
    "wifi",
    [
        OWN,
        {key: value for key, value in OWN.items() if key != "country"},
        {"network": "Hall", "country": "US"},
        {"network": "Hall", "password": "a" * 64, "country": "US", "hidden": True},
        {"network": "Hall", "password": 'quo"te \\ here', "country": "US"},
    ],
)
def test_wpa_supplicant_takes_the_settings(tmp_path, wifi):
    assert complaints(tmp_path, wifi_files.wpa_settings(ms.Wifi(**wifi))) == ""


def test_wpa_supplicant_would_complain(tmp_path):
    wrong = wifi_files.wpa_settings(ms.Wifi(**OWN)).replace("pairwise", "pairwize")
    assert "pairwize" in complaints(tmp_path, wrong)


def test_own_network_is_a_wpa2_access_point():
    lines = wifi_files.wpa_settings(ms.Wifi(**OWN)).split()
    assert {"mode=2", "key_mgmt=WPA-PSK", "proto=RSN", "pairwise=CCMP", "country=CA"} <= set(lines)
    assert "mode=2" not in wifi_files.wpa_settings(ms.Wifi(network="Hall", country="US"))


@pytest.mark.parametrize("missing", ["network", "password"])
def test_an_own_network_needs_name_and_password(missing):
    with pytest.raises(ValidationError, match=r"SettingsIssue|issues"):
        ms.Wifi(**{key: value for key, value in OWN.items() if key != missing})
    assert ms.Wifi(own=True, network="Mat", password="correct horse").country == ""


def test_dnsmasq_takes_the_settings(tmp_path):
    path = tmp_path / "dnsmasq.conf"
    for text, good in (
        (wifi_files.dnsmasq_settings(), True),
        (wifi_files.dnsmasq_settings().replace("12h", "12parsecs"), False),
    ):
        path.write_text(text, "utf-8")
        command = [need(DNSMASQ, "apt install dnsmasq-base"), "--test", f"--conf-file={path}"]
        assert (subprocess.run(command, capture_output=True, check=False).returncode == 0) == good


def test_passwords_are_long_and_differ():
    made = {wifi_files.new_password() for _ in range(50)}
    assert len(made) == 50
    assert all(re.fullmatch(r"([a-hj-km-np-z2-9]{4}-){2}[a-hj-km-np-z2-9]{4}", one) for one in made)


def test_wifi_code_escapes_name_and_password():
    text = own_network.wifi_code('Mat; "7"', "pass;word")
    assert text.startswith("WIFI:")
    assert r"S:Mat\; " in text
    assert r"P:pass\;word" in text


def test_machine_state_is_private_and_omits_password(tmp_path):
    machine = ms.Machine.model_validate({"hub": True, "wifi": OWN})
    machine_report.write_state(tmp_path, machine_report.describe_machine(machine), os.getgid())
    assert (tmp_path / machine_report.STATE).stat().st_mode & 0o777 == 0o640
    state = machine_report.read_state(tmp_path)
    assert state is not None
    assert (state.hub, state.own, state.network, state.password) == (True, True, OWN["network"], OWN["password"])
    assert str(OWN["password"]) not in repr(state)
    joined = machine_report.describe_machine(ms.Machine.model_validate({"wifi": OWN | {"own": False}}))
    assert joined.password == "", "the password of somebody else's network stays with root"
    (tmp_path / machine_report.STATE).write_bytes(msgspec.json.encode([1]))
    assert machine_report.read_state(tmp_path) is None


def test_a_wifi_device_is_found(tmp_path):
    assert not wifi_files.has_wifi(tmp_path)
    (tmp_path / "sys/class/net/eth0").mkdir(parents=True)
    assert not wifi_files.has_wifi(tmp_path)
    (tmp_path / "sys/class/net/wlan0/wireless").mkdir(parents=True)
    assert wifi_files.has_wifi(tmp_path)


def test_the_ports_are_those_of_the_hub():
    page = HubSettings().page
    assert (page.port, page.https) == (ms.HUB_PORT, ms.HTTPS_PORT)
    assert ms.HTTPS_PORT == HTTPS_PORT


def test_countries_have_codes_and_names(tmp_path):
    (tmp_path / ms.COUNTRIES).write_text("# code\tname\nUS\tUnited States\nCA\tCanada\n", "utf-8")
    assert list(ms.list_countries(tmp_path).items()) == [("CA", "Canada"), ("US", "United States")]
    assert ms.list_countries(tmp_path / "none") == {}
