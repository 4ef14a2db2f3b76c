"""Contract of the buttons: what `board.interfaces.Buttons` promises, in a time that the test advances."""

from abc import abstractmethod
from collections.abc import Callable

import pytest

from pi_controller.board.buttons import NAMES
from pi_controller.board.interfaces import ButtonOptions, Buttons
from pi_controller.testing.closing import ClosesWhatItOpens

Contact = Callable[[str, bool], None]
TICK_S = 0.01


class ButtonsContract(ClosesWhatItOpens):
    """Tests of the buttons; a subclass provides `open_buttons`."""

    @abstractmethod
    def open_buttons(self, options: ButtonOptions) -> tuple[Buttons, Contact]:
        """Return the buttons, and a function that closes (True) or opens a button's contact at `options.clock()`."""

    def make(self) -> tuple[Buttons, list[tuple[str, float]]]:
        """Open all buttons, and listen; they are closed after the test."""
        self.now, self.plan = 0.0, list[tuple[float, str, bool]]()
        options = ButtonOptions({name: 4 + n for n, name in enumerate(NAMES)}, lambda: self.now)
        buttons, self.contact = self.open_buttons(options)
        self.exit_stack.callback(buttons.close)
        heard: list[tuple[str, float]] = []
        buttons.listen(lambda name, t: heard.append((name, t)))
        return buttons, heard

    def press(self, name: str, t: float, held_s: float = 0.1) -> None:
        """Plan a press of button `name`."""
        self.plan += [(t, name, True), (t + held_s, name, False)]

    def run_to(self, buttons: Buttons, t: float) -> None:
        """Advance to `t`, with a tick each 10 ms and the planned contacts between."""
        ticks = [(self.now + n * TICK_S, "", False) for n in range(1, round((t - self.now) / TICK_S) + 1)]
        for at, name, closed in sorted(self.plan + ticks):
            self.now = at
            if name:
                self.contact(name, closed)
            else:
                buttons.tick(at)
        self.plan = []

    @pytest.mark.parametrize("name", NAMES)
    def test_each_button_is_reported_once_by_name(self, name: str) -> None:
        buttons, heard = self.make()
        self.press(name, 0.123)
        self.run_to(buttons, 1.0)
        assert heard == [(name, 0.123)]

    def test_buttons_do_not_disturb_each_other(self) -> None:
        buttons, heard = self.make()
        for name, t in (("toss_a", 0.200), ("ready", 0.201), ("toss_b", 0.2005)):
            self.press(name, t)
        self.run_to(buttons, 1.0)
        assert heard == [("toss_a", 0.200), ("toss_b", 0.2005), ("ready", 0.201)]

    def test_chatter_is_one_press(self) -> None:
        buttons, heard = self.make()
        for t in (0.100, 0.103, 0.106):
            self.press("ready", t, 0.002)
        self.press("ready", 0.109)
        self.run_to(buttons, 1.0)
        assert heard == [("ready", 0.100)]

    def test_closed_buttons_are_silent_and_close_twice(self) -> None:
        buttons, heard = self.make()
        self.press("ready", 0.09, 1.0)
        self.run_to(buttons, 0.09)
        buttons.close()
        buttons.close()
        buttons.tick(0.5)
        assert heard == []
