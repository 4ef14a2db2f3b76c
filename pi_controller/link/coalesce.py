"""Blocks of samples that arrived together, made one: a detector takes one long block in half the time of four."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pi_controller.link.messages import Gap, LinkDown, LinkUp, Message, Piezo

if TYPE_CHECKING:
    from collections.abc import Iterable


def coalesce(messages: Iterable[Message]) -> list[Message]:
    """Return the messages with blocks of samples that follow on one another made one, in the place of the first."""
    out: list[Message] = []
    runs: dict[int, list[Piezo]] = {}
    place, end = -1, -1
    for message in messages:
        if isinstance(message, Piezo):
            if message.index == end:
                runs[place].append(message)
            else:
                place = len(out)
                runs[place] = [message]
                out.append(message)
            end = message.index + len(message.samples)
        else:
            out.append(message)
            if isinstance(message, LinkUp | LinkDown | Gap):
                end = -1
    for at, run in runs.items():
        if len(run) > 1:
            out[at] = replace(run[0], samples=np.concatenate([block.samples for block in run]))
    return out
