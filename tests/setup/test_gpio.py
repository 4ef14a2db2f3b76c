"""The header's chip goes by its label, whatever its number."""

import sys
from types import SimpleNamespace

import pytest

from pi_controller.drivers import gpio

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
    assert gpio.header_chip(chips.__getitem__, dev(chips)) == number


def test_a_chip_that_cannot_be_opened_is_passed_over(dev):
    def label(number):
        if number == 0:
            raise OSError("no permission")
        return PI5_OLD[number]

    assert gpio.header_chip(label, dev(PI5_OLD)) == 4


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
def test_gpiozero_is_told_the_chip(dev, monkeypatch):
    lgpio = Lgpio(PI5_OLD | {0: None})
    monkeypatch.setitem(sys.modules, "lgpio", lgpio)
    assert gpio.header_factory(dev(PI5_OLD)).chip == 4
    assert lgpio.open == []


@pytest.mark.usefixtures("factory")
@pytest.mark.parametrize("why", ["chosen", "no lgpio", "no chip", "no header"])
def test_else_the_choice_is_gpiozeros(dev, monkeypatch, why):
    chips = {} if why == "no chip" else {0: "INT33FF:00"} if why == "no header" else PI4
    monkeypatch.setitem(sys.modules, "lgpio", None if why == "no lgpio" else Lgpio(chips))
    if why == "chosen":
        monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "rpigpio")
    assert gpio.header_factory(dev(chips)) is None


def test_the_model(pi, tmp_path):
    assert gpio.model(pi("Raspberry Pi Zero 2 W Rev 1.0")) == "Raspberry Pi Zero 2 W Rev 1.0"
    assert gpio.model(tmp_path) == ""
