"""What every contract suite does: close what its test has opened, also if the test fails."""

from contextlib import ExitStack
from functools import cached_property


class ClosesWhatItOpens:
    """Give each test `opened`, a stack that is closed after it."""

    @cached_property
    def opened(self) -> ExitStack:
        """The stack of what the test has opened."""
        return ExitStack()

    def teardown_method(self) -> None:
        """Close it; pytest calls this after each test."""
        self.opened.close()
