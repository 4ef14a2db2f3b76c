"""State what a check found about each part of a table: it passes, fails with a remedy, or is not here."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

import msgspec

from pi_controller.text import Sentence

Outcome = Literal["pass", "fail", "not here"]
NOTHING = Sentence("")


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a check found about the part `name`: `message`, and the remedy `hint` if the part fails.

    A message that names its parts itself has the name "".
    """

    group: str
    name: Sentence
    outcome: Outcome
    message: Sentence = NOTHING
    hint: Sentence = NOTHING

    @property
    def sentence(self) -> Sentence:
        """The part and the message."""
        return Sentence.concat(": ", filter(None, (self.name, self.message)))

    def __str__(self) -> str:
        return str(self.sentence)


def _say(text: str, values: Mapping[str, object]) -> Sentence:
    return Sentence(text, **values) if text else NOTHING  # one that is `NOTHING` is left out of JSON


class Group(NamedTuple):
    """A group of parts, and the findings about its parts; `values` fill the places in their messages and hints."""

    name: str

    def passes(self, part: str, message: str = "", /, **values: object) -> Finding:
        """Return the finding for a part that works."""
        return Finding(self.name, Sentence(part), "pass", _say(message, values))

    def fails(self, part: str, message: str, hint: str = "", /, **values: object) -> Finding:
        """Return the finding for a part that fails, with the remedy."""
        return Finding(self.name, Sentence(part), "fail", _say(message, values), _say(hint, values))

    def absent(self, part: str, why: str, /, **values: object) -> Finding:
        """Return the finding for a part that is not here, or cannot be checked."""
        return Finding(self.name, Sentence(part), "not here", _say(why, values))


SENSORS = Group("Sensors")


def find_failures(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings about parts that fail."""
    return tuple(finding for finding in findings if finding.outcome == "fail")
