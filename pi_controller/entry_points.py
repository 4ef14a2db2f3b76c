"""Find and load what other packages add: games, drivers, scenes and observers, each in its entry point group."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any

from pi_controller.errors import UsageError, describe_error
from pi_controller.text import Sentence, did_you_mean, format_value, join_words

STRIPS, BUTTONS, BOARDS = "moccasin_mat.strips", "moccasin_mat.buttons", "moccasin_mat.boards"
GAMES, SCENES, OBSERVERS = "moccasin_mat.games", "moccasin_mat.scenes", "moccasin_mat.observers"
"""The entry point groups."""


class PluginError(UsageError):
    """Something of another package that cannot be used."""

    code = "plugin"


@cache
def find_entry_points(group: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points of other packages in `group` by name; several for one name if packages conflict.

    Cached: call `find_entry_points.cache_clear()` after installing or removing a package.
    """
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        if point not in found.get(point.name, ()):
            found[point.name] = (*found.get(point.name, ()), point)
    return found


def load_function(group: str, name: str, built_in: Mapping[str, str] = MappingProxyType({})) -> Callable[..., Any]:
    """Return the function that the entry point `name` of `group` names. Raises `PluginError`.

    `built_in` are this package's own, "module:function" by name, as an entry point has them.
    """
    found = {**find_entry_points(group), **{own: (EntryPoint(own, to, group),) for own, to in built_in.items()}}
    if name not in found:
        raise PluginError(
            "there is no {kind} {name}{suggestion}",
            "known: {names}",
            kind=kind_of(group),
            name=format_value(name),
            suggestion=did_you_mean(name, found),
            names=join_words(found) or Sentence("none is installed"),
        )
    made: object = load_entry_point(*found[name])
    if not callable(made):
        raise unusable(found[name][0], f"{found[name][0].value} is no function")
    return made


def load_entry_point(point: EntryPoint, *others: EntryPoint) -> Any:
    """Return what `point` names. Raises `PluginError` if its import fails, or `others` have the same name."""
    if others:
        raise unusable(point, f"{describe_package(others[0])} has one of that name too")
    try:
        return point.load()
    except Exception as error:
        raise unusable(point, f"{type(error).__name__}: {describe_error(error)}") from error


def unusable(point: EntryPoint, why: str) -> PluginError:
    """Return the error that says why `point` cannot be used, and whose it is."""
    return PluginError(
        "the {kind} {name} of {package} cannot be used: {why}",
        "update or uninstall that package, or take its name out of the settings",
        kind=kind_of(point.group),
        name=format_value(point.name),
        package=describe_package(point),
        why=why,
    )


def kind_of(group: str) -> str:
    """Return what the entry points of `group` are, in one word.

    >>> kind_of("moccasin_mat.scenes")
    'scene'
    """
    return group.rpartition(".")[2].removesuffix("s")


def describe_package(point: EntryPoint) -> str:
    """Return the name and version of the package that an entry point belongs to."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
