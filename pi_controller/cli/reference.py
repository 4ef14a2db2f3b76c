"""Generate shell completion and the manual page from the parsers of all verbs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from pi_controller import __version__
from pi_controller.cli.arguments import INSTALLED, Parser
from pi_controller.cli.commands import GROUPS, NOUNS
from pi_controller.errors import UsageError
from pi_controller.referee.settings import PRESETS
from pi_controller.rules import registry
from pi_controller.rules.options import format_option

SHELLS = ("bash", "zsh", "tcsh")
_FILES = ("FILE", "FILE.wav", "FILE.zip", "NEW", "FOLDER", "DIR", "JOURNAL", "RECORDING", "TRUTH")
"""Names of arguments that a shell completes with file names."""


Verbs = Mapping[str, tuple[str, argparse.ArgumentParser]]
"""Purpose and parser of each verb."""


def _root(verbs: Verbs) -> argparse.ArgumentParser:
    """Return the parser of the whole command with all verbs."""

    def parser_of(prog: str, **_: Any) -> argparse.ArgumentParser:
        """Return the parser of the command or noun that `prog` ends with."""
        name = prog.removeprefix("moccasin-mat ")
        return verbs[name][1] if name in verbs else Parser(name, "")

    parser = argparse.ArgumentParser("moccasin-mat", add_help=False)
    parser.add_argument("-h", "--help", action="store_true", help="list the verbs")
    parser.add_argument("-V", "--version", action="store_true", help="show the version")
    made_by = cast("type[argparse.ArgumentParser]", parser_of)  # argparse only calls it
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=made_by)
    nouns = {
        noun: commands.add_parser(noun, help=purpose).add_subparsers(metavar="ACTION", parser_class=made_by)
        for noun, purpose in NOUNS.items()
    }
    for name, (purpose, _) in verbs.items():
        noun, _, action = name.rpartition(" ")
        nouns.get(noun, commands).add_parser(action, help=purpose)
    helper = commands.add_parser("help", help="show the arguments of a command")
    helper.add_argument(
        "about", metavar="COMMAND", choices=[name for names in GROUPS.values() for name in names], help="the command"
    )
    return parser


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions  # noqa: SLF001 - argparse has no other list of them


def _walk_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of `parser` and of all parsers below it."""
    for action in _actions(parser):
        yield action
        if action.nargs == argparse.PARSER:
            for below in cast("dict[str, argparse.ArgumentParser]", action.choices).values():
                yield from _walk_actions(below)


def _list_values() -> dict[str, Sequence[str]]:
    """Return the values that a shell offers for an option or an argument: games, options with defaults, presets."""
    games = registry.names()
    options = (option for game in games for option in registry.game_class(game).options)
    settings = [*dict.fromkeys(f"{option.name}={format_option(option.default)}" for option in options)]
    return {"--game": games, "GAME": games, "--set": settings, "--preset": [*PRESETS]}


def completion(shell: str, verbs: Verbs) -> str:
    """Return the completion script of `verbs` for `shell`. Raises `UsageError` for an unknown shell."""
    from pi_controller.extras import requires_extra

    with requires_extra("completion", "completion"):
        import shtab

    if shell not in SHELLS:
        raise UsageError(f"there is no completion for the shell {shell[:40]!r}", f"choose one of: {', '.join(SHELLS)}")
    whole = _root(verbs)
    values = _list_values()
    for action in _walk_actions(whole):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # pyright: ignore[reportAttributeAccessIssue] - as shtab wants it
        for name in (*action.option_strings, action.metavar):
            action.choices = action.choices or values.get(str(name))
    return shtab.complete(whole, shell)


def manual(verbs: Verbs) -> str:
    """Return the manual page of `verbs`, moccasin-mat(1), for man(7)."""
    return "\n".join(_page(verbs)) + "\n"


def _page(verbs: Verbs) -> Iterator[str]:
    yield f'.TH MOCCASIN\\-MAT 1 "" "moccasin\\-mat {__version__}"'
    yield from (".SH NAME", "moccasin\\-mat \\- controller of an instrumented mat for the Moccasin Game")
    yield from (".SH SYNOPSIS", ".B moccasin\\-mat", "COMMAND [OPTION]...")
    yield ".SH COMMANDS"
    for verb, (purpose, parser) in verbs.items():
        yield from (f".SS {_escape_roff(verb)}", _escape_roff(f"{purpose[0].upper()}{purpose[1:]}."), ".PP")
        yield from (
            _escape_roff(" ".join(parser.format_usage().split())),
            ".PP",
            _escape_roff(parser.description or ""),
        )
        yield from _arguments(_actions(parser))
        yield from (".PP", ".nf", *map(_escape_roff, (parser.epilog or "").splitlines()), ".fi")
    yield from (".SH FILES", ".TP", f".I {_escape_roff(str(INSTALLED))}")
    yield _escape_roff("The settings of the installed table, the default of --settings.")


def _arguments(actions: Iterable[argparse.Action]) -> Iterator[str]:
    for action in actions:
        metavar = action.metavar if isinstance(action.metavar, str) else ""
        if not metavar and action.choices is not None:
            metavar = f"{{{','.join(map(str, action.choices))}}}"
        takes = metavar or (action.dest.upper() if action.nargs != 0 else "")
        names = ", ".join(action.option_strings)
        yield from (
            ".TP",
            f".B {_escape_roff(' '.join(filter(None, (names, takes))))}",
            _escape_roff(action.help or ""),
        )


def _escape_roff(text: str) -> str:
    """Return `text` escaped for man(7), so that no part is a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
