"""Orders of visitors and staff to the loop of an installation; all wait in one queue (`table.commands`)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from pi_controller.config import Settings
from pi_controller.table.commands import CommandQueue
from pi_controller.web.requests import RequestError

MAX_NOTICE_CHARS = 300
MAX_CONTROL_CHARS = 40


class ScreenTouch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A visitor touches the control `do` on the screen number `turn`."""

    do: Annotated[str, Meta(min_length=1, max_length=MAX_CONTROL_CHARS)]
    turn: int


class _StaffOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="do"):
    pass


class ShowNotice(_StaffOrder, frozen=True, tag="notice"):
    """Show `notice` to the visitors instead of the game; "" ends it."""

    notice: Annotated[str, Meta(max_length=MAX_NOTICE_CHARS)]


class SetClock(_StaffOrder, frozen=True, tag="clock"):
    """Set the machine's clock to the local time `now`, such as 2026-11-23T14:05."""

    now: Annotated[str, Meta(pattern=r"^20\d{2}-\d{2}-\d{2}T\d{2}:\d{2}$")]

    @property
    def t(self) -> float:
        """The time to set, s since 1970. Raises `RequestError` if there is no such time."""
        try:
            return datetime.fromisoformat(self.now).timestamp()
        except (ValueError, OverflowError, OSError):
            raise RequestError("invalid", "now must be a date and a time like 2026-11-23T14:05") from None


class EndSession(_StaffOrder, frozen=True, tag="end"):
    """End the visitors' session."""


class PublishTexts(_StaffOrder, frozen=True, tag="texts"):
    """Show the texts of the draft to the visitors."""


class DropDraft(_StaffOrder, frozen=True, tag="drop"):
    """Discard the draft."""


class PlaySound(_StaffOrder, frozen=True, tag="sound"):
    """Play the test sound; the answer comes once it has ended."""


class ConfirmKeys(_StaffOrder, frozen=True, tag="keys"):
    """Note that the changed keys on the card were seen."""


class CloseToday(_StaffOrder, frozen=True, tag="close"):
    """Close the installation for today."""


class Reopen(_StaffOrder, frozen=True, tag="open"):
    """Open it again."""


class WakeScreen(_StaffOrder, frozen=True, tag="wake"):
    """Switch the screen on for a while, outside the opening hours."""


class DraftTexts(NamedTuple):
    """Preview `texts`."""

    texts: Mapping[str, str]


class UseSettings(NamedTuple):
    """Use new settings at once."""

    settings: Settings


StaffOrder: TypeAlias = (
    ShowNotice
    | SetClock
    | EndSession
    | PublishTexts
    | DropDraft
    | PlaySound
    | ConfirmKeys
    | CloseToday
    | Reopen
    | WakeScreen
)
Order: TypeAlias = ScreenTouch | StaffOrder | DraftTexts | UseSettings


class OrderQueue(CommandQueue[Order, None]):
    """The queue of one installation."""

    def __init__(self) -> None:
        super().__init__(name="the installation")
