"""Optional packages: the error if an extra of this package is missing, with the command that installs it.

The extras are defined in pyproject.toml. The command fits the way this program was installed: in a venv, in a clone
(editable), by pipx or by uv. It names the package alone, because pip keeps the installed version and adds only what the
extra needs.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pi_controller.errors import MatError

PACKAGE = "moccasin-mat"


class MissingExtraError(MatError, ImportError):
    """A function needs packages of an extra that is not installed."""

    code = "extra"

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs packages that are not installed", install_hint(extra))


@contextmanager
def requires_extra(extra: str, feature: str) -> Iterator[None]:
    """Raise `MissingExtraError` if an import in this block fails because a package of `extra` is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        top = (error.name or "").partition(".")[0]
        if top == __package__ or top in sys.stdlib_module_names:
            raise
        raise MissingExtraError(feature, extra) from error


def install_hint(extra: str) -> str:
    """Return the hint that names the command for `extra`."""
    return f"install them: {install_command(extra)}"


def install_command(extra: str, prefix: Path | None = None, *, clone: str | None = None) -> str:
    """Return the command that adds `extra` to this installation.

    `prefix` is the folder of the Python environment (default: the running one), `clone` the folder of an editable
    installation, "" for none (default: by the package's metadata).
    """
    prefix = prefix or Path(sys.prefix)
    clone = find_clone() if clone is None else clone
    need = ["-e", f"{clone}[{extra}]"] if clone else [f"{PACKAGE}[{extra}]"]
    if (prefix / "pipx_metadata.json").is_file():
        return _join(["pipx", "runpip", prefix.name, "install", *need])
    if (prefix / "uv-receipt.toml").is_file() or _made_by_uv(prefix):
        command = ["uv", "pip", "install", "--python", str(prefix), *need]
    else:
        command = [sys.executable, "-m", "pip", "install", *need]
    venv = (prefix / "pyvenv.cfg").is_file()  # outside of one, pip installs for the user alone
    return _join(command if not venv or os.access(prefix, os.W_OK) else ["sudo", *command])


def find_clone() -> str:
    """Return the folder from which this program was installed editable, "" if it was not."""
    import json  # noqa: PLC0415 - only an error needs these
    from importlib import metadata  # noqa: PLC0415
    from urllib.parse import urlsplit  # noqa: PLC0415
    from urllib.request import url2pathname  # noqa: PLC0415

    try:
        source = metadata.distribution(PACKAGE).read_text("direct_url.json")
        about = json.loads(source or "{}")
        folder = url2pathname(urlsplit(about.get("url", "")).path)
    except (metadata.PackageNotFoundError, ValueError, AttributeError):
        return ""
    return folder if about.get("dir_info", {}).get("editable") and Path(folder).is_dir() else ""


def _made_by_uv(prefix: Path) -> bool:
    """Return whether uv made this venv, which then has no pip."""
    try:
        return any(line.startswith("uv = ") for line in (prefix / "pyvenv.cfg").read_text("utf-8").splitlines())
    except (OSError, UnicodeError):
        return False


def _join(command: list[str]) -> str:
    """Return `command` as typed in the shell of this system."""
    if os.name != "nt":
        return shlex.join(command)
    return " ".join(f'"{word}"' if " " in word or "[" in word else word for word in command)
