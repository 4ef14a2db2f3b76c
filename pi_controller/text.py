"""Text of names and messages: length of names, invisible characters, short values, the nearest word."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

MAX_NAME_CHARS = 60
"""Maximum length of the name of a team, a player, a judge, a user, a table or an installation; see `is_name_length`."""
_MAX_CHARS = 40
_JOINERS = "\u200c\u200d"
_BREAKS = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"


def mark(text: str) -> str:
    """Return `text` unchanged; marks a sentence for extraction into the catalogues."""
    return text


class Sentence(str):
    """English text: a `template` with `values` in its places in braces, which `Translator.text` translates.

    Sentences among the values are translated too; a sentence made of another one is the same. Without values it is not
    formatted.

    >>> found = Sentence("{part} is loose", part=Sentence("the plug of pad {pad}", pad=2))
    >>> found, found.template
    ('the plug of pad 2 is loose', '{part} is loose')
    """

    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, /, **values: object) -> Sentence:
        """Return the sentence. Raises `KeyError` if a value of the template is missing."""
        if isinstance(template, Sentence):
            template, values = template.template, {**template.values, **values}
        made = super().__new__(cls, template.format(**values) if values else template)
        made.template, made.values = template, values
        return made

    @classmethod
    def concat(cls, separator: str, parts: Iterable[str], name: str = "part") -> Sentence:
        """Return `parts` as one sentence, whose values are `name` and a number; each stays as it is."""
        values = {f"{name}{n}": part for n, part in enumerate(parts)}
        return cls(separator.join(f"{{{key}}}" for key in values), **values)

    def map(self, change: Callable[[str, object], object]) -> Sentence:
        """Return the sentence with `change(name, value)` in place of each value, also in the sentences inside it."""
        changed = {
            name: value.map(change) if isinstance(value, Sentence) else change(name, value)
            for name, value in self.values.items()
        }
        return Sentence(self.template, **changed)


def pack_sentence(value: object) -> object:
    """Return a sentence as JSON has it, any other value as text; the `enc_hook` of msgspec."""
    return {"text": value.template, "values": value.values} if isinstance(value, Sentence) else str(value)


def unpack_sentence(_: type, packed: Any) -> Sentence:
    """Return the sentence of `pack_sentence`, or that of a text; the `dec_hook` of msgspec."""
    if isinstance(packed, str):
        return Sentence(packed)
    values = {name: unpack_sentence(_, one) if isinstance(one, dict) else one for name, one in packed["values"].items()}
    return Sentence(packed["text"], **values)


NAME_LENGTH = Sentence("1 to {most} characters", most=MAX_NAME_CHARS)


def normalize_name(name: str) -> str:
    """Normalise a name for comparison: composed letters (NFC), no surrounding space."""
    return unicodedata.normalize("NFC", name).strip()


def is_name_length(name: str) -> bool:
    """Return True if `name` has 1 to `MAX_NAME_CHARS` characters: Unicode code points after `normalize_name`.

    A letter with an accent counts as one if Unicode has the two composed; any other mark counts as one more, such as a
    vowel sign of Devanagari or Arabic. Bytes and UTF-16 units are not counted: an Osage letter is one.
    """
    return 1 <= len(normalize_name(name)) <= MAX_NAME_CHARS


def is_invisible(char: str) -> bool:
    """Return True if `char` is invisible: a control, a text direction, a line end, or another character of category C.

    The two joiners are allowed: Persian, many scripts of India and some emoji are spelled with them.
    """
    return char in "\u2028\u2029" or (unicodedata.category(char)[0] == "C" and char not in _JOINERS)


def strip_controls(text: str) -> str:
    """Return `text` on one line without `is_invisible` characters; line ends and tabs become spaces.

    Such characters could move other text in a terminal, and in a journal's story imitate a separate line.
    """
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(" " if char in _BREAKS else char for char in text if char in _BREAKS or not is_invisible(char))


def strip_controls_deep(value: Any) -> Any:
    """Return a JSON value with all its texts `strip_controls`, including keys."""
    match value:
        case str():
            return strip_controls(value)
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return {strip_controls(key): strip_controls_deep(held) for key, held in pairs}
        case list() | tuple():
            return [strip_controls_deep(held) for held in cast("list[Any]", value)]
        case _:
            return value


def format_value(value: object) -> str:
    """Return any `value` in about 40 characters or fewer; lists and objects only by their type."""
    match value:
        case str():
            return repr(value) if len(value) <= _MAX_CHARS else repr(value[:_MAX_CHARS]) + "..."
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            # a decimal of thousands of digits is refused by Python itself
            return str(value) if abs(value) < 10**_MAX_CHARS else Sentence("a number that is too large")
        case float():
            return repr(value)
        case list() | tuple():
            return Sentence("a list")
        case _:
            return Sentence("an object")


def join_words(words: Iterable[str], name: str = "part") -> Sentence:
    """Return the words joined as `a, b, c`, with the names of values that `Sentence.concat` gives them."""
    return Sentence.concat(", ", words, name)


def join_or(words: Iterable[str]) -> Sentence:
    """Return the words joined as `a or b or c`."""
    return Sentence.concat(
        " ", (word for n, one in enumerate(words) for word in ((Sentence("or"), one) if n else (one,)))
    )


def did_you_mean(word: str, words: Iterable[str]) -> Sentence:
    """Return `; did you mean X?` with the word most similar to `word`, or ""."""
    from difflib import get_close_matches  # noqa: PLC0415 - only on the way to an error

    close = get_close_matches(word[:_MAX_CHARS].lower(), list(words), n=1, cutoff=0.5)
    return Sentence("; did you mean {word}?", word=close[0]) if close else Sentence("")


SUFFIX = ".po"
_CODE = re.compile(r"[A-Za-z]{2,8}([_-][A-Za-z0-9]{1,8})*")


def is_code(text: str) -> bool:
    """Return whether `text` has the syntax of a language code. It is not looked up: no list knows every language."""
    return _CODE.fullmatch(text) is not None


def is_file(text: str) -> bool:
    """Return whether `text` is the path of a catalogue named after its language code."""
    path = Path(text)
    return text.isprintable() and path.suffix == SUFFIX and is_code(path.stem)
