"""Read a TOML file into a model of settings; report every issue at once, with section, key and line."""

import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from pi_controller.config.fields import Keys, Section, SettingsIssue, describe_values, list_fields
from pi_controller.config.model import Settings
from pi_controller.errors import SettingsError, describe_error
from pi_controller.text import Sentence, did_you_mean, format_value, join_or, join_words, mark

MAX_BYTES = 262_144
"""A settings file has some hundred lines; a far larger file is another one."""
_EXAMPLE_HINT = Sentence("'moccasin-mat settings example' prints a settings file")
_SYNTAX = {
    "Cannot overwrite a value": Sentence("this key is here twice"),
    "Invalid value": Sentence('this is not a value: text needs quotes, like "this"'),
    "Invalid statement": Sentence("this is neither a [section] nor key = value"),
}
_TWICE = re.compile(r"Cannot declare \((.*?),?\) twice")
_AT = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")

Model = TypeVar("Model", bound=Section)


def read_settings(path: Path | str) -> Settings:
    """Return the settings of a table in the TOML file `path`; paths in it are relative to its folder.

    Raises `SettingsError` with every issue and its line.
    """
    return read_model(Path(path), Settings)


def read_model(path: Path, model: type[Model], hint: str = _EXAMPLE_HINT) -> Model:
    """Return the TOML file `path` as a `model`; paths in it are relative to its folder.

    Raises `SettingsError` with `hint`; it lists every issue as `FILE:LINE: ...`, one a line in the order of the file.
    """
    return parse_model(path, read_text(path, hint), model, hint).resolve_paths(path.parent)


def validate_data(model: type[Model], data: dict[str, Any]) -> tuple[Model | None, list[SettingsIssue]]:
    """Return `data` as a `model`, or None, and its issues: in sections and between them."""
    try:
        found = model.model_validate(data)
    except ValidationError as error:
        details = error.errors()
    else:
        issues = found.find_conflicts()
        return (None if issues else found), issues
    issues = [issue for one in details for issue in _translate_error(model, one)]
    faulty = {str(one["loc"][0]) for one in details}
    rest = {key: value for key, value in data.items() if key not in faulty}
    with suppress(ValidationError):  # a model may require the faulty key
        issues += model.model_validate(rest).find_conflicts(faulty)
    return None, issues


def key_lines(text: str) -> dict[Keys, int]:
    """Return the line (from 1) of the first place of each key and section: `{("web", "port"): 12, ...}`.

    `text` must be TOML that `tomllib` takes, which returns values without lines; so each statement is read alone. Of an
    array only the key is listed.
    """
    lines: dict[Keys, int] = {}
    section: Keys = ()
    statement, first = "", 1
    for number, row in enumerate(text.split("\n"), 1):
        statement, first = (f"{statement}\n{row}", first) if statement else (row, number)
        try:
            data = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue  # the value goes on in the next line
        if statement.lstrip().startswith("["):
            section = ()
            *_, section = _list_keys(data, ())
            data, before = dict[str, Any](), section
            lines |= {before[:n]: first for n in range(1, len(before) + 1) if before[:n] not in lines}
        for keys in _list_keys(data, section):
            lines.setdefault(keys, first)
        statement = ""
    return lines


def _list_keys(data: dict[str, Any], path: Keys) -> Iterator[Keys]:
    for key, value in data.items():
        yield (*path, key)
        if isinstance(value, dict):
            yield from _list_keys(cast("dict[str, Any]", value), (*path, key))


def parse_model(path: Path, text: str, model: type[Model], hint: str = _EXAMPLE_HINT) -> Model:
    """Return `text`, the content of the file `path`, as a `model`, with paths unchanged. Raises `SettingsError`."""
    found, issues = validate_data(model, _parse(path, text, hint))
    if issues or found is None:
        lines = key_lines(text)
        placed = sorted(((_line_of(lines, issue.keys), issue) for issue in issues), key=lambda one: one[0])
        lists = (Sentence.concat("", (f"{path}:{line}: {_format_keys(one.keys)}", one.text)) for line, one in placed)
        raise SettingsError(Sentence.concat("\n", lists), hint)
    return found


def decode_text(data: bytes) -> str:
    """Return the text of a file that a person wrote: without a byte order mark, its line ends as \\n.

    Raises `UnicodeDecodeError`.
    """
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def read_text(path: Path, hint: str = _EXAMPLE_HINT) -> str:
    """Return the text of a settings file, its line ends as \\n. Raises `SettingsError`."""
    if path.is_dir():
        raise SettingsError("{path} is a folder, not a settings file", hint, path=path)
    if path.exists() and not path.is_file():
        raise SettingsError("{path} is not a file", hint, path=path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise SettingsError("there is no settings file {path}", hint, path=path) from error
    except (OSError, ValueError) as error:
        raise SettingsError(
            "the settings file {path} cannot be read: {why}", hint, path=f"{str(path)!r}", why=describe_error(error)
        ) from error
    if len(data) > MAX_BYTES:
        raise SettingsError("{path} is too large for a settings file", hint, path=path)
    try:
        return decode_text(data)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError(
            "{path}:{line}: this is not UTF-8 text", "save the file as UTF-8", path=path, line=line
        ) from error


def _parse(path: Path, text: str, hint: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise SettingsError("{path}: brackets are nested too deeply", hint, path=path) from error
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        at = _AT.search(message)
        line = at[1] if at is not None and at[1] else str(text.count("\n") + 1)
        what = _AT.sub("", message)
        if twice := _TWICE.fullmatch(what):
            name = twice[1].replace(", ", ".").replace("'", "")
            what = Sentence("the section [{name}] is here twice", name=name)
        raise SettingsError(
            "{path}:{line}: {problem}", hint, path=path, line=line, problem=_SYNTAX.get(what, what)
        ) from error
    except ValueError as error:  # Python reads no whole number of thousands of digits
        raise SettingsError("{path}: a number is far too long", hint, path=path) from error


def _translate_error(model: type[BaseModel], details: ErrorDetails) -> list[SettingsIssue]:
    """Return one of pydantic's errors about a `model` in plain words."""
    keys = tuple(map(str, details["loc"]))
    context = details.get("ctx", {})
    match details["type"]:
        case "issues":
            found = cast("tuple[SettingsIssue, ...]", context["found"])
            return [SettingsIssue((*keys, *issue.keys), issue.text) for issue in found]
        case "extra_forbidden":
            return [SettingsIssue(keys, _explain_unknown_key(model, keys, details["input"]))]
        case "model_type" | "model_attributes_type" | "dict_type":
            return [SettingsIssue(keys, "this is a section: write [{name}] on a line of its own", name=".".join(keys))]
        case "value_error":
            return [SettingsIssue(keys, context["error"].args[0])]
        case _:
            field = _find_field(model, keys)
            wanted = details["msg"] if field is None else Sentence("must be {values}", values=describe_values(field))
            near = Sentence("")
            if field is not None and get_origin(field.annotation) is Literal and isinstance(details["input"], str):
                near = did_you_mean(details["input"], map(str, get_args(field.annotation)))
            words, value = mark("{wanted}, not {value}{near}"), format_value(details["input"])
            return [SettingsIssue(keys, words, wanted=wanted, value=value, near=near)]


def _explain_unknown_key(model: type[BaseModel], keys: Keys, value: object) -> Sentence:
    here = _find_section(model, keys[:-1])
    known = {} if here is None else here.model_fields
    what = Sentence("there is no such section" if isinstance(value, dict) else "there is no such key")
    if near := did_you_mean(keys[-1], known):
        return Sentence.concat("", (what, near))
    elsewhere = [f"[{'.'.join(path)}]" for path, section in _list_sections(model) if keys[-1] in section.model_fields]
    if elsewhere:
        return Sentence("{what} here; it belongs to {places}", what=what, places=join_or(elsewhere))
    return Sentence("{what}; there are: {keys}", what=what, keys=join_words(known))


def _list_sections(model: type[BaseModel], path: Keys = ()) -> Iterator[tuple[Keys, type[BaseModel]]]:
    for key, _, section in list_fields(model):
        if section is not None:
            yield (*path, key), section
            yield from _list_sections(section, (*path, key))


def _find_section(model: type[BaseModel], path: Keys) -> type[BaseModel] | None:
    return dict([((), model), *_list_sections(model)]).get(path)


def _find_field(model: type[BaseModel], keys: Keys) -> FieldInfo | None:
    section = _find_section(model, keys[:-1])
    return None if section is None else section.model_fields.get(keys[-1])


def _line_of(lines: dict[Keys, int], keys: Keys) -> int:
    """Return the line of a key, or of the nearest section around it that the file has."""
    while keys and keys not in lines:
        keys = keys[:-1]
    return lines.get(keys, 1)


def _format_keys(keys: Keys) -> str:
    """Return `keys` as the start of a message: `[buttons.pins] ready: `."""
    section, key = ".".join(keys[:-1]), keys[-1] if keys else ""
    return f"[{section}] {key}: " if section else f"{key}: " if key else ""
