"""Base class and field types of the settings: names, addresses, pins, hours and paths, with errors in plain words."""

import ipaddress
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import time
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Self, cast, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from pi_controller.board import drivers
from pi_controller.board.gpio import PINS
from pi_controller.entry_points import BOARDS, BUTTONS, OBSERVERS, SCENES, STRIPS
from pi_controller.pads import are_distinct_pads
from pi_controller.rules.options import Option
from pi_controller.text import (
    MAX_NAME_CHARS,
    NAME_LENGTH,
    Sentence,
    did_you_mean,
    format_value,
    is_code,
    is_file,
    is_invisible,
    is_name_length,
    join_or,
    normalize_name,
)

Keys = tuple[str, ...]
"""Names of a key and of the sections around it: `("buttons", "pins", "ready")`."""
_HOUR = r"([01]\d|2[0-3]):[0-5]\d"
_ADDRESS = r"(https?://)?([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?/?"
_SHORT_NAME = r"[a-z0-9][a-z0-9_-]{0,30}"


@dataclass(frozen=True, init=False)
class SettingsIssue:
    """One fault in the settings: the keys of the value and a message, whose places `values` fill."""

    keys: Keys
    text: Sentence

    def __init__(self, keys: Keys, text: str, /, **values: object) -> None:
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "text", Sentence(text, **values))


class InvalidValueError(ValueError):
    """The value of a field is not valid: the message with `values` in its places, as a sentence."""

    def __init__(self, message: str, /, **values: object) -> None:
        super().__init__(Sentence(message, **values))


def raise_issues(found: Iterable[SettingsIssue]) -> None:
    """Report issues from a validator, if there are any; their keys start at the section it validates."""
    if issues := tuple(found):
        raise PydanticCustomError("issues", "several issues", {"found": issues})


@dataclass(frozen=True)
class SettingsPath:
    """Mark a field type as a path relative to the folder of the settings file; `Section.resolve_paths` reads the mark.

    `is_path` returns False for a value that is not a path, such as an empty text or the code of a language.
    """

    is_path: Callable[[str], bool] = bool

    def resolve(self, value: str | Path, folder: Path) -> str | Path:
        """Return the path `value` relative to `folder`; an absolute path, and a value that is not a path, unchanged."""
        if not self.is_path(str(value)):
            return value
        path = folder / Path(value).expanduser()
        return str(path) if isinstance(value, str) else path


@dataclass(frozen=True)
class InstalledName:
    """Marks and checks a setting that names what is built in or installed in `group`, or one of `otherwise`."""

    group: str
    otherwise: tuple[str, ...] = ("none",)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the setting takes."""
        return (*drivers.list_names(self.group), *self.otherwise)

    def check(self, name: str) -> str:
        """Return `name`. Raises `InvalidValueError` if there is none of that name."""
        if name in self.otherwise or drivers.is_name(self.group, name):
            return name
        raise InvalidValueError(
            "must be {names}, not {name}{near}",
            names=join_or(f'"{one}"' for one in self.names) or Sentence("the name of an installed package"),
            name=format_value(name),
            near=did_you_mean(name, self.names),
        )


class TimeOfDay:
    """Marks a setting that is a time of day or empty, so that a form shows a field for times."""


def path_mark(field: FieldInfo) -> SettingsPath | None:
    """Return the mark of a field that holds a path or a tuple of paths, else None."""
    of_items = (mark for item in get_args(field.annotation) for mark in get_args(item)[1:])
    return next((mark for mark in (*field.metadata, *of_items) if isinstance(mark, SettingsPath)), None)


def installed_mark(field: FieldInfo) -> InstalledName | None:
    """Return the mark of a field that names something installed, else None."""
    return next((mark for mark in field.metadata if isinstance(mark, InstalledName)), None)


class Section(BaseModel):
    """Base class of all sections: refuses unknown keys and values of another type, and does not change."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def find_conflicts(self, faulty: Collection[str] = ()) -> list[SettingsIssue]:
        """Return the conflicts between sections; `faulty` names sections replaced by their defaults."""
        del faulty
        return []

    def list_options(self, key: str) -> Sequence[Option]:
        """Return what the table of free keys `key` may hold, with the defaults that count without them."""
        raise KeyError(key)

    def resolve_paths(self, folder: Path) -> Self:
        """Return this section with all relative paths, also in its subsections, resolved against `folder`."""
        resolved: dict[str, Any] = {}
        for key, field in type(self).model_fields.items():
            value: Any = getattr(self, key)
            mark = path_mark(field)
            if isinstance(value, Section):
                resolved[key] = value.resolve_paths(folder)
            elif mark is not None and isinstance(value, tuple):
                resolved[key] = tuple(mark.resolve(path, folder) for path in cast("tuple[str, ...]", value))
            elif mark is not None:
                resolved[key] = mark.resolve(value, folder)
        return self.model_copy(update=resolved)


def list_fields(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo, type[BaseModel] | None]]:
    """Yield (key, field, model of the section or None) for every key of a model."""
    for key, field in model.model_fields.items():
        kind = field.annotation
        yield key, field, kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def describe_values(field: FieldInfo) -> Sentence:
    """Return the values that a field takes, in words: `a whole number from 0 to 65535`."""
    extra = cast("object", field.json_schema_extra)  # pyright: ignore[reportUnknownMemberType]
    if isinstance(extra, dict) and "takes" in extra:
        return Sentence(cast("dict[str, str]", extra)["takes"])
    kind = field.annotation
    if isinstance(kind, UnionType):  # a key that may be left out has the type `int | None`
        kind = next(one for one in get_args(kind) if one is not NoneType)
    if get_origin(kind) is Literal:
        return join_or(f'"{word}"' if isinstance(word, str) else str(word) for word in get_args(kind))
    if (installed := installed_mark(field)) is not None:
        return join_or(f'"{name}"' for name in installed.names)
    bounds = {
        name: getattr(rule, name) for rule in field.metadata for name in ("ge", "gt", "le") if hasattr(rule, name)
    }
    if "ge" in bounds and "le" in bounds:
        return Sentence(
            "a whole number from {low} to {high}" if kind is int else "a number from {low} to {high}",
            low=f"{bounds['ge']:g}",
            high=f"{bounds['le']:g}",
        )
    if kind is bool:
        return Sentence("true or false")
    return Sentence("a whole number" if kind is int else "a number" if kind is float else "text in quotes")


def is_short_name(text: str) -> bool:
    """Return whether `text` can name a venue or a table: 1 to 31 of a-z, 0-9, - and _."""
    return re.fullmatch(_SHORT_NAME, text) is not None


def is_between(now: time, begins: time, ends: time) -> bool:
    """Return True if `begins` <= `now` < `ends`; the range may cross midnight."""
    return begins <= now < ends if begins <= ends else now >= begins or now < ends


def _matches(pattern: str, wanted: str) -> AfterValidator:
    """Return the validator that refuses a text that does not match `pattern`, and tells what is `wanted`."""

    def check(text: str) -> str:
        if re.fullmatch(pattern, text):
            return text
        raise InvalidValueError("must be {wanted}, not {text}", wanted=Sentence(wanted), text=format_value(text))

    return AfterValidator(check)


def _as_tuple(value: object) -> object:
    """Return a list as a tuple, which strict validation asks for, and any other value unchanged."""
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


def _refuse_control_characters(text: str, *, is_name: bool = True) -> None:
    # line separators and direction overrides would let one name rearrange the rest of the board
    if any(map(is_invisible, text)):
        raise InvalidValueError(
            "this name contains a control character" if is_name else "this text contains a control character"
        )


def _check_name(text: str) -> str:
    _refuse_control_characters(text)
    if not is_name_length(text):
        raise InvalidValueError("must be a name of {length}, not {text}", length=NAME_LENGTH, text=format_value(text))
    return normalize_name(text)


def _check_words(text: str) -> str:
    _refuse_control_characters(text, is_name=False)
    if len(text) > 300:
        raise InvalidValueError("must be a text of up to 300 characters, not of {count}", count=len(text))
    return text


def _parse_ip_address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text)) if text else text
    except ValueError as error:
        raise InvalidValueError(
            'must be an address in numbers like "127.0.0.1", or empty, not {text}', text=format_value(text)
        ) from error


def _check_port(text: str) -> str:
    if text in {"auto", "none"} or (text.startswith("/") and text.isprintable()):
        return text
    raise InvalidValueError('must be "auto", "none" or a path like "/dev/ttyACM0", not {text}', text=format_value(text))


def _check_board_port(text: str) -> str:
    if drivers.is_name(BOARDS, text):
        return text
    try:
        return _check_port(text)
    except ValueError as error:
        names = join_or(f'"{name}"' for name in InstalledName(BOARDS).names)
        raise InvalidValueError(
            'must be {names} or a path like "/dev/ttyACM0", not {text}', names=names, text=format_value(text)
        ) from error


def _check_host(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9.:_-]{1,253}", text):
        return text
    raise InvalidValueError("must be an address or a host name, not {text}", text=format_value(text))


def _check_hosts(value: object) -> object:
    names = tuple(cast("list[object]", value)) if isinstance(value, list | tuple) else (None,)
    for name in names:
        if not isinstance(name, str):
            raise InvalidValueError("must be a list of host names, each in quotes")
        _check_host(name)
    return names


def _check_origins(value: object) -> object:
    names = tuple(cast("list[object]", value)) if isinstance(value, list | tuple) else (None,)
    for name in names:
        if not isinstance(name, str) or not re.fullmatch(r"https?://[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?", name):
            example = "https://museum.example"
            raise InvalidValueError(
                "must be a list of sites like {example}, without a path, not {name}",
                example=example,
                name=format_value(name),
            )
    return names


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (`#rrggbb`), from 0 to 1 (WCAG 2.2)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    """Return how far two colours (`#rrggbb`) stand out from each other, from 1 to 21 (WCAG 2.2, 1.4.3)."""
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _expand_home(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise InvalidValueError("there is no home folder for {text}", text=format_value(text)) from error


def _check_language(text: str) -> str:
    if is_file(text):
        _expand_home(text)
    elif not is_code(text):
        raise InvalidValueError(
            "must be a language's code, such as en or dak, or its catalogue, such as /srv/dak.po, not {text}",
            text=format_value(text),
        )
    return text


def _check_languages(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or len(set(value)) != len(value):
        raise InvalidValueError("must name at least one language, each once")
    return value


def _parse_path(value: object) -> object:
    if not isinstance(value, str | Path):
        raise InvalidValueError("must be the path of a file, in quotes, not {value}", value=format_value(value))
    text = str(value)
    if not text.strip() or not text.isprintable() or text.endswith("/"):
        raise InvalidValueError("must be the path of a file, not {text}", text=format_value(text))
    return _expand_home(text)


def _parse_optional_path(text: str) -> str:
    return str(_parse_path(text)) if text else text


def _parse_pads(value: object) -> object:
    """Return the pads, the nearest first, as a tuple."""
    pads = tuple(cast("list[object]", value)) if isinstance(value, list | tuple) else ("none",)
    if not are_distinct_pads(pads):
        raise InvalidValueError("must be a list of pads from 1 to 4, each once")
    return pads


def _parse_options(value: object) -> object:
    """Return the options as text, the way the command line would write them."""
    if not isinstance(value, dict):
        return value
    found: list[SettingsIssue] = []
    texts: dict[str, str] = {}
    for key, given in cast("dict[str, object]", value).items():
        match given:
            case bool():
                texts[key] = "true" if given else "false"
            case str() | int() | float():
                texts[key] = str(given)
            case list() if all(isinstance(one, str) for one in cast("list[object]", given)):
                texts[key] = ",".join(cast("list[str]", given))
            case _:
                found.append(
                    SettingsIssue(
                        (key,), "must be text, a number, or true or false, not {given}", given=format_value(given)
                    )
                )
    raise_issues(found)
    return texts


def _check_pin(number: int) -> int:
    if number == 0 or number in PINS:
        return number
    raise InvalidValueError(
        "must be a BCM number from {low} to {high}, or 0 for no button, not {number}",
        low=PINS[0],
        high=PINS[-1],
        number=number,
    )


def _check_sound_device(text: str) -> str:
    if re.match("(hw|dmix|dsnoop):", text):  # these play a recording of another rate too high or too low, or not at all
        raise InvalidValueError(
            'plays only its own kind of sound: write it as "plughw:...", not {text}', text=format_value(text)
        )
    if text and text.isprintable() and not text.startswith("-") and len(text) <= 200:
        return text
    raise InvalidValueError("must be a loudspeaker as 'aplay -L' lists it, not {text}", text=format_value(text))


def _takes(words: str, /, **values: object) -> Any:
    """Return the part of a field's type that describes the allowed values in `words`, whose places `values` fill."""
    return Field(json_schema_extra={"takes": Sentence(words, **values)})


Pin = Annotated[int, Field(ge=PINS[0], le=PINS[-1])]
PinOrNone = Annotated[
    int, AfterValidator(_check_pin), _takes("0, or a whole number from {low} to {high}", low=PINS[0], high=PINS[-1])
]
Pads = Annotated[tuple[int, ...], BeforeValidator(_parse_pads), _takes("a list of pads, nearest first: [2, 3, 1, 4]")]
Port = Annotated[str, AfterValidator(_check_port), _takes('"none" or a path like "/dev/ttyACM1"')]
BoardPort = Annotated[
    str,
    AfterValidator(_check_board_port),
    _takes('"auto", "none", "pins", "/dev/ttyACM0", or a driver'),
]
_STRIPS, _BUTTONS = InstalledName(STRIPS), InstalledName(BUTTONS)
_SCENES, _OBSERVERS = InstalledName(SCENES, ("",)), InstalledName(OBSERVERS, ())
StripDriver = Annotated[str, _STRIPS, AfterValidator(_STRIPS.check)]
ButtonDriver = Annotated[str, _BUTTONS, AfterValidator(_BUTTONS.check)]
Scene = Annotated[str, _SCENES, AfterValidator(_SCENES.check), _takes("the name of an installed scene, or empty")]
Observers = Annotated[
    tuple[Annotated[str, AfterValidator(_OBSERVERS.check)], ...],
    BeforeValidator(_as_tuple),
    _takes('a list of names of installed observers: ["my_log"]'),
]
Profile = Annotated[
    str,
    _matches(r"|[A-Za-z0-9][A-Za-z0-9_-]{0,39}", "up to 40 letters, digits, - and _"),
    _takes("the name of a profile, in quotes"),
]
SoundDevice = Annotated[str, AfterValidator(_check_sound_device), _takes("the name of a loudspeaker, in quotes")]

Name = Annotated[str, AfterValidator(_check_name), _takes("a name of {length}", length=NAME_LENGTH)]
OptionalName = Annotated[
    str,
    AfterValidator(lambda text: _check_name(text) if text else text),
    _takes("a name of up to {most} characters, or empty", most=MAX_NAME_CHARS),
]
Words = Annotated[str, AfterValidator(_check_words), _takes("a text of up to 300 characters")]
Exceptions = Annotated[dict[str, Any], _takes("a section")]
Options = Annotated[dict[str, str], BeforeValidator(_parse_options), _takes("a section")]

Address = Annotated[
    str,
    _matches(f"|{_ADDRESS}", 'an address like "mat.example" or "http://mat.example:8080"'),
    _takes('an address: "http://mat.example:8080"'),
]
IpAddress = Annotated[str, AfterValidator(_parse_ip_address), _takes('an address in numbers: "127.0.0.1"')]
ShortName = Annotated[
    str, _matches(f"|{_SHORT_NAME}", "up to 31 small letters, digits, - and _"), _takes('a short name: "t01", or empty')
]
Host = Annotated[str, AfterValidator(_check_host)]
WebHost = Annotated[Host, _takes("an address or a host name")]
HostOrNone = Annotated[
    str, AfterValidator(lambda text: text and _check_host(text)), _takes("an address or a host name, or empty")
]
Hosts = Annotated[tuple[str, ...], BeforeValidator(_check_hosts), _takes('a list of names: ["mat.example"]')]
Origins = Annotated[
    tuple[str, ...], BeforeValidator(_check_origins), _takes('a list of sites: ["https://museum.example"]')
]

_TAKES_URL = 'an address like "https://example.org/moccasin", or empty'
_URL = r"https?://[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?(/[!-~]{0,1000})?"
Url = Annotated[str, _matches(f"|{_URL}", _TAKES_URL), _takes(_TAKES_URL)]

_TAKES_DAY = 'a month and a day like "11-01", or empty'
Day = Annotated[str, _matches(r"|(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", _TAKES_DAY), _takes(_TAKES_DAY)]
_TAKES_HOUR = 'a time of day like "21:30", or empty'
Hour = Annotated[str, _matches(f"|{_HOUR}", _TAKES_HOUR), _takes(_TAKES_HOUR), TimeOfDay()]
_TAKES_TEST_HOUR = 'a time of day like "03:00", "off", or empty'
TestHour = Annotated[str, _matches(f"|off|{_HOUR}", _TAKES_TEST_HOUR), _takes(_TAKES_TEST_HOUR)]

_TAKES_FILE, _TAKES_FOLDER = _takes("the path of a file, in quotes"), _takes("the path of a folder, in quotes")
File = Annotated[Path, BeforeValidator(_parse_path), SettingsPath(), _TAKES_FILE]
Folder = Annotated[Path, BeforeValidator(_parse_path), SettingsPath(), _TAKES_FOLDER]
OptionalPath = Annotated[str, AfterValidator(_parse_optional_path), SettingsPath()]
"""The path of a file or folder, or an empty text."""
OptionalFile = Annotated[OptionalPath, _TAKES_FILE]
OptionalFolder = Annotated[OptionalPath, _TAKES_FOLDER]
Images = Annotated[
    tuple[Annotated[str, AfterValidator(_parse_optional_path), SettingsPath()], ...],
    BeforeValidator(_as_tuple),
    Field(max_length=2),
    _takes('a list of up to two files: ["ours.png"]'),
]
_TAKES_COLOUR = 'a colour like "#7a1f1f", or empty'
Colour = Annotated[str, _matches("|#[0-9A-Fa-f]{6}", _TAKES_COLOUR), _takes(_TAKES_COLOUR)]
Language = Annotated[
    str,
    AfterValidator(_check_language),
    SettingsPath(is_file),
    _takes('the code of a language, "en", or its catalogue, "/srv/dak.po"'),
]
"""The code of a language, or the path of its catalogue."""
Languages = Annotated[
    tuple[Language, ...],
    BeforeValidator(_as_tuple),
    AfterValidator(_check_languages),
    _takes('a list of languages: ["en", "/srv/dak.po"]'),
]
