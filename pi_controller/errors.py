"""The hierarchy of errors: each says what is wrong and what to do, and has a stable code.

Every error the project raises on purpose is a `MatError` and also the builtin a caller would expect
(`SettingsError` is a `ValueError`, `PortError` an `OSError`). `what` and `todo` are one line each; the command
line prints both and exits with status 2.
"""

from __future__ import annotations

INSTALL_PI = "install the packages for a Pi: pip install '.[pi]' in the clone (hardware/INSTALL.md)"
INSTALL_LIGHTS = "install the packages for light strips: pip install '.[pi-lights]' in the clone (hardware/INSTALL.md)"


class MatError(Exception):
    """Something went wrong that a person can act on.

    `what` says what is wrong, `todo` what to do (may be empty), `code` names the kind of error for scripts and help.
    """

    code = "mat"

    def __init__(self, what: str, todo: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.todo = todo

    def __str__(self) -> str:
        return f"{self.what}\n{self.todo}" if self.todo else self.what


class UsageError(MatError, ValueError):
    """The command line asks for something there is not."""

    code = "usage"


class SettingsError(MatError, ValueError):
    """Settings that cannot be used; `what` lists every fault, one a line."""

    code = "settings"


class PortError(MatError, OSError):
    """The board's port cannot be opened, read or written.

    `public` says all of it in one line, for the journal and the pages: it is given where `what` or `todo` names a path.
    """

    code = "port"

    def __init__(self, what: str, todo: str = "", public: str = "") -> None:
        super().__init__(what, todo)
        self.public = public or (f"{what}: {todo}" if todo else what)


class JournalError(MatError, RuntimeError):
    """The journal cannot be opened, read or written; play stops until it can."""

    code = "journal"
