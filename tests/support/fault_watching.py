"""What a fault did to a game: what the judge was shown, when the link was lost and back, and the hits that count.

A hit is *acknowledged* when the table has shown it, *invented* when the journal has it and nobody made it (or not so).
"""

from collections import Counter

import msgspec
from ground_truth import facts_by_hide

from pi_controller.board.messages import BoardEvent, LinkUp
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases
from pi_controller.referee.facts import Question
from pi_controller.referee.history import effective_records, fold
from pi_controller.table.table import Observer


class Outcome(msgspec.Struct):
    """What one fault did to a game. Seconds are virtual; None: the link was never lost, or never came back."""

    sees: list[str]
    hides: int
    winner: str | None
    questions: dict[str, int]
    entered: int
    invented: list[str]
    lost: list[str]
    wrong: list[str]
    reports: list[str]
    """What the board told of itself since the fault began."""
    downs: int
    seen_s: float | None
    back_s: float | None
    note: str = ""

    def shows(self, sentence):
        """Whether the judge was shown `sentence`, whatever was said after it."""
        return any(line.startswith(sentence) for line in self.sees)


def hits_told(records, game):
    """Return (hide, number from 0) -> (pad, found) of every hit that counts in a journal's `records`."""
    hides, _ = facts_by_hide([fact for _, fact in effective_records(records)], game)
    return {
        (hide, i): (action.get("pad"), action["found"])
        for hide, tale in hides.items()
        for i, action in enumerate(action for action in tale.actions if action["do"] == "hit")
    }


def hits_made(truth):
    """Return the same of what really happened; where a foul settled the hide, no hit counts."""
    return {
        (hide, i): (hit.pad, hit.found)
        for hide, one in truth.hides.items()
        if one.foul is None
        for i, hit in enumerate(one.hits)
    }


class Reports(Observer):
    """Looks on at the link: what boards told of themselves, each once and in order?"""

    def __init__(self):
        self.events = []
        """(start of the board, `BoardEvent`), as they came."""
        self._boots = self._from = 0

    def begin(self):
        """What comes from now on is of interest."""
        self._from = len(self.events)

    def on_messages(self, t, messages, armed):
        for message in messages:
            if isinstance(message, LinkUp):
                self._boots = message.boot_count
            elif isinstance(message, BoardEvent):
                self.events.append((self._boots, message))

    @property
    def lines(self):
        """What they have said in public since `begin`, each line once, in order."""
        return list(dict.fromkeys(event.line for _, event in self.events[self._from :] if event.is_public))

    def wrong(self):
        """Return where one was told twice, out of order, or left out without a word; one line each."""
        last, found = {}, []
        for boot, event in self.events:
            due = last.get(boot, 0) + 1 + event.lost
            if event.number != due:
                found.append(f"start {boot}: the board's event {due} was due and {event.number} was told")
            last[boot] = event.number
        return found


class Watcher:
    """Looks at every view. `began` and `ended` are when the fault did, seconds; `woke` when a sleeping host could see.

    The folder that ports are named in is left out of what is shown: `by_id`.
    """

    def __init__(self, by_id):
        self.began = self.ended = self.woke = None
        self.sees = {}
        """What the judge was shown since the fault began, in order (the values mean nothing)."""
        self.edges = []
        """(time, whether there is a link) at each change."""
        self.acked = {}
        self._folder = f"{by_id}/"

    def look(self, t, view):
        """Take down what `view` shows at `t`."""
        if not self.edges or self.edges[-1][1] is not view.link:
            self.edges.append((t, view.link))
        if view.foul is None:
            self.acked |= {(view.hide, i): (hit.pad, hit.found) for i, hit in enumerate(view.hits)}
        if self.began is None:
            return
        said = [view.note, Phrases(ENGLISH).faults(view)]
        if view.question is not None:
            said.append(Phrases(ENGLISH).question(msgspec.structs.replace(view.question, pads=())))
        self.sees |= {line.replace(self._folder, ""): None for line in said if line}

    def after(self, since, *, up):
        """Return how long after `since` the link was first `up` (or not), seconds; None when it never was.

        0.0 when it had changed before `since` and stays so.
        """
        later = [t for t, link in self.edges if link is up and t >= since]
        if later:
            return later[0] - since
        return 0.0 if self.edges and self.edges[-1][1] is up else None

    def outcome(self, records, truth, game, *, wrong, entered=0, reports=(), note=""):
        """Return what came of it: `records` are the journal's, `wrong` how they disagree with `truth` otherwise."""
        told, made = hits_told(records, game), hits_made(truth)
        down = [t for t, link in self.edges if not link and self.began is not None and t >= self.began]
        return Outcome(
            sees=list(self.sees),
            hides=max(truth.hides, default=0),
            winner=game.sheet(fold(game, records).state)["winner"],
            questions=dict(Counter(fact.about for _, fact in records if isinstance(fact, Question))),
            entered=entered,
            invented=[f"hide {at[0]}: {hit}" for at, hit in told.items() if made.get(at) != hit],
            lost=[f"hide {at[0]}: {hit}" for at, hit in self.acked.items() if told.get(at) != hit],
            wrong=wrong,
            reports=list(reports),
            downs=len(down),
            seen_s=self.after(self.woke or self.began, up=False) if down else None,
            back_s=self.after(self.ended, up=True) if down and self.ended is not None else None,
            note=note,
        )
