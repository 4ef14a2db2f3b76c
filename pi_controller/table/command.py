"""A signed-in user's command to the table: actor, idempotency key, and the revision of the view it was given for."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import msgspec

from pi_controller.errors import MatError
from pi_controller.referee.facts import Called
from pi_controller.referee.judge import HubCall, JudgeCall

DIGEST_DIGITS = 16


class StaleError(MatError, RuntimeError):
    """The table has moved on since the one who commands looked at it; nothing was changed."""

    code = "stale"


class UsedKeyError(MatError, RuntimeError):
    """The same person has given another command under this key; nothing was changed."""

    code = "key"


class Command(msgspec.Struct, frozen=True):
    """`key` is the command's own among its actor's: said twice it counts once.

    `expect` is the `View.revision` it was given for, if any.
    """

    call: JudgeCall | HubCall
    actor: str
    role: str
    key: str
    expect: int | None = None

    @property
    def called(self) -> Called:
        """The fact that it was said."""
        call = self.call
        tag, reason = str(call.__struct_config__.tag), str(getattr(call, "reason", ""))
        timeless = msgspec.json.encode(msgspec.structs.replace(call, t=0.0), order="sorted")
        digest = hashlib.sha256(timeless).hexdigest()[:DIGEST_DIGITS]
        return Called(call.t, self.actor, self.role, tag, self.key, reason, digest)


class CommandResult(NamedTuple):
    """Result of a command: the journal's last record then (0 before a restart), and whether it is a repetition."""

    seq: int
    repeated: bool
