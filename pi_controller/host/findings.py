"""State what a check found about each part of a table: it passes, fails with a remedy, or is not here."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import msgspec

Outcome = Literal["pass", "fail", "not here"]


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a check found about the part `name`: `message`, and the remedy `hint` if the part fails.

    A message that names its parts itself has the name "".
    """

    group: str
    name: str
    outcome: Outcome
    message: str = ""
    hint: str = ""

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.name, self.message)))


class Group(NamedTuple):
    """A group of parts, and the findings about its parts."""

    name: str

    def passes(self, part: str, message: str = "") -> Finding:
        """Return the finding for a part that works."""
        return Finding(self.name, part, "pass", message)

    def fails(self, part: str, message: str, hint: str = "") -> Finding:
        """Return the finding for a part that fails, with the remedy."""
        return Finding(self.name, part, "fail", message, hint)

    def absent(self, part: str, why: str) -> Finding:
        """Return the finding for a part that is not here, or cannot be checked."""
        return Finding(self.name, part, "not here", why)


SENSORS = Group("Sensors")


def find_failures(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings about parts that fail."""
    return tuple(finding for finding in findings if finding.outcome == "fail")
