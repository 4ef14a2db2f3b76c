"""What every contract suite does: close what its test has opened, also if the test fails."""

from contextlib import ExitStack
from functools import cached_property


class ClosesWhatItOpens:
    """Give each test `exit_stack`, a stack that is closed after it."""

    @cached_property
    def exit_stack(self) -> ExitStack:
        """The stack of what the test has opened."""
        return ExitStack()

    def teardown_method(self) -> None:
        """Close it; pytest calls this after each test."""
        self.exit_stack.close()
