"""Hierarchy of errors: each has a message, a hint what to do, and a stable code.

Every error that the project raises on purpose is a `MatError` and also the builtin that a caller would expect
(`SettingsError` is a `ValueError`, `PortError` an `OSError`). The message and the hint are one line each; the command
line prints both and exits with status 2.
"""

from __future__ import annotations

import re

from pi_controller.text import Sentence

EXIT_STATUSES = "2 invalid arguments or impossible; 130 interrupted."
"""Exit statuses common to all verbs of the command."""


class MatError(Exception):
    r"""Base class of all errors that a person can act on.

    The first argument is the message, the second the hint (may be empty), both in English; `values` fill their places
    in braces; `sentences` are both, to be translated. `code` names the kind of error for scripts and help.

    >>> str(MatError("{pad} is not a pad", "choose 1 to 4", pad=7))
    '7 is not a pad\nchoose 1 to 4'
    """

    code = "mat"

    def __init__(self, message: str, hint: str = "", /, **values: object) -> None:
        super().__init__(message)
        self.sentences = Sentence(message, **values), Sentence(hint, **values)
        self.message, self.hint = map(str, self.sentences)

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


_NUMBER = re.compile(r"\[(?:Errno|WinError) [^\]]*\] ")


def describe_error(error: BaseException) -> str:
    """Return why `error` happened, for a message to people: without the system's number and in one line.

    A `MatError` keeps its lines, the message and the hint.

    >>> describe_error(PermissionError(13, "Permission denied", "table.toml"))
    'Permission denied'
    >>> describe_error(RuntimeError("[Errno 2] No such file or directory"))
    'No such file or directory'
    """
    if isinstance(error, MatError):
        return str(error)
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8 text"
    text = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return " ".join(_NUMBER.sub("", text).split()) or type(error).__name__


class UsageError(MatError, ValueError):
    """The command line or a line typed at the console is not valid."""

    code = "usage"


class SettingsError(MatError, ValueError):
    """The settings are not valid; the message lists every fault, one a line."""

    code = "settings"

    @property
    def places(self) -> list[str]:
        """The place of each fault, without the value written there: it may be a name or a password."""
        return [re.sub(r"(:\d+: \[[\w.]+\] \w+|:\d+): .*", r"\1", line) for line in self.message.splitlines()]


class PortError(MatError, OSError):
    """The port of the mat board cannot be opened, read or written.

    `public` is the message and hint in one line, for the journal and the pages: give it a message of its own if this
    one contains a path, and put what they should not show of the hint into `private`, its end.
    """

    code = "port"

    def __init__(self, message: str, hint: str = "", public: str = "", *, private: str = "") -> None:
        super().__init__(message, hint + private)
        self.public = ": ".join(filter(None, (public or message, hint)))


class JournalError(MatError, RuntimeError):
    """The journal cannot be opened, read or written; play stops until it can."""

    code = "journal"


class DamagedJournalError(JournalError):
    """The journal's file is damaged; `journal.recover` may recover records from it."""
