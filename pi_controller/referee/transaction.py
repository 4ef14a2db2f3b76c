"""Transaction: the facts that one input gives rise to, and the story after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.referee.commitment import NONCE_BYTES
from pi_controller.referee.facts import Commit, Done, Fact, FoulSeen, HideAgain, Notice, Question, Reveal, Source, Void
from pi_controller.referee.reducer import apply
from pi_controller.referee.sealed import SealedBead

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.games.base import Action, Game
    from pi_controller.referee.commitment import Bound
    from pi_controller.referee.private_state import PrivateState
    from pi_controller.referee.settings import RefereeSettings
    from pi_controller.referee.story import Story


class Transaction:
    """Facts in the making. Nothing here is true before the journal has it."""

    def __init__(
        self,
        game: Game[Any],
        settings: RefereeSettings,
        random_bytes: Callable[[int], bytes],
        bound: Callable[[], Bound],
        *,
        private: PrivateState,
        story: Story,
        t: float,
    ) -> None:
        self.game = game
        self.settings = settings
        self.private = private
        self.story = story
        self.t = t
        self.by: Source = "judge"
        """Who answers a question: the judge, or the clock where nobody did."""
        self.facts: list[Fact] = []
        self._random_bytes = random_bytes
        self._bound = bound

    @property
    def sealed(self) -> SealedBead | None:
        """The bead that the story's commitment speaks of, if it is held."""
        return self.private.holds(self.story)

    def add(self, fact: Fact) -> None:
        """Conclude a fact."""
        self.story = apply(self.game, self.story, fact)
        self.facts.append(fact)

    def play(self, action: Action, by: Source, seen: str = "") -> None:
        """Take an action of the game; a hide it settles is opened. Raises the game's errors and adds nothing then.

        `seen` is what a foul was seen as, where that has a name of its own.
        """
        action = self.game.current(action)
        _, calls = self.game.play(self.story.state, action)
        hide = self.story.hide.number
        if action.get("do") == "foul":
            self.add(FoulSeen(self.t, seen or str(action["kind"]), str(action["by"])))
        self.add(Done(self.t, dict(action), calls, by))
        if self.story.phase in ("show", "over") or self.story.hide.number != hide:
            self._open(hide)

    def foul(self, kind: str, by: Source, seen: str = "") -> None:
        """Settle a foul: running out of time is the hitter's, all else the mat can see is the hider's."""
        self.play({"do": "foul", "by": "hitter" if kind == "time" else "hider", "kind": kind}, by, seen)

    def notice(self, about: str, pads: tuple[int, ...] = ()) -> None:
        """Let people know of something, once: a button that is pressed again and again says nothing new."""
        known = self.story.notice
        if known is None or (known.about, known.pads) != (about, pads):
            self.add(Notice(self.t, about, pads))

    def seal(self, pad: int) -> None:
        """Commit to the bead under `pad`."""
        bead = SealedBead(self.game.name, self.story.hide.number, pad, self._random_bytes(NONCE_BYTES), self._bound())
        self.private.sealed = bead
        self.add(Commit(self.t, self.story.hide.number, bead.commitment))

    def seal_late(self, pad: int) -> None:
        """Commit to what is seen under `pad` only now that it is to be found.

        Where it was sealed before, nobody knows whether it lies where it lay, so whoever judges is asked: always, for
        a question that came only where it moved would tell what the seal hides.
        """
        if not self.story.hide.unsealed or self.settings.mode("bead_moved") == "off":
            self.seal(pad)
            return
        again = () if self.story.hide.hits or self.story.hide.opened else ("hide_again",)
        self.add(Question(self.t, "sealed_again", ("play_on", *again, "by_eye")))

    def void(self, why: str) -> None:
        """Withdraw the commitment, if there is one."""
        if self.story.hide.commit is not None:
            self.add(Void(self.t, why))

    def hide_again(self, why: str, by: Source = "judge") -> None:
        """Start the hide over."""
        self.void(why)
        self.add(HideAgain(self.t, why, by))

    def _open(self, hide: int) -> None:
        bead = self.sealed
        if bead is None:
            self.void("the mat no longer knows where the bead lay")
            return
        pad, nonce = bead.open()
        self.add(Reveal(self.t, hide, pad, nonce, *bead.bound))
