"""The referee: mat events and the judge's word in, facts out. It concludes; the journal makes it true.

Everything public is in the `Story` it is given each time. What it keeps itself (`Senses`) is what nobody may know or
what only the mat can say again; after a restart that memory is empty and `resume` says what follows from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from pi_controller.errors import UsageError
from pi_controller.mat.events import Beads, Blind, Button, HandIn, HandOut, Link, MatEvent, Strike
from pi_controller.referee import calls, hide, hits
from pi_controller.referee.facts import Fact, LinkSeen, Question
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeCall, JudgeHideAgain, JudgeUndo
from pi_controller.referee.senses import Senses
from pi_controller.referee.settings import PLAYED, RefereeSettings
from pi_controller.referee.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.games.base import Game
    from pi_controller.referee.story import Story


class Referee:
    """One table's referee.

    `random_bytes(n)` gives the nonces: `secrets.token_bytes` at a real table. All times are seconds of one clock.
    Raises `UsageError` for a game that is not played on the mat.
    """

    def __init__(self, game: Game[Any], settings: RefereeSettings | None, random_bytes: Callable[[int], bytes]) -> None:
        if game.name not in PLAYED:
            raise UsageError(
                f"{game.name} is not played on the mat: the referee does not know its hides",
                f"played on the mat: {', '.join(PLAYED)}; the judge alone keeps {game.name} with 'moccasin-mat run', "
                f"and 'moccasin-mat score {game.name}' keeps its score on paper",
            )
        self.game = game
        self.settings = settings or RefereeSettings()
        self._random_bytes = random_bytes
        self._senses = Senses()

    def decide(self, story: Story, event: MatEvent | JudgeCall, t: float | None = None) -> list[Fact]:
        """Return what follows from `event`, in order; nothing, when it means nothing now. `t` is now, if not `event.t`.

        A mat event never raises. A judge's call raises `InvalidActionError` or `IllegalActionError`.
        """
        turn = self._turn(story, event.t)
        self._senses.wait(story, event.t if t is None else t)
        match event:
            case JudgeUndo():
                calls.undo(turn, event)
                return turn.facts  # what follows is told of the story as it will be then: `tick`
            case JudgeAction():
                calls.act(turn, event)
            case JudgeAnswer():
                calls.answer(turn, event)
            case JudgeHideAgain():
                calls.hide_again(turn, event)
            case HandIn() | HandOut():
                hide.hand(turn, event)
            case Beads():
                hide.beads(turn, event)
            case Button():
                hide.button(turn, event)
            case Strike():
                hits.strike(turn, event)
            case Blind():
                self._missed(turn, event, "samples were missing")
            case Link():
                self._link(turn, event)
            case _:
                assert_never(event)
        return self._finish(turn)

    def tick(self, story: Story, t: float) -> list[Fact]:
        """Return what follows from time having come to `t`, and from a story that changed by other means (an undo)."""
        self._senses.wait(story, t)
        turn = self._turn(story, t)
        due = self.due(story)
        if due is not None and t >= due:
            if story.phase == "check":
                hide.no_reading(turn)
            elif self.settings.mode("time") == "ask":
                turn.add(Question(t, "foul", ("foul", "play_on"), foul="time"))
            else:
                turn.foul("time", "clock")
        return self._finish(turn)

    def due(self, story: Story) -> float | None:
        """Return when `tick` has something to say unless something happens first, or None."""
        limit = None
        if story.phase == "check":
            limit = self.settings.check_timeout_s
        elif story.phase == "hit" and "time" not in story.waived and self.settings.mode("time") != "off":
            limit = self.settings.hit_seconds
        if limit is None or story.question is not None:
            return None
        return self._senses.since + limit

    def resume(self, story: Story, t: float) -> list[Fact]:
        """Return what follows from a restart: hands were not felt, nothing is sealed, no board is there yet."""
        why = "the controller restarted"
        self._senses = Senses(restarted=True)
        self._senses.wait(story, t)
        turn = self._turn(story, t)
        if story.link:
            turn.add(LinkSeen(t, up=False, why=why))
        if story.phase == "hide" and story.passes:
            turn.hide_again(why, "restart")
        turn.void(why)
        return turn.facts

    def sense(self, event: MatEvent) -> None:
        """Remember what `event` says of the mat and conclude nothing: for a table that stands still."""
        senses = self._senses
        match event:
            case HandIn() | HandOut():
                senses.lost()
            case Beads():
                senses.reading = event
            case Link(up=up):
                senses.link = up
                senses.lost()
            case _:
                pass

    def catch_up(self, story: Story, t: float, why: str) -> list[Fact]:
        """Return what follows from a table having stood still until `t`: like a gap on the link."""
        turn = self._turn(story, t)
        self._senses.wait(story, t, afresh=True)
        link = self._senses.link
        if link is not None and link != story.link:
            turn.add(LinkSeen(t, link, why))
        self._missed(turn, Blind(t, t), why)
        return self._finish(turn)

    def _turn(self, story: Story, t: float) -> Turn:
        if story.commit is None:
            self._senses.sealed = None  # opened or withdrawn, and written: an undo does not seal it again
        return Turn(self.game, self.settings, self._random_bytes, senses=self._senses, story=story, t=t)

    def _finish(self, turn: Turn) -> list[Fact]:
        """Add what the mat's last reading says to the story as it is now."""
        if turn.sealed is None:
            turn.void("the mat no longer knows where the bead lies")
        if turn.story.question is None:
            if turn.story.phase == "check":
                hide.look(turn)
            elif turn.story.phase == "hit":
                hits.watch(turn)
        self._senses.wait(turn.story, turn.t)
        return turn.facts

    def _link(self, turn: Turn, event: Link) -> None:
        was, senses = turn.story.link, self._senses
        if was is not False or event.up or event.why != turn.story.link_why:
            turn.add(LinkSeen(turn.t, event.up, event.why))
        back, senses.link = event.up and senses.restarted, event.up
        senses.restarted = senses.restarted and not event.up
        senses.lost()
        if was or (was is False and event.up and not back):
            hits.gap(turn, event)

    def _missed(self, turn: Turn, event: Blind, why: str) -> None:
        story = turn.story
        if story.phase in ("hide", "check", "show") and story.doubt < story.collecting:
            turn.add(LinkSeen(turn.t, story.link is not False, why))
        hits.gap(turn, event)
