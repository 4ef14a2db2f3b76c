"""Contract of a light strip: what `board.interfaces.Strip` promises, and the limit of current."""

from abc import abstractmethod
from collections.abc import Callable, Sequence

import pytest

from pi_controller.board.interfaces import FrameError, Rgb, Strip, StripError, StripOptions
from pi_controller.board.strips import current_ma
from pi_controller.testing.closing import ClosesWhatItOpens

DARK, WHITE = (0, 0, 0), (255, 255, 255)
WRONG_FRAMES = ([DARK], [DARK] * 3, [(0, 0), DARK], [(0, 0, 256), DARK], [(0, -1, 0), DARK], [(0, 0.5, 0), DARK])


class StripContract(ClosesWhatItOpens):
    """Tests of a strip; a subclass provides `open_strip`."""

    @abstractmethod
    def open_strip(self, options: StripOptions) -> tuple[Strip, Callable[[], Sequence[Rgb]]]:
        """Return the strip for `options`, and a function that returns what its pixels show now."""

    def make(self, count: int, brightness: float = 1.0) -> tuple[Strip, Callable[[], list[Rgb]]]:
        """Open a strip of `count` pixels; it is closed after the test."""
        strip, read = self.open_strip(StripOptions(count, brightness))
        self.exit_stack.callback(strip.close)
        return strip, lambda: [*read()]

    def test_it_starts_dark(self) -> None:
        strip, read = self.make(5)
        assert strip.count == 5
        assert read() == [DARK] * 5

    def test_it_shows_a_frame(self) -> None:
        strip, read = self.make(3)
        strip.show([(1, 2, 3), DARK, WHITE])
        assert read() == [(1, 2, 3), DARK, WHITE]

    def test_brightness_dims_each_colour(self) -> None:
        strip, read = self.make(2, brightness=0.5)
        strip.show([(200, 100, 1), WHITE])
        assert read() == [(100, 50, 0), (127, 127, 127)]

    def test_brightness_nought_is_dark(self) -> None:
        strip, read = self.make(2, brightness=0.0)
        strip.show([WHITE] * 2)
        assert read() == [DARK] * 2

    def test_current_stays_under_the_cap(self) -> None:
        strip, read = self.make(69)
        strip.show([WHITE] * 69)
        assert 1900 < current_ma(read()) <= 2000

    def test_cap_applies_after_brightness(self) -> None:
        # dimmed to a quarter, 69 white pixels draw 1.1 A: under the cap, so not dimmed once more
        strip, read = self.make(69, brightness=0.25)
        strip.show([WHITE] * 69)
        assert read() == [(63, 63, 63)] * 69

    @pytest.mark.parametrize("frame", WRONG_FRAMES)
    def test_wrong_frame_is_refused_and_strip_unchanged(self, frame: Sequence[Rgb]) -> None:
        strip, read = self.make(2)
        strip.show([(9, 9, 9), DARK])
        with pytest.raises(FrameError):
            strip.show(frame)
        assert read() == [(9, 9, 9), DARK]

    def test_closing_turns_it_off_for_good(self) -> None:
        strip, read = self.make(2)
        strip.show([WHITE] * 2)
        strip.close()
        strip.close()
        assert read() == [DARK] * 2
        with pytest.raises(StripError):
            strip.show([WHITE] * 2)
