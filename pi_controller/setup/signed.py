"""Files from a stick that the host has signed: copied first, for what is verified must be what is used.

Signatures are SSH's (`ssh-keygen -Y`): on every Debian, made with a key as hosts have one. Passed over: minisign (a
tool and a key more on the host's laptop, no well-kept reader in Python). There is no default key. Each use has a
namespace of its own: a signature that was made for one is none for another.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_controller.errors import MatError

    Refusal = Callable[[str, str], MatError]
    """Makes the error of what is wrong and what to do."""


def how(namespace: str) -> str:
    """Return how a signature for `namespace` is made."""
    return f"ssh-keygen -Y sign -f KEY -n {namespace} FILE makes it"


def signature(file: Path) -> Path:
    """Return where the signature of `file` is."""
    return file.with_name(f"{file.name}.sig")


def copied(source: Path, room: Path, most: int, refusal: Refusal) -> Path:
    """Copy `source`, of `most` bytes, and its signature into the new folder `room`; return the copy.

    Raises `OSError`, and the refusal of a file that is too large.
    """
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir(mode=0o700)
    for path in (source, signature(source)):
        with path.open("rb") as file, (room / path.name).open("wb") as copy:
            if len(content := file.read(most + 1)) > most:
                raise refusal(f"{path.name} is too large", "take the file as it was made")
            copy.write(content)
    return room / source.name


def verify(file: Path, signers: Path, namespace: str, refusal: Refusal) -> None:
    """Check the signature of `file` for `namespace` by the keys in `signers`; raises the refusal where it is none."""
    if not signers.is_file():
        raise refusal(f"there is no {signers}: nobody may sign anything here", "the host puts a public key there")
    command = ["ssh-keygen", "-Y", "verify", "-f", signers, "-I", "host", "-n", namespace, "-s", signature(file)]
    try:
        with file.open("rb") as content:
            done = subprocess.run(command, stdin=content, capture_output=True, text=True, timeout=60, check=False)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise refusal(f"the signature cannot be checked: {error}", "apt install openssh-client") from error
    if done.returncode:
        todo = "copy file and .sig again, or sign it with a key that is named there"
        raise refusal(f"{file.name} is not what a key in {signers} has signed", todo)
