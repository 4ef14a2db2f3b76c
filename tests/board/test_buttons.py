"""One contract for the buttons: gpiozero on its own mock pins, and the ones a program presses."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from gpiozero.pins.mock import MockFactory, MockPin

from pi_controller.board.buttons import MIN_PRESS_S, NAMES, GpioButtons, MockButtons
from pi_controller.board.interfaces import ButtonsError
from pi_controller.config import Settings
from pi_controller.pinmap import pinmap
from pi_controller.testing import ButtonsContract
from pi_controller.tools import pin_checks

PINS = {**pinmap().pi.buttons, "ready_a": 26, "ready_b": 27}
"""Those of the drawn mat, and a host's two ready buttons on free pins."""


class GpioRig:
    """Contacts played on gpiozero's mock pins; the clock stands at the edge that is being played."""

    def __init__(self, factory=None):
        self.now = 0.0
        self.factory = factory or MockFactory()
        self.buttons = GpioButtons(PINS, lambda: self.now, factory=self.factory)
        self.plan = []

    def contact(self, name, t, closed):
        self.plan.append((t, name, closed))

    def run_to(self, t, tick=0.01):
        steps = [(self.now + n * tick, None, None) for n in range(1, round((t - self.now) / tick) + 1)]
        for at, name, closed in sorted(self.plan + steps, key=lambda step: step[0]):
            self.now = at
            if name is None:
                self.buttons.tick(at)
            else:
                pin = self.factory.pin(PINS[name])
                pin.drive_low() if closed else pin.drive_high()
        self.plan = []

    def close(self):
        self.buttons.close()
        self.factory.reset()


class TestGpioButtons(ButtonsContract):
    def open_buttons(self, options):
        factory = MockFactory()
        self.opened.callback(factory.reset)

        def contact(name, closed):
            pin = factory.pin(options.pins[name])
            pin.drive_low() if closed else pin.drive_high()

        return GpioButtons(options.pins, options.clock, options.settle_s, factory=factory), contact


class TestMockButtons(ButtonsContract):
    def open_buttons(self, options):
        buttons = MockButtons()
        return buttons, lambda name, closed: buttons.contact(name, options.clock(), closed)


def test_presses_before_listen_are_dropped():
    buttons = MockButtons()
    buttons.press("ready", 0.1)
    buttons.tick(0.5)
    heard = []
    buttons.listen(lambda name, t: heard.append((name, t)))
    buttons.press("shown", 0.6)
    buttons.tick(1.0)
    assert heard == [("shown", 0.6)]


# gpiozero alone


@pytest.fixture
def gpio():
    rig = GpioRig()
    rig.heard = []
    rig.buttons.listen(lambda name, t: rig.heard.append((name, t)))
    yield rig
    rig.close()


def test_pins_are_pulled_up_inputs_without_gpiozero_debounce(gpio):
    for pin in map(gpio.factory.pin, PINS.values()):
        assert (pin.function, pin.pull, pin.bounce) == ("input", "up", None)


class HeldPin(MockPin):
    """A pin whose button is held down while it is opened: the pull-up does not win."""

    def _set_pull(self, value):
        self._pull = value
        self.drive_low()


def test_button_closed_at_start_needs_release_first():
    rig = GpioRig(MockFactory(pin_class=HeldPin))
    heard = []
    rig.buttons.listen(lambda name, t: heard.append((name, t)))
    rig.run_to(0.5)
    assert heard == []
    rig.contact("ready", 0.6, False)
    rig.contact("ready", 0.8, True)
    rig.run_to(1.0)
    assert heard == [("ready", 0.8)]
    rig.close()


def test_lost_release_edge_is_recovered_from_pin_level(gpio):
    # the release of one press was never told: the level heals it, and the next press counts
    gpio.contact("ready", 0.1, True)
    gpio.run_to(0.2)
    device = gpio.buttons.devices["ready"]
    tell, device.when_deactivated = device.when_deactivated, lambda: None
    gpio.contact("ready", 0.3, False)
    gpio.run_to(0.5)
    device.when_deactivated = tell
    gpio.contact("ready", 0.6, True)
    gpio.run_to(1.0)
    assert gpio.heard == [("ready", 0.1), ("ready", 0.6)]


def test_late_release_edge_of_spike_is_no_press(gpio):
    # the first edge is told at once, the second lies in a busy thread: the level already says open
    device = gpio.buttons.devices["ready"]
    device.when_deactivated = lambda: None
    gpio.contact("ready", 0.101, True)
    gpio.contact("ready", 0.102, False)
    gpio.run_to(0.5)
    assert gpio.heard == []


def test_edges_from_another_thread_are_reported_by_tick(gpio):
    threads = []
    gpio.buttons.listen(lambda name, t: threads.append((name, threading.get_ident())))
    gpio.now = 0.1
    with ThreadPoolExecutor(1) as finger:
        finger.submit(gpio.factory.pin(PINS["ready"]).drive_low).result()
    assert threads == []
    gpio.buttons.tick(0.1 + 2 * MIN_PRESS_S)
    assert threads == [("ready", threading.get_ident())]


def test_a_pin_taken_twice_gives_all_pins_back():
    factory = MockFactory()
    with pytest.raises(ButtonsError, match="GPIO5 cannot be used") as caught:
        GpioButtons({"ready": 5, "shown": 5}, lambda: 0.0, factory=factory)
    assert "[buttons.pins]" in caught.value.hint
    GpioButtons({"ready": 5}, lambda: 0.0, factory=factory).close()
    factory.reset()


@pytest.mark.filterwarnings("ignore::gpiozero.exc.PinFactoryFallback")
@pytest.mark.parametrize(("choice", "word"), [(None, "[buttons]"), ("nosuch", "lgpio"), ("rpigpio", "rpi-lgpio")])
def test_a_machine_without_pins_says_so(monkeypatch, choice, word):
    monkeypatch.delenv("GPIOZERO_PIN_FACTORY", raising=False)
    if choice:
        monkeypatch.setenv("GPIOZERO_PIN_FACTORY", choice)
    with pytest.raises(ButtonsError) as caught:
        GpioButtons({"ready": 5}, lambda: 0.0)
    assert word in caught.value.hint
    settings = Settings(buttons={"kind": "pi"})
    lines = list(pin_checks.buttons(settings))
    assert {line.outcome for line in lines} == {"fail"}
    assert all(line.hint for line in lines)


def test_the_pin_factory_is_gpiozeros_choice(monkeypatch):
    from gpiozero import Device

    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
    monkeypatch.setattr(Device, "pin_factory", None)
    buttons = GpioButtons({"ready": 5}, lambda: 0.0)
    assert type(buttons.devices["ready"].pin_factory) is MockFactory
    assert "ready on GPIO5" in repr(buttons)
    buttons.close()
    Device.pin_factory.reset()


def test_a_mock_press_is_a_finger():
    buttons, heard = MockButtons(), []
    buttons.listen(lambda name, t: heard.append((name, t)))
    buttons.press("ready", 1.0)
    buttons.press("shown", 2.0, held_s=0.001)
    for n in range(300):
        buttons.tick(n / 100)
    assert heard == [("ready", 1.0)]


def test_a_mock_has_the_buttons_it_has():
    with pytest.raises(ButtonsError, match="no button 'reddy'") as caught:
        MockButtons().press("reddy", 0.0)
    assert all(name in caught.value.hint for name in NAMES)
