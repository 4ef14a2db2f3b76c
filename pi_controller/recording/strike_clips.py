"""Stores the samples around each reported strike in the `Review`, as an observer of the daemon."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pi_controller.board.messages import Gap, LinkDown, LinkUp, Message, Piezo
from pi_controller.journal.review import BESIDE_S, Review, ReviewError, Stroke
from pi_controller.sensing.events import MatEvent, Strike, mirror_pad
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.table.table import Observer, Table

log = logging.getLogger(__name__)

RING_S = 3 * BESIDE_S
"""Duration of the sample buffer, s: more than a clip has before a strike when that is reported."""


@dataclass
class _Waiting:
    strike: Strike
    hide: int
    turned: bool


class StrikeClipper(Observer[Table]):
    """Cuts a clip of samples around each strike, and stores it with the settings `strikes`.

    `review` opens the store, again for each game that the table continues with. Its errors are passed on.
    """

    def __init__(self, review: Callable[[], Review], strikes: StrikeSettings) -> None:
        self._open = review
        self._review: Review | None = review()
        self._settings = strikes
        self._game: int | None = None
        self._ring: deque[Piezo] = deque()
        self._waiting: list[_Waiting] = []
        self._hide, self._turned = 0, False
        self._done: list[Stroke] = []

    def on_messages(self, t: float, messages: Sequence[Message], armed: bool) -> None:  # noqa: ARG002
        """Buffer the samples."""
        for message in messages:
            match message:
                case Piezo():
                    self._remember(message)
                case Gap() | LinkUp() | LinkDown():
                    self._cut()
                case _:
                    pass

    def on_events(self, events: Sequence[MatEvent], armed: bool) -> None:  # noqa: ARG002
        """Note the strikes; they are reported only while the game expects one."""
        self._waiting += [_Waiting(event, self._hide, self._turned) for event in events if isinstance(event, Strike)]

    def on_step(self, t: float, table: Table, armed: bool) -> None:  # noqa: ARG002
        """Store the clips that are complete, each game's in its own store."""
        if self._game not in (None, table.story.revision_from):
            self._next_game()
        self._game = table.story.revision_from
        self._hide, self._turned = table.story.hide.number, table.mirrored and table.seats == "turn"
        end = _end(self._ring[-1]) if self._ring else float("inf")
        ready = [one for one in self._waiting if one.strike.t + BESIDE_S <= end]
        self._waiting = [one for one in self._waiting if one.strike.t + BESIDE_S > end]
        self._finish(ready)
        self._keep()

    def close(self) -> None:
        """Store the last strikes with the samples available; close the store."""
        self._cut()
        self._keep()
        if self._review is not None:
            self._review.close()
            self._review = None

    def _next_game(self) -> None:
        self._cut()
        self._keep()
        if self._review is None:
            return
        self._review.close()
        self._review = None
        try:
            self._review = self._open()
        except ReviewError as error:
            log.warning("the hits are no longer recorded: %s", error.message)

    def _remember(self, piezo: Piezo) -> None:
        if self._ring:
            last = self._ring[-1]
            like = (last.rate, last.samples.shape[1], last.full_scale)
            if piezo.index != last.index + len(last.samples) or like != (
                piezo.rate,
                piezo.samples.shape[1],
                piezo.full_scale,
            ):
                self._cut()
        self._ring.append(piezo)
        # samples that a pending strike still needs are kept
        oldest = min([one.strike.t for one in self._waiting], default=piezo.t) - RING_S
        while len(self._ring) > 1 and _end(self._ring[0]) < oldest:
            self._ring.popleft()

    def _cut(self) -> None:
        """Finish all pending clips with the samples available, because samples are missing from here."""
        self._finish(self._waiting)
        self._waiting = []
        self._ring.clear()

    def _finish(self, ready: Sequence[_Waiting]) -> None:
        if not ready or not self._ring:
            return
        blocks = list(self._ring)
        samples = np.concatenate([block.samples for block in blocks])
        # the clock mapping is refined all the time: the last block's time is the best one
        rate, last = blocks[-1].rate, blocks[-1]
        start = last.t - (len(samples) - len(last.samples)) / rate
        for one in ready:
            first, until = (round((one.strike.t + beside - start) * rate) for beside in (-BESIDE_S, BESIDE_S))
            first, until = max(0, first), min(len(samples), until)
            if first >= until:
                continue
            pads, cut = one.strike.pads, samples[first:until]
            if one.turned:  # the judge sees it from the hiders' side
                pads, cut = tuple(map(mirror_pad, pads)), cut[:, ::-1]
            self._done.append(
                Stroke(
                    hide=one.hide,
                    t=one.strike.t,
                    start=start + first / rate,
                    rate=rate,
                    full_scale=last.full_scale,
                    pads=pads,
                    margin_db=one.strike.margin_db,
                    sure=one.strike.sure,
                    strikes=self._settings,
                    samples=cut,
                )
            )

    def _keep(self) -> None:
        done, self._done = self._done, []
        if self._review is None or not done:
            return
        try:
            self._review.add(done)
        except ReviewError as error:  # the game does not wait for its pictures
            log.warning("the hits are no longer recorded: %s", error.message)
            self._review.close()
            self._review = None


def _end(piezo: Piezo) -> float:
    return piezo.t + len(piezo.samples) / piezo.rate
