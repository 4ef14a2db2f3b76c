"""Reads a TOML file into a pydantic model; reports every fault at once, each with its line, in plain words."""

from __future__ import annotations

import logging
import re
import tomllib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from pi_controller.errors import SettingsError
from pi_controller.games.wording import nearest, shown
from pi_controller.table.toml_lines import key_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

log = logging.getLogger(__name__)
MOST_BYTES = 262_144
"""A settings file is some hundred lines; anything far larger is another file."""
_EXAMPLE = "'moccasin-mat check-settings --example' prints a settings file"
_SYNTAX = {
    "Cannot overwrite a value": "this key stands here for the second time",
    "Invalid value": 'this is no value: text needs quotes, like "this"',
    "Invalid statement": "this is neither a [section] nor key = value",
}
_TWICE = re.compile(r"Cannot declare \((.*?),?\) twice")
_AT = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")

Keys = tuple[str, ...]
Model = TypeVar("Model", bound=BaseModel)


class Fault(NamedTuple):
    """What is wrong with the value at `keys`."""

    keys: Keys
    text: str


def faults(found: Iterable[Fault]) -> PydanticCustomError:
    """Return the error by which a validator tells several faults at once, their keys counted from its own place."""
    return PydanticCustomError("faults", "several faults", {"found": tuple(found)})


def read_model(
    path: Path,
    model: type[Model],
    also: Callable[[dict[str, Any]], Iterable[Fault]] | None = None,
    former: Mapping[Keys, str] | None = None,
    todo: str = _EXAMPLE,
) -> Model:
    """Return the file `path` as a `model`.

    `also` looks for faults between sections, which no section can see by itself. `former` are keys and sections under
    the name they once had, with their name of today: they are still read, and the log tells the name of today. `todo`
    says what helps where anything is wrong. Raises `SettingsError`: `what` lists every fault as `FILE:LINE: ...`, one
    a line in the order of the file.
    """
    text = _read(path, todo)
    data = _parse(path, text, todo)
    renamed, found = _renamed(data, former or {})
    read: Model | None = None
    try:
        read = model.model_validate(data)
    except ValidationError as error:
        for details in error.errors():
            found += faults_of(model, details)
    found += [] if also is None else also(data)
    lines = key_lines(text) if found or renamed else {}
    if found or read is None:
        found = [Fault(_written(fault.keys, renamed), fault.text) for fault in found]
        placed = sorted(((_line(lines, fault.keys), fault) for fault in found), key=lambda one: one[0])
        raise SettingsError(
            "\n".join(f"{path}:{line}: {_named(fault.keys)}{fault.text}" for line, fault in placed), todo
        )
    for now, once in renamed.items():
        log.warning("%s:%s: %sis now called %s", path, _line(lines, once), _named(once), now[-1])
    return read


def fields(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo, type[BaseModel] | None]]:
    """Yield (key, field, section's model or None) for every key of a model."""
    for key, field in model.model_fields.items():
        kind = field.annotation
        yield key, field, kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def takes(field: FieldInfo) -> str:
    """Return what a field takes, for people: `a whole number from 0 to 65535`."""
    extra = cast("object", field.json_schema_extra)  # pyright: ignore[reportUnknownMemberType]
    if isinstance(extra, dict) and "takes" in extra:
        return str(cast("dict[str, object]", extra)["takes"])
    kind = field.annotation
    if get_origin(kind) is Literal:
        return " or ".join(f'"{word}"' for word in get_args(kind))
    bounds = {
        name: getattr(rule, name) for rule in field.metadata for name in ("ge", "gt", "le") if hasattr(rule, name)
    }
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "text in quotes"}
    type_name = words[cast("type", kind)]
    if "ge" in bounds and "le" in bounds:
        return f"{type_name} from {bounds['ge']:g} to {bounds['le']:g}"
    return type_name


def _read(path: Path, todo: str) -> str:
    if path.is_dir():
        raise SettingsError(f"{path} is a folder, not a settings file", todo)
    if path.exists() and not path.is_file():
        raise SettingsError(f"{path} is not a file", todo)
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise SettingsError(f"there is no settings file {path}", todo) from error
    except (OSError, ValueError) as error:
        raise SettingsError(f"the settings file {str(path)!r} cannot be read: {error}", todo) from error
    if len(data) > MOST_BYTES:
        raise SettingsError(f"{path} is too large for a settings file", todo)
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{path}:{line}: this is not UTF-8 text", "save the file as UTF-8") from error


def _parse(path: Path, text: str, todo: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise SettingsError(f"{path}: brackets in brackets without end", todo) from error
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        at = _AT.search(message)
        line = at[1] if at is not None and at[1] else str(text.count("\n") + 1)
        what = _AT.sub("", message)
        if twice := _TWICE.fullmatch(what):
            what = f"the section [{twice[1].replace(', ', '.').replace(chr(39), '')}] stands here for the second time"
        raise SettingsError(f"{path}:{line}: {_SYNTAX.get(what, what)}", todo) from error
    except ValueError as error:  # Python reads no whole number of thousands of digits
        raise SettingsError(f"{path}: a number is far too long", todo) from error


def _renamed(data: dict[str, Any], former: Mapping[Keys, str]) -> tuple[dict[Keys, Keys], list[Fault]]:
    """Give what stands in `data` under a former key its name of today.

    Return those keys, as they are called now: as they are written; and a fault for each that stands under both names.
    """
    renamed: dict[Keys, Keys] = {}
    found: list[Fault] = []
    for once, name in former.items():
        around: object = data
        for key in once[:-1]:
            around = cast("dict[str, object]", around).get(key) if isinstance(around, dict) else None
        if not isinstance(around, dict) or once[-1] not in around:
            continue
        section = cast("dict[str, object]", around)
        value = section.pop(once[-1])
        if name in section:
            found.append(Fault(once, f"is now called {name}, which stands here too: delete one"))
        else:
            section[name] = value
            renamed[*once[:-1], name] = once
    return renamed, found


def _written(keys: Keys, renamed: Mapping[Keys, Keys]) -> Keys:
    """Return `keys` under the names by which the file writes them."""
    for now, once in renamed.items():
        if keys[: len(now)] == now:
            return (*once, *keys[len(now) :])
    return keys


def faults_of(model: type[BaseModel], details: ErrorDetails) -> list[Fault]:
    """Return one of pydantic's errors about a `model` in our words."""
    keys = tuple(map(str, details["loc"]))
    context = details.get("ctx", {})
    match details["type"]:
        case "faults":
            return [Fault((*keys, *fault.keys), fault.text) for fault in cast("tuple[Fault, ...]", context["found"])]
        case "extra_forbidden":
            return [Fault(keys, _unknown(model, keys, details["input"]))]
        case "model_type" | "model_attributes_type" | "dict_type":
            return [Fault(keys, f"this is a section: write [{'.'.join(keys)}] on a line of its own")]
        case "value_error":
            return [Fault(keys, str(context["error"]))]
        case _:
            field = _field(model, keys)
            wanted = details["msg"] if field is None else f"must be {takes(field)}"
            near = ""
            if field is not None and get_origin(field.annotation) is Literal and isinstance(details["input"], str):
                near = nearest(details["input"], get_args(field.annotation))
            return [Fault(keys, f"{wanted}, not {shown(details['input'])}{near}")]


def _unknown(model: type[BaseModel], keys: Keys, value: object) -> str:
    here = _section(model, keys[:-1])
    known = {} if here is None else here.model_fields
    what = "section" if isinstance(value, dict) else "key"
    if near := nearest(keys[-1], known):
        return f"there is no such {what}{near}"
    elsewhere = [f"[{'.'.join(path)}]" for path, section in _sections(model) if keys[-1] in section.model_fields]
    if elsewhere:
        return f"there is no such {what} here; it belongs to {' or '.join(elsewhere)}"
    return f"there is no such {what}; there are: {', '.join(known)}"


def _sections(model: type[BaseModel], path: Keys = ()) -> Iterator[tuple[Keys, type[BaseModel]]]:
    for key, _, section in fields(model):
        if section is not None:
            yield (*path, key), section
            yield from _sections(section, (*path, key))


def _section(model: type[BaseModel], path: Keys) -> type[BaseModel] | None:
    return dict([((), model), *_sections(model)]).get(path)


def _field(model: type[BaseModel], keys: Keys) -> FieldInfo | None:
    section = _section(model, keys[:-1])
    return None if section is None else section.model_fields.get(keys[-1])


def _line(lines: dict[Keys, int], keys: Keys) -> int:
    """Return the line of a key, or of the nearest section around it that stands in the file."""
    while keys and keys not in lines:
        keys = keys[:-1]
    return lines.get(keys, 1)


def _named(keys: Keys) -> str:
    section, key = ".".join(keys[:-1]), keys[-1] if keys else ""
    return f"[{section}] {key}: " if section else f"{key}: " if key else ""
