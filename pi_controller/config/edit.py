"""Change a settings file from a form: all settings with their purpose and bounds, and the file with other values.

Comments and order of the file stay, and the file as it was is kept beside it. Some keys are shown and cannot be changed
here: a wrong value would lock the page that could correct it, or they are another verb's.
"""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, cast, get_args, get_origin

import msgspec
from pydantic.fields import FieldInfo

from pi_controller.config.fields import Keys, Section, TimeOfDay, describe_values, installed_mark, list_fields
from pi_controller.config.load import Model, parse_model, read_text, validate_data
from pi_controller.config.model import DEFAULT_TABLE_NAME, GameSection, Settings, table_name_of
from pi_controller.errors import SettingsError, describe_error
from pi_controller.host.files import atomic_write
from pi_controller.rules import registry
from pi_controller.rules.options import Choice, Flag, Option, format_option
from pi_controller.text import Sentence

KEPT = ".before"
"""Added to the name of a settings file: the file as it was before the last change from the page."""
_LOCKING = Sentence("Set it in the settings file: a wrong value would lock this page.")
_BY_HOST = Sentence("Set it in the settings file: it decides which program gets what the pages show.")
FIXED: Mapping[Keys, Sentence] = {
    **dict.fromkeys((("web", key) for key in ("enabled", "host", "port", "hosts", "proxy", "judges")), _LOCKING),
    ("table", "journal"): Sentence("Set it in the settings file: another journal is another game."),
    ("hub",): Sentence("'moccasin-mat hub join' sets it."),
    ("observers", "load"): _BY_HOST,
    ("strips", "scene"): _BY_HOST,
}
"""Keys and sections that cannot be changed from a page, with the reason."""
HIDDEN = frozenset({("hub", "token_file"), ("hub", "ca"), ("exhibit", "heartbeat")})
"""Keys that are not shown on a page."""
MAX_CHANGES = 200
"""Maximum keys of one change."""

Kind = Literal["switch", "choice", "number", "level", "time", "text", "list"]


class FieldContent(msgspec.Struct, frozen=True):
    """One setting. `key` is its name in the file: `web.event`.

    `takes` describes the allowed values; `choices` are all of a choice. A `level` is a share of a whole. `fixed` is why
    it cannot be changed, or "".
    """

    key: str
    about: str
    takes: Sentence
    kind: Kind
    value: Any
    default: Any
    choices: tuple[Any, ...] = ()
    least: float | None = None
    most: float | None = None
    whole: bool = False
    fixed: Sentence = Sentence("")


class SectionContent(msgspec.Struct, frozen=True):
    """A section of the file with its settings."""

    key: str
    about: str
    fields: tuple[FieldContent, ...]


class EditError(SettingsError):
    """A refused change of the settings; nothing was written. `issues` has the fault of each key."""

    def __init__(
        self, what: str, hint: str = "", /, issues: Mapping[str, Sentence] | None = None, **values: object
    ) -> None:
        super().__init__(what, hint, **values)
        self.issues = dict(issues or {})


class StaleError(EditError):
    """The file has changed since the form was read."""

    code = "stale"


def list_settings(settings: Settings) -> list[SectionContent]:
    """Return the form of `settings`, read with `read_written`."""
    return list(_list_sections(settings, Settings(), ()))


def read_written(path: Path) -> tuple[Settings, str]:
    """Return the settings in `path`, with paths as they are written, and the version of the file.

    Raises `SettingsError`.
    """
    text = read_text(path)
    return parse_model(path, text, Settings), version_of(text)


def version_of(text: str) -> str:
    """Return a short name of this content of a file, which another content does not have."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def save_changes(path: Path, changes: Mapping[str, Any], version: str) -> str:
    """Write `changes` ({"web.event": "Gathering"}) to the settings file `path`; return its new version.

    `version` is that of the file for which the changes were made. Raises `StaleError` if it is another one by now, and
    `EditError` with the fault of each key; then nothing was written.
    """
    new = change_version(path, version, changes)
    write_kept(path, new)
    return version_of(new)


def change_version(path: Path, version: str, changes: Mapping[str, Any], hub: Mapping[str, Any] | None = None) -> str:
    """Return the settings file `path`, if it has this `version`, with `changes`; see `change_text`.

    Raises `StaleError` for another version, and `EditError`.
    """
    text = read_text(path)
    if version_of(text) != version:
        raise StaleError("somebody else has changed the settings", "load them again, and make your changes once more")
    return change_text(path, text, changes, hub)


def write_kept(path: Path, new: str) -> None:
    """Replace the file `path` by `new` and keep the file as it was beside it. Raises `EditError`."""
    try:
        before, mode = path.read_bytes(), path.stat().st_mode & 0o777
        if before != new.encode():
            atomic_write(path.with_name(path.name + KEPT), before, mode)
            atomic_write(path, new.encode(), mode)
    except OSError as error:
        raise EditError(
            "the settings cannot be written: {why}",
            "check who may write to {folder}",
            why=describe_error(error),
            folder=path.parent,
        ) from error


def change_text(path: Path, text: str, changes: Mapping[str, Any], hub: Mapping[str, Any] | None = None) -> str:
    """Return `text`, the content of the settings file `path`, with `changes`. Raises `EditError` with all faults.

    `hub` has new values of the section [hub], which the page of the settings cannot change. A table that joins with the
    default name is named after its account: no two tables of a hall have the same.
    """
    before = parse_model(path, text, Settings)
    chosen = {tuple(key.split(".")): value for key, value in changes.items()}
    joined: dict[Keys, Any] = {("hub", key): value for key, value in (hub or {}).items()}
    if hub and hub.get("table") and before.table.name == DEFAULT_TABLE_NAME:
        joined["table", "name"] = table_name_of(hub["table"])
    shown = {field.key: field for section in list_settings(before) for field in section.fields}
    unknown = [key for key in changes if key not in shown]
    if unknown or not 0 < len(changes) + len(joined) <= MAX_CHANGES:
        raise EditError("this page does not have these settings: {keys}", keys=", ".join(unknown)[:200] or len(changes))
    if fixed := {key: shown[key].fixed for key in changes if shown[key].fixed}:
        raise EditError("some settings cannot be changed here", issues=fixed)
    if empty := [key for key, value in changes.items() if value is None]:
        raise EditError("some values are missing", issues=dict.fromkeys(empty, Sentence("is missing")))
    new = edit_text(text, _without_other_options(before.game, chosen) | joined)
    require_valid(Settings, tomllib.loads(new))
    return new


def _without_other_options(game: GameSection, chosen: dict[Keys, Any]) -> dict[Keys, Any]:
    """Return the changes with which options of the former game do not stay with another."""
    if (name := chosen.get(("game", "name"))) not in registry.names():
        return chosen
    known = {option.name for option in registry.game_class(str(name)).options}
    return {("game", "options", key): None for key in game.options.keys() - known} | chosen


def require_valid(
    model: type[Model],
    data: dict[str, Any],
    what: str = Sentence("some values are not allowed"),
    hint: str = Sentence("correct them and save again"),
) -> Model:
    """Return the content of an edited file as `model`. Raises `EditError` with `what`, `hint` and each key's faults."""
    made, issues = validate_data(model, data)
    if made is not None and not issues:
        return made
    found: dict[str, Sentence] = {}
    for issue in issues:
        key = ".".join(map(str, issue.keys))
        found[key] = Sentence.concat("; ", (found[key], issue.text)) if key in found else issue.text
    raise EditError(what, hint, found)


def edit_text(text: str, chosen: Mapping[Keys, Any]) -> str:
    """Return `text` with the values of `chosen` in their places, None: without the key; comments and order stay."""
    import tomlkit  # noqa: PLC0415 - few tables ever change their settings, and it loads slowly

    document = tomlkit.parse(text)
    for keys, value in chosen.items():
        section: Any = document
        for key in keys[:-1]:
            section = section.setdefault(key, tomlkit.table())
        if value is None:
            section.pop(keys[-1], None)
        else:
            section[keys[-1]] = value
    return document.as_string()


def _list_sections(model: Section, default: Section, path: Keys) -> Iterator[SectionContent]:
    """Yield the sections in `model`, each followed by those in it."""
    for key, _, section in list_fields(type(model)):
        if section is None:
            continue
        value, usual, keys = getattr(model, key), getattr(default, key), (*path, key)
        shown = [(*one, getattr(value, one[0])) for one in list_fields(section) if (*keys, one[0]) not in HIDDEN]
        plain = tuple(
            _field((*keys, name), field, held, getattr(usual, name))
            for name, field, inner, held in shown
            if inner is None and not isinstance(held, dict)
        )
        if plain:
            yield SectionContent(".".join(keys), " ".join((section.__doc__ or "").split()), plain)
        for name, field, _, held in shown:
            if isinstance(held, dict):
                table, chosen = ".".join((*keys, name)), cast("dict[str, str]", held)
                options = tuple(_option(table, one, chosen) for one in value.list_options(name))
                yield SectionContent(table, field.description or "", options)
        yield from _list_sections(value, usual, keys)


def _field(keys: Keys, field: FieldInfo, value: object, default: object) -> FieldContent:
    kind = field.annotation
    if isinstance(kind, UnionType):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    rules = {name: getattr(rule, name) for rule in field.metadata for name in ("ge", "le") if hasattr(rule, name)}
    choices: tuple[Any, ...] = get_args(kind) if get_origin(kind) is Literal else ()
    if (installed := installed_mark(field)) is not None:
        choices = installed.names
    if keys == ("game", "name"):
        choices = tuple(registry.names())
    shape: Kind = "text"
    if choices:
        shape = "choice"
    elif kind is bool:
        shape = "switch"
    elif kind is float and rules.get("le") == 1:
        shape = "level"
    elif kind in {int, float}:
        shape = "number"
    elif any(isinstance(rule, TimeOfDay) for rule in field.metadata):
        shape = "time"
    elif field.annotation is not None and get_origin(field.annotation) is tuple:
        shape = "list"
    return FieldContent(
        ".".join(keys),
        field.description or "",
        describe_values(field),
        shape,
        _plain(value),
        _plain(default),
        choices,
        rules.get("ge"),
        rules.get("le"),
        kind is int,
        next((why for fixed, why in FIXED.items() if keys[: len(fixed)] == fixed), Sentence("")),
    )


def _option(path: str, option: Option, chosen: Mapping[str, str]) -> FieldContent:
    """Return an option of the game or an exception from the preset; its value is text, as on the command line."""
    default = format_option(option.default)
    choices: tuple[str, ...] = ("true", "false") if isinstance(option, Flag) else ()
    if isinstance(option, Choice):
        choices = option.choices
    value = chosen.get(option.name, default)
    kind: Kind = "choice" if choices else "text"
    return FieldContent(f"{path}.{option.name}", option.about, option.allowed, kind, value, default, choices)


def _plain(value: object) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, tuple):
        return [_plain(one) for one in cast("tuple[object, ...]", value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)  # as people write it
    return str(value) if isinstance(value, Path) else value
