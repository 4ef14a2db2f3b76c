"""Read the events of one open stream."""

from __future__ import annotations

import pytest


class Stream:
    """The events of one open stream, one by one."""

    def __init__(self, response):
        self.lines = response.iter_lines()

    def next(self, name="view"):
        told = {}
        for line in self.lines:
            if line == "":
                if told.get("event") == name:
                    return told
                told = {}
            elif not line.startswith(":"):
                key, _, value = line.partition(": ")
                told[key] = value
        raise EOFError

    def end(self):
        """Return once the stream has ended, with no more views."""
        with pytest.raises(EOFError):
            self.next()
