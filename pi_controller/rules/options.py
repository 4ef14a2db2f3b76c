"""Options: the choices of an organiser about a rule set, as data.

A value comes as text (`--set points=3`) or typed (a settings file, a journal); both are read by `Option.read`. An
invalid value raises `UsageError` with the nearest match and the allowed values.
"""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pi_controller.errors import UsageError
from pi_controller.text import (
    NAME_LENGTH,
    Sentence,
    did_you_mean,
    format_value,
    is_name_length,
    join_or,
    join_words,
    mark,
)

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Option(ABC):
    """One option: its name, its default, and a description of one line."""

    name: str
    default: Value
    about: str

    @property
    @abstractmethod
    def allowed(self) -> Sentence:
        """The allowed values, described for people."""

    @abstractmethod
    def parse(self, text: str) -> Value:
        """Return the value written as `text` (stripped), or raise `UsageError`."""

    @abstractmethod
    def check(self, value: object) -> Value:
        """Return a typed value (no text) if it is allowed, or raise `UsageError`."""

    def read(self, value: object) -> Value:
        """Return the value, given as text or typed; raises `UsageError`."""
        return self.parse(value.strip()) if isinstance(value, str) else self.check(value)

    def refuse(self, value: object, near: str = "") -> UsageError:
        """Return the error for the refused `value`, with the allowed values as its hint."""
        return UsageError(
            "option {name} cannot be {value}{near}",
            "{name} takes {allowed}",
            name=self.name,
            value=format_value(value),
            near=near,
            allowed=self.allowed,
        )


@dataclass(frozen=True, slots=True)
class Choice(Option):
    """One of a few words.

    `rules` has the rule that each choice stands for, as a sentence for players; `sources` names the written source of a
    choice, for choices that follow one.
    """

    choices: tuple[str, ...]
    rules: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)

    @property
    def allowed(self) -> Sentence:
        """The allowed values, described for people."""
        return join_or(self.choices)

    def parse(self, text: str) -> Value:
        """Return the word."""
        if text not in self.choices:
            raise self.refuse(text, did_you_mean(text, self.choices))
        return text

    def check(self, value: object) -> Value:
        """Refuse: every choice is a word."""
        raise self.refuse(value)


@dataclass(frozen=True, slots=True)
class WholeNumber(Option):
    """A whole number from `low` to `high`."""

    low: int
    high: int

    @property
    def allowed(self) -> Sentence:
        """The allowed values, described for people."""
        return Sentence("a whole number from {low} to {high}", low=self.low, high=self.high)

    def parse(self, text: str) -> Value:
        """Return the number in plain decimal digits."""
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", text):
            raise self.refuse(text)
        return self.check(int(text))

    def check(self, value: object) -> Value:
        """Return the number if it is within the bounds."""
        if type(value) is not int or not self.low <= value <= self.high:
            raise self.refuse(value)
        return value


@dataclass(frozen=True, slots=True)
class OptionalNumber(Option):
    """A number from `low` to `high`, or none."""

    low: float
    high: float

    @property
    def allowed(self) -> Sentence:
        """The allowed values, described for people."""
        return Sentence("none or a number from {low} to {high}", low=f"{self.low:g}", high=f"{self.high:g}")

    def parse(self, text: str) -> Value:
        """Return the number (a whole one as int), or None for the word `none`."""
        if text.lower() == "none":
            return None
        if not re.fullmatch(r"[+-]?[0-9]{1,9}(\.[0-9]{1,9})?", text):
            raise self.refuse(text)
        return self.check(float(text) if "." in text else int(text))

    def check(self, value: object) -> Value:
        """Return the number (a whole one as int) if it is within the bounds, or None."""
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(value)
        if not self.low <= value <= self.high:  # no bounds hold NaN
            raise self.refuse(value)
        return int(value) if value == int(value) else value


@dataclass(frozen=True, slots=True)
class Flag(Option):
    """True or false."""

    @property
    def allowed(self) -> Sentence:
        """The allowed values, described for people."""
        return Sentence("true or false")

    def parse(self, text: str) -> Value:
        """Return the value of the word `true` or `false`."""
        if text.lower() not in ("true", "false"):
            raise self.refuse(text)
        return text.lower() == "true"

    def check(self, value: object) -> Value:
        """Return the flag."""
        if not isinstance(value, bool):
            raise self.refuse(value)
        return value


@dataclass(frozen=True, slots=True)
class Names(Option):
    """From `low` to `high` different names, separated by commas; `names` splits them again.

    A name may be in any script, without control characters, and as long as `is_name_length` allows; surrounding
    spaces are ignored.
    """

    low: int
    high: int

    @property
    def allowed(self) -> Sentence:
        """The allowed values, described for people."""
        words = mark("{low} to {high} different names between commas, each of {length}")
        return Sentence(words, low=self.low, high=self.high, length=NAME_LENGTH)

    def parse(self, text: str) -> Value:
        """Return the names, separated by commas without spaces."""
        if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
            raise self.refuse(text)
        found = tuple(name.strip() for name in text.split(","))
        if not self.low <= len(found) <= self.high or len(set(found)) != len(found):
            raise self.refuse(text)
        if not all(map(is_name_length, found)):
            raise self.refuse(text)
        return ",".join(found)

    def check(self, value: object) -> Value:
        """Refuse: names are text."""
        raise self.refuse(value)


def names(value: Value) -> tuple[str, ...]:
    """Return the names in the value of a `Names` option, in their order."""
    return tuple(str(value).split(","))


def resolve_options(game: str, options: tuple[Option, ...], settings: Mapping[str, object]) -> Mapping[str, Value]:
    """Return every option of `game` with its value: the one in `settings`, or the default. Read-only.

    Raises `UsageError` for an unknown option or an invalid value.
    """
    by_name = {option.name: option for option in options}
    for name in settings:
        if name not in by_name:
            near = did_you_mean(str(name), by_name)
            raise UsageError(
                "{game} has no option {name}{near}",
                "options of {game}: {by_name}",
                game=game,
                name=format_value(name),
                near=near,
                by_name=join_words(by_name),
            )
    return MappingProxyType(
        {name: option.read(settings[name]) if name in settings else option.default for name, option in by_name.items()}
    )


def from_text(assignments: Iterable[str]) -> dict[str, str]:
    """Return `["points=3", ...]` as `{"points": "3", ...}`. Raises `UsageError` for a bad or repeated assignment."""
    settings: dict[str, str] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        name = name.strip()
        if not equals or not name:
            raise UsageError(
                "{assignment} is not an assignment", "write --set OPTION=VALUE", assignment=format_value(assignment)
            )
        if name in settings:
            raise UsageError("option {name} is set twice", "set it once", name=name)
        settings[name] = value
    return settings


def format_option(value: Value) -> str:
    """Return the text that `Option.parse` reads as `value`."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value)


def describe_options(options: tuple[Option, ...]) -> tuple[str, ...]:
    """Return two lines of help for each option: its name, values and default, and below its description."""
    lines: list[str] = []
    for option in options:
        lines += [f"{option.name}: {option.allowed} (default {format_option(option.default)})", f"    {option.about}"]
    return tuple(lines)
