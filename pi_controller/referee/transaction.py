"""Transaction: the facts that one input gives rise to, and the story after them."""

from collections.abc import Callable
from typing import Any

from pi_controller.referee import facts
from pi_controller.referee.commitment import NONCE_BYTES, CommitmentContext
from pi_controller.referee.history import Draft
from pi_controller.referee.reducer import apply_batch
from pi_controller.referee.sealed import SealedBead
from pi_controller.referee.settings import HITTERS_FOULS, RefereeSettings, foul_action
from pi_controller.referee.story import SETTLED, Story
from pi_controller.referee.unpublished import PrivateState
from pi_controller.rules.base import Action, Game, opposing_team


class Transaction:
    """The facts of one input while they are being made: they continue `draft`.

    They count once the journal has stored them.
    """

    def __init__(
        self,
        game: Game[Any],
        settings: RefereeSettings,
        random_bytes: Callable[[int], bytes],
        bound: Callable[[], CommitmentContext],
        *,
        private: PrivateState,
        draft: Draft,
        t: float,
    ) -> None:
        self.game = game
        self.settings = settings
        self.private = private
        self.before = self.story = draft.story
        """The story before the first of `facts`, and the one after the last."""
        self.t = t
        self.by: facts.Source = "judge"
        """Who answers a question: the judge, or the clock if the judge gave no answer."""
        self.facts: list[facts.Fact] = []
        self._draft = draft
        self._stories: list[Story] = []
        self._random_bytes = random_bytes
        self._bound = bound

    @property
    def draft(self) -> Draft:
        """The draft with the facts of this input."""
        earlier = self._draft
        return earlier._replace(facts=(*earlier.facts, *self.facts), stories=(*earlier.stories, *self._stories))

    @property
    def sealed(self) -> SealedBead | None:
        """The sealed bead of the story's commitment, or None."""
        return self.private.current_seal(self.story)

    def add(self, fact: facts.Fact) -> None:
        """Add a fact and apply it to the story. `History` folds an undo itself: here it takes nothing back."""
        self.story = apply_batch(self.game, self.story, self._draft.batch, (fact,))
        self.facts.append(fact)
        self._stories.append(self.story)

    def play(self, action: Action, by: facts.Source, seen: str = "") -> None:
        """Play an action of the game and reveal the bead if it settles a hide.

        Raises the game's errors before adding a fact. `seen` is the name of the observed foul if it differs from the
        action's.
        """
        _, calls = self.game.play(self.story.state, action)
        hide = self.story.hide.number
        if action.get("do") == "foul":
            self.add(facts.FoulSeen(self.t, seen or str(action["kind"]), str(action["by"])))
        self.add(facts.ActionPlayed(self.t, dict(action), calls, by))
        if self.story.phase in SETTLED or self.story.hide.number != hide:
            self._open(hide)

    def foul(self, kind: str, by: facts.Source, seen: str = "") -> None:
        """Settle a foul of Hampa Apena."""
        self.play(foul_action(self.game, kind), by, seen)

    def ask(
        self, about: str, choices: tuple[str, ...], pads: tuple[int, ...] = (), foul: str = "", said: str = ""
    ) -> None:
        """Ask the judge; a question about a foul names the side that it would fall on."""
        state, team = self.story.state, ""
        if foul:
            team = self.game.hiders(state) or self.game.thrower(state) or ""
            if foul in HITTERS_FOULS and team in ("A", "B"):
                team = opposing_team(team)
        self.add(facts.Question(self.t, about, choices, pads, foul, said, team))

    def notice(self, about: str, pads: tuple[int, ...] = ()) -> None:
        """Add a notice unless the same one is shown already, e.g. when a button is pressed repeatedly."""
        known = self.story.notice
        if known is None or (known.about, known.pads) != (about, pads):
            self.add(facts.Notice(self.t, about, pads))

    def seal(self, pad: int) -> None:
        """Commit to the bead under `pad`."""
        bead = SealedBead(self.game.name, self.story.hide.number, pad, self._random_bytes(NONCE_BYTES), self._bound())
        self.private.sealed = bead
        self.add(facts.Commit(self.t, self.story.hide.number, bead.commitment))

    def seal_late(self, pad: int) -> None:
        """Commit to the place read under `pad` only after play has moved on to the hitting phase.

        If it had been sealed before, it may have moved, so the judge is asked. The question is always asked: one asked
        only after a move would leak the sealed place.
        """
        if self.story.hide.seal.state != "withdrawn" or self.settings.mode("bead_moved") == "off":
            self.seal(pad)
            return
        again = () if self.story.hide.hits or self.story.hide.opened else ("hide_again",)
        self.ask("sealed_again", ("play_on", *again, "by_eye"))

    def withdraw_commitment(self, why: str) -> None:
        """Withdraw the commitment, if there is one."""
        if self.story.hide.seal.commit is not None:
            self.add(facts.CommitmentWithdrawn(self.t, why))

    def hide_again(self, why: str, by: facts.Source = "judge") -> None:
        """Start the hide over."""
        self.withdraw_commitment(why)
        self.add(facts.HideAgain(self.t, why, by))

    def _open(self, hide: int) -> None:
        bead = self.sealed
        if bead is None:
            self.withdraw_commitment("the mat no longer knows where the bead lay")
            return
        pad, nonce = bead.open()
        self.add(facts.Reveal(self.t, hide, pad, nonce, *bead.context))
        # only now: before the reveal no message may depend on the place
        if any(hit.pad is not None and hit.found != (hit.pad == pad) for hit in self.story.hide.hits):
            self.notice("seal_disagrees", (pad,))
