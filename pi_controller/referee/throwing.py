"""The referee of games of throws: a stroke on a pad begins a throw, a person says what shows.

A tap of the bowl on its pad, or the thrust of the sticks on the centre stone, is a stroke. A bowl is tapped once a
turn: a second tap in bageswin is the double tap of DGR-13's last sheet. Fletcher does not speak of one in the plum
stone game, so there the judge is asked. The sticks of patol may be thrust as often as they will. What a second
tap comes to is the game's to say (`Game.second_tap`). A game of which the mat feels nothing is the judge's alone here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.mat.events import Button, MatEvent, Strike
from pi_controller.referee.base import Referee
from pi_controller.referee.facts import FoulSeen, Question, Source, Struck

if TYPE_CHECKING:
    from pi_controller.referee.judge import JudgeAction
    from pi_controller.referee.story import Story
    from pi_controller.referee.transaction import Transaction

RATTLE_S = 0.7
"""Strokes so soon after a tap are the pieces in the bowl."""


class Throwing(Referee):
    """One table's referee for a game of throws."""

    _tapped_at = float("-inf")

    def _act(self, tx: Transaction, call: JudgeAction) -> None:
        tx.play(call.action, "judge")

    def _answered(self, tx: Transaction, asked: Question, answer: str) -> None:
        if answer == "foul":
            _second_tap(tx, asked.foul, tx.by)

    def _felt(self, tx: Transaction, event: MatEvent) -> None:
        match event:
            case Strike():
                self._tap(tx, event)
            case Button(name="toss_a" | "toss_b" as name) if tx.story.phase == "toss":
                lot = {"do": "lot", "first": name[-1].upper()}
                if lot in self.game.legal_actions(tx.story.state):
                    tx.play(lot, "sensor")
            case _:
                pass

    def _tap(self, tx: Transaction, event: Strike) -> None:
        story = tx.story
        if story.phase != "throw" or story.question is not None or event.t - self._tapped_at < RATTLE_S:
            return
        kind = self.game.second_tap
        if not story.hide.strokes:
            if event.sure:  # the throw itself is entered by hand, so a tap that is in doubt changes nothing
                self._tapped_at = event.t
                tx.add(Struck(tx.t, event.pads, event.margin_db))
            return
        if kind is None or kind in story.hide.waived or self.settings.mode(kind) == "off":
            return
        self._tapped_at = event.t
        tx.add(Struck(tx.t, event.pads, event.margin_db))
        if event.sure and self.settings.mode(kind) == "automatic":
            _second_tap(tx, kind, "sensor")
        else:
            tx.add(Question(tx.t, "foul", ("foul", "play_on"), event.pads, foul=kind))

    def _look(self, tx: Transaction) -> None:
        """Nothing lies on the mat that matters."""

    def _limit(self, story: Story) -> float | None:
        del story
        return None

    def _overdue(self, tx: Transaction) -> None:
        """Nobody is waited for."""


def _second_tap(tx: Transaction, kind: str, by: Source) -> None:
    thrower: Any = tx.game.sheet(tx.story.state)["thrower"]
    tx.add(FoulSeen(tx.t, kind, str(thrower)))
    tx.play({"do": kind}, by)
