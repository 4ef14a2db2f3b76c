"""Interface of what observes a table while it is played."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.link.messages import Message
    from pi_controller.mat.events import Button, MatEvent
    from pi_controller.table.table import Table


class Observer:
    """Is called with everything in the order it happens, changes nothing and never raises.

    Each method does nothing here; an observer overrides those that concern it. `armed` is whether strikes count.
    """

    def on_messages(self, t: float, messages: Sequence[Message], armed: bool) -> None:
        """Messages of the link are about to be given to the mat's sensors, in the step at `t`."""

    def on_events(self, events: Sequence[MatEvent], armed: bool) -> None:
        """These mat events came of them, numbered as the mat numbers its pads; the table has them."""

    def on_press(self, t: float, press: Button) -> None:
        """A press is about to be passed on to the table, in the step at `t`."""

    def on_step(self, t: float, table: Table, armed: bool) -> None:
        """The step at `t` is over, and shown."""
