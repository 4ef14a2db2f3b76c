"""The referee of games of throws: a strike on a pad begins a throw, a person enters its result.

A tap of the bowl on its pad, or the thrust of the sticks on the centre stone, is a strike. A bowl is tapped once a
turn: a second tap in bageswin is the double tap of DGR-13's last sheet. Fletcher does not mention one in the plum
stone game, so there the judge is asked. The sticks of patol may be thrust any number of times. The game names the
action of a second tap (`Game.second_tap`). Games that the mat cannot sense are also refereed here, by the judge's
entries alone.
"""

from pi_controller.referee import facts, judge
from pi_controller.referee.base import Referee
from pi_controller.referee.story import Story
from pi_controller.referee.transaction import Transaction
from pi_controller.sensing import events

RATTLE_S = 0.7
"""Strikes this soon after a tap are the pieces rattling in the bowl."""


class ThrowReferee(Referee):
    """One table's referee for a game of throws."""

    _tapped_at = float("-inf")

    def _handle_action(self, tx: Transaction, call: judge.JudgeAction) -> None:
        tx.play(call.action, "judge")

    def _handle_answer(self, tx: Transaction, asked: facts.Question, answer: str) -> None:
        if answer == "foul":
            _second_tap(tx, asked.foul, tx.by)

    def _handle_event(self, tx: Transaction, event: events.MatEvent) -> None:
        match event:
            case events.Strike():
                self._tap(tx, event)
            case events.Button(name="toss_a" | "toss_b" as name) if tx.story.phase == "toss":
                lot = {"do": "lot", "first": name[-1].upper()}
                if lot in self.game.legal_actions(tx.story.state):
                    tx.play(lot, "sensor")
            case _:
                pass

    def _tap(self, tx: Transaction, event: events.Strike) -> None:
        story = tx.story
        if story.phase != "throw" or story.question is not None or event.t - self._tapped_at < RATTLE_S:
            return
        kind = self.game.second_tap
        if not story.hide.strokes:
            if event.sure:  # the throw itself is entered by hand, so a doubtful tap is ignored
                self._tapped_at = event.t
                tx.add(facts.StrikeFelt(tx.t, event.pads, event.margin_db))
            return
        if kind is None or kind in story.hide.waived_fouls or self.settings.mode(kind) == "off":
            return
        self._tapped_at = event.t
        tx.add(facts.StrikeFelt(tx.t, event.pads, event.margin_db))
        if event.sure and self.settings.mode(kind) == "automatic":
            _second_tap(tx, kind, "sensor")
        else:
            tx.ask("foul", ("foul", "play_on"), event.pads, foul=kind)

    def _examine_mat(self, tx: Transaction) -> None:
        """Skip: the mat reads no pieces in games of throws."""

    def _wait_limit(self, story: Story) -> float | None:
        del story
        return None

    def _handle_timeout(self, tx: Transaction) -> None:
        """Skip: throws have no time limit."""


def _second_tap(tx: Transaction, kind: str, by: facts.Source) -> None:
    tx.add(facts.FoulSeen(tx.t, kind, tx.game.thrower(tx.story.state) or ""))
    tx.play({"do": kind}, by)
