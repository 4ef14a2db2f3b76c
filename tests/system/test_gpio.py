"""The header's chip goes by its label, whatever its number."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from pi_controller.board import gpio
from pi_controller.board.interfaces import ButtonsError

PI5_OLD = {0: "gpio-brcmstb@107d508500", 4: "pinctrl-rp1", 10: "gpio-brcmstb@107d517c00"}
PI5_NEW = {0: "pinctrl-rp1", 10: "gpio-brcmstb@107d508500"}
PI4 = {0: "pinctrl-bcm2711", 1: "raspberrypi-exp-gpio"}
PI3 = {0: "pinctrl-bcm2835", 1: "brcmvirt-gpio"}


@pytest.fixture
def dev(tmp_path):
    def make(chips):
        for number in chips:
            (tmp_path / f"gpiochip{number}").touch()
        (tmp_path / "gpiochipX").touch()
        return tmp_path

    return make


@pytest.mark.parametrize(
    ("chips", "number"), [(PI5_OLD, 4), (PI5_NEW, 0), (PI4, 0), (PI3, 0), ({0: "INT33FF:00"}, None)]
)
def test_the_chip_is_found_by_its_label(dev, chips, number):
    assert gpio.header_chip(chips.__getitem__, ButtonsError, dev(chips)) == number


def test_unopenable_chip_is_skipped(dev):
    def label(number):
        if number == 0:
            raise OSError("no permission")
        return PI5_OLD[number]

    assert gpio.header_chip(label, ButtonsError, dev(PI5_OLD)) == 4


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every chip")
def test_closed_chip_error_names_its_group(dev):
    check_closed_chip(dev)


@pytest.mark.skipif(os.geteuid() != 0, reason="done by the user himself")
def test_closed_chip_error_names_its_group_as_root(dev, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path.stat().st_mode & 0o077 != 0)
    check_closed_chip(dev)


def check_closed_chip(dev):
    def label(number):
        raise OSError("can not open gpiochip")

    folder = dev(PI4)
    for number in PI4:
        (folder / f"gpiochip{number}").chmod(0o000)
    with pytest.raises(ButtonsError, match="this user may not open gpiochip0") as caught:
        gpio.header_chip(label, ButtonsError, folder)
    group = (folder / "gpiochip0").group()
    assert f"sudo usermod -aG {group} $USER" in caught.value.hint


REAL_IMPORT = """
import os, sys
from pi_controller.board import gpio
before = os.getcwd()
module = gpio.import_lgpio()
assert module is gpio.import_lgpio() is sys.modules["lgpio"]
assert os.getcwd() == before
print(os.environ.get("LG_WD"), hasattr(module, "gpiochip_open"))
"""


@pytest.mark.parametrize("folder", ["own", "closed", "chosen"])
def test_the_real_library_leaves_no_pipe_behind(tmp_path, folder):
    pytest.importorskip("lgpio", reason="pip install lgpio")
    place = tmp_path / folder
    place.mkdir()
    (tmp_path / "else").mkdir()
    place.chmod(0o500 if folder == "closed" else 0o700)
    environ = os.environ | ({"LG_WD": str(tmp_path / "else")} if folder == "chosen" else {})
    done = subprocess.run(
        [sys.executable, "-c", REAL_IMPORT], cwd=place, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [environ.get("LG_WD", "None"), "True"]
    assert [*place.iterdir(), *(tmp_path / "else").iterdir()] == []


class Lgpio(SimpleNamespace):
    """What is used of lgpio: chips by number; every handle that was opened is closed."""

    error = type("error", (Exception,), {})

    def __init__(self, chips):
        super().__init__()
        self.chips, self.open = chips, []

    def gpiochip_open(self, number):
        if self.chips[number] is None:
            raise self.error("can not open gpiochip")
        self.open.append(number)
        return number

    def gpiochip_close(self, handle):
        self.open.remove(handle)

    def gpio_get_chip_info(self, handle):
        return [0, 54, f"gpiochip{handle}", self.chips[handle]]


@pytest.fixture
def factory(monkeypatch):
    """Let gpiozero's factory only tell which chip it was given."""
    told = SimpleNamespace(LGPIOFactory=lambda chip: SimpleNamespace(chip=chip))
    monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", told)
    monkeypatch.delenv("GPIOZERO_PIN_FACTORY", raising=False)


@pytest.mark.usefixtures("factory")
def test_gpiozero_gets_the_header_chip(dev, monkeypatch):
    lgpio = Lgpio(PI5_OLD | {0: None})
    monkeypatch.setitem(sys.modules, "lgpio", lgpio)
    assert gpio.header_factory(ButtonsError, dev(PI5_OLD)).chip == 4
    assert lgpio.open == []


@pytest.mark.usefixtures("factory")
@pytest.mark.parametrize("why", ["chosen", "no lgpio", "no chip", "no header"])
def test_else_the_choice_is_gpiozeros(dev, monkeypatch, why):
    chips = {} if why == "no chip" else {0: "INT33FF:00"} if why == "no header" else PI4
    monkeypatch.setitem(sys.modules, "lgpio", None if why == "no lgpio" else Lgpio(chips))
    if why == "chosen":
        monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "rpigpio")
    assert gpio.header_factory(ButtonsError, dev(chips)) is None


def test_the_model(pi, tmp_path):
    assert gpio.read_pi_model(pi("Raspberry Pi Zero 2 W Rev 1.0")) == "Raspberry Pi Zero 2 W Rev 1.0"
    assert gpio.read_pi_model(tmp_path) == ""
