"""Contract of a board: what `board.message_source.Source` promises, in a time that the test advances."""

from abc import abstractmethod
from collections.abc import Callable
from itertools import pairwise

from pi_controller.board.message_source import Source
from pi_controller.board.messages import LinkDown, LinkUp, Message, Piezo, Touch
from pi_controller.pads import PADS
from pi_controller.testing.closing import ClosesWhatItOpens

STEP_S = 0.032
LONGEST_START_S = 20.0


class BoardContract(ClosesWhatItOpens):
    """Tests of a board with sensors at rest; a subclass provides `open_board`."""

    @abstractmethod
    def open_board(self) -> tuple[Source, Callable[[float], object]]:
        """Return a closed board, and a function that lets so many seconds pass for its sensors."""

    def make(self) -> Source:
        """Return the closed board; it is closed after the test."""
        source, self._pass = self.open_board()
        self.exit_stack.callback(source.close)
        self.t = 0.0
        return source

    def run_for(self, source: Source, seconds: float) -> list[Message]:
        """Step `source` for so many seconds; return its messages."""
        until, found = self.t + seconds, list[Message]()
        while self.t < until:
            self._pass(STEP_S)
            self.t += STEP_S
            found += source.step(self.t)
        return found

    def start(self, source: Source) -> LinkUp:
        """Step `source` until it has answered."""
        while self.t < LONGEST_START_S:
            for message in self.run_for(source, STEP_S):
                if isinstance(message, LinkUp):
                    return message
        raise AssertionError(f"no LinkUp in {LONGEST_START_S:.0f} s: {source.why}")

    def test_it_opens_nothing_before_the_first_step(self) -> None:
        source = self.make()
        assert (source.port, source.up, source.sent) == (None, False, 0)

    def test_link_is_up_after_its_message(self) -> None:
        source = self.make()
        assert self.start(source).pads == PADS
        assert (source.up, source.why, source.missing) == (True, "", None)
        assert source.port is not None
        assert source.port.name

    def test_blocks_follow_each_other_without_gaps(self) -> None:
        source = self.make()
        self.start(source)
        messages = self.run_for(source, 2.0)
        assert not [one for one in messages if isinstance(one, LinkDown)]
        blocks = [one for one in messages if isinstance(one, Piezo)]
        assert sum(len(block.samples) for block in blocks) > 1.5 * blocks[0].rate
        for before, after in pairwise(blocks):
            assert after.index == before.index + len(before.samples)
            assert abs(after.t - before.t - len(before.samples) / before.rate) < 0.01
        assert {block.samples.shape[1] for block in blocks} == {PADS}
        touches = [one for one in messages if isinstance(one, Touch)]
        assert {touch.counts.shape[0] for touch in touches} == {PADS}
        assert all(before.t < after.t for before, after in pairwise(touches))

    def test_closed_board_is_down_and_closes_twice(self) -> None:
        source = self.make()
        self.start(source)
        source.close()
        source.close()
        assert (source.port, source.up) == (None, False)
