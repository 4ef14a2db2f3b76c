"""`moccasin-mat COMMAND`: `VERBS` names the module of each command. Errors are printed as a message and a hint.

The modules only parse and print. Only the smallest parts of the standard library are imported before the command is
known, and the command's own imports follow after its arguments are parsed, so that every `--help` is fast.
"""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.cli.commands import GROUPS, NOUNS, VERBS, Verb

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pi_controller.errors import UsageError


class Command(NamedTuple):
    """The functions of a command; `main` returns the exit status or raises `MatError`."""

    parser: Callable[[], ArgumentParser]
    main: Callable[[Sequence[str]], int]


def find_verb(name: str) -> Command:
    """Import and return the command `name`, such as "settings check"."""
    module, function = import_module(f"{__name__}.{VERBS[name].module}"), name.replace(" ", "_")
    return Command(getattr(module, f"{function}_parser"), getattr(module, function))


def split_command(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command's name and the arguments in `words`. Raises `UsageError` for an unknown command.

    >>> split_command(["settings", "check", "table.toml"]), split_command(["check-settings", "table.toml"])
    (('settings check', ['table.toml']), ('settings check', ['table.toml']))
    """
    for count in (2, 1):
        if (name := " ".join(words[:count])) in VERBS:
            return name, list(words[count:])
    for name, verb in sorted(VERBS.items(), key=lambda item: -len(item[1].earlier)):
        earlier, *options = verb.earlier.split() or [""]
        if earlier == words[0] and {*options} <= {*words}:
            return name, [word for word in words[1:] if word not in options]
    raise _unknown_command(words)


def _unknown_command(words: Sequence[str]) -> UsageError:
    from pi_controller.errors import UsageError

    typed = " ".join(words[: 2 if words[0] in NOUNS else 1])
    near = find_similar(typed)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "'moccasin-mat --help' lists the commands"
    return UsageError(f"there is no command {typed!r}", hint)


def find_similar(typed: str) -> list[str]:
    """Return up to three commands like `typed`: by a word of theirs, by spelling, by their group, or by their purpose.

    >>> find_similar("check"), find_similar("calibrat"), find_similar("firmware")
    (['settings check', 'mat check'], ['mat calibrate'], ['mat flash'])
    """
    import re
    from difflib import get_close_matches

    spellings = {verb.earlier: name for name, verb in VERBS.items()} | {name: name for name in VERBS}
    found = (
        [name for name in VERBS if typed in name.split()]
        or [spellings[word] for word in get_close_matches(typed, spellings, n=1, cutoff=0.7)]
        or [name for group, names in GROUPS.items() for name in names if typed in group.split()]
        or [name for name, verb in VERBS.items() if re.search(rf"\b{re.escape(typed)}", verb.purpose)]
    )
    return found[:3]


def _all_verbs() -> dict[str, tuple[str, ArgumentParser]]:
    return {name: (verb.purpose, find_verb(name).parser()) for name, verb in VERBS.items()}


def actions_of(noun: str) -> dict[str, Verb]:
    """Return the commands of `noun` by their second words."""
    return {name.removeprefix(f"{noun} "): verb for name, verb in VERBS.items() if name.startswith(f"{noun} ")}


def _format_rows(rows: Iterable[tuple[str, str]]) -> str:
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {purpose}".rstrip() for name, purpose in rows)


def _usage_rows() -> Iterator[tuple[str, str]]:
    for group, names in GROUPS.items():
        yield group, ""
        for name in names:
            actions = f"{', '.join(actions_of(name))}: " if name in NOUNS else ""
            yield f"  {name}", actions + (NOUNS.get(name) or VERBS[name].purpose)


def noun_usage(noun: str) -> str:
    """Return the help text of `noun`: its commands."""
    return (
        f"usage: moccasin-mat {noun} ACTION [OPTION]...\n\n{NOUNS[noun][0].upper()}{NOUNS[noun][1:]}.\n\n"
        f"{_format_rows((name, verb.purpose) for name, verb in actions_of(noun).items())}\n\n"
        f"'moccasin-mat {noun} ACTION --help' shows an action's options.\n"
    )


def usage() -> str:
    """Return the help text."""
    from pi_controller.errors import EXIT_STATUSES

    return (
        "usage: moccasin-mat COMMAND [OPTION]...\n\n"
        f"The controller of an instrumented mat for the Moccasin Game.\n\n{_format_rows(_usage_rows())}\n\n"
        "  -V, --version  show the version\n"
        "  -h, --help     this text; 'COMMAND --help' its actions or options\n"
        "  --print-completion SHELL  print the completion script for bash, zsh or tcsh\n"
        "  --print-manual            the manual page, for man\n\n"
        f"Exit status: 0 done; {EXIT_STATUSES} The help of a command lists its other exit statuses.\n"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status: 0 done, 2 invalid arguments or impossible, 130 interrupted."""
    from pi_controller.errors import MatError

    args = list(sys.argv[1:] if argv is None else argv)
    _use_utf8()
    try:
        match args:
            case [] | ["-h" | "--help" | "help"]:
                print(usage(), end="")
                return 0 if args else 2
            case ["-V" | "--version", *_]:
                from pi_controller import __version__

                print(f"moccasin-mat {__version__}")
                return 0
            case ["--print-completion", *shell]:
                from pi_controller.cli.reference import completion

                print(completion(" ".join(shell), _all_verbs()), end="")
                return 0
            case ["--print-manual", *_]:
                from pi_controller.cli.reference import manual

                print(manual(_all_verbs()), end="")
                return 0
            case ["help", *words]:
                return main([*words, "--help"])
            case [noun] | [noun, "-h" | "--help"] if noun in NOUNS:
                print(noun_usage(noun), end="")
                return 0 if args[1:] else 2
            case _:
                name, rest = split_command(args)
                return find_verb(name).main(rest)
    except MatError as error:
        from pi_controller.text import strip_controls

        lines = f"moccasin-mat: {error.message}" + (f"\n  {error.hint}" if error.hint else "")
        print("\n".join(map(_wrap_line, map(strip_controls, lines.split("\n")))), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # the reader has closed the pipe (`| head`): stop, and avoid a second error when Python shuts down
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _use_utf8() -> None:
    """Write UTF-8 to files and pipes, whatever the system's encoding; a terminal escapes letters that it lacks."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


def _wrap_line(line: str) -> str:
    """Return `line` wrapped at words on a terminal; a line for a file is returned unchanged."""
    from pi_controller.output import line_width, wrap_words

    indent = " " * (len(line) - len(line.lstrip()))
    return "\n".join(wrap_words(line.strip(), line_width(sys.stderr), indent, f"{indent}  "))
