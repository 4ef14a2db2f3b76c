"""One contract for the buttons: gpiozero on its own mock pins, and the ones a program presses."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from gpiozero.pins.mock import MockFactory, MockPin

from pi_controller.board.buttons import MIN_PRESS_S, NAMES, GpioButtons, MockButtons
from pi_controller.board.interfaces import ButtonsError
from pi_controller.config import Settings
from pi_controller.testing import ButtonsContract
from pi_controller.tools import pin_checks


class HeldPin(MockPin):
    """A pin whose button is held down while it is opened: the pull-up does not win."""

    def _set_pull(self, value):
        self._pull = value
        self.drive_low()


class TestGpioButtons(ButtonsContract):
    pin_class = MockPin

    def open_buttons(self, options):
        self.factory = MockFactory(pin_class=self.pin_class)
        self.exit_stack.callback(self.factory.reset)
        self.pins = options.pins

        def contact(name, closed):
            pin = self.factory.pin(options.pins[name])
            pin.drive_low() if closed else pin.drive_high()

        return GpioButtons(options.pins, options.clock, options.settle_s, factory=self.factory), contact

    def test_pins_are_pulled_up_inputs_without_gpiozero_debounce(self):
        self.make()
        for pin in map(self.factory.pin, self.pins.values()):
            assert (pin.function, pin.pull, pin.bounce) == ("input", "up", None)

    def test_button_closed_at_start_needs_release_first(self):
        self.pin_class = HeldPin
        buttons, heard = self.make()
        self.run_to(buttons, 0.5)
        assert heard == []
        self.plan = [(0.6, "ready", False), (0.8, "ready", True)]
        self.run_to(buttons, 1.0)
        assert heard == [("ready", 0.8)]

    def test_lost_release_edge_is_recovered_from_pin_level(self):
        # the release of one press was never told: the level heals it, and the next press counts
        buttons, heard = self.make()
        self.press("ready", 0.1, held_s=0.2)
        device = buttons.devices["ready"]
        tell, device.when_deactivated = device.when_deactivated, lambda: None
        self.run_to(buttons, 0.5)
        device.when_deactivated = tell
        self.press("ready", 0.6)
        self.run_to(buttons, 1.0)
        assert heard == [("ready", 0.1), ("ready", 0.6)]

    def test_late_release_edge_of_spike_is_no_press(self):
        # the first edge is told at once, the second lies in a busy thread: the level already says open
        buttons, heard = self.make()
        buttons.devices["ready"].when_deactivated = lambda: None
        self.press("ready", 0.101, held_s=0.001)
        self.run_to(buttons, 0.5)
        assert heard == []

    def test_edges_from_another_thread_are_reported_by_tick(self):
        buttons, _ = self.make()
        threads = []
        buttons.listen(lambda name, t: threads.append((name, threading.get_ident())))
        self.now = 0.1
        with ThreadPoolExecutor(1) as finger:
            finger.submit(self.contact, "ready", True).result()
        assert threads == []
        buttons.tick(0.1 + 2 * MIN_PRESS_S)
        assert threads == [("ready", threading.get_ident())]


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
