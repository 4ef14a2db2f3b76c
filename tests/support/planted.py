"""People at a simulated table who make fouls of every kind, and what the table made of each.

The simulation is seeded: game `seed` makes the same fouls at the same moments. The fouls the hider makes while hiding
are the script's own (`simulation.plans`); those made later are made here. What a judge alone can see the judge calls,
at a random moment of the hide.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

from pi_controller.games.dakota.people import Players
from pi_controller.referee.facts import ActionPlayed, Commit, FoulSeen, Question
from pi_controller.referee.history import History
from pi_controller.referee.judge import JudgeAction
from pi_controller.referee.settings import PASS_FOULS
from pi_controller.simulation.plans import HIDING_FOULS, HidePlan, Mischief, hide_plan

LATER = ("bead_moved", "touch", "two_struck", "early_hit", "same_pad", "time")
"""The fouls that are made once the bead is hidden, and that sensors or the clock notice."""
JUDGED = ("bead_showing", "left_position", "outside_help", "not_shown")
KINDS = (*HIDING_FOULS, *LATER, *JUDGED)
LIGHT_DBFS = (-42.0, -31.0)
"""A light or an accidental touch; a stroke has -30 to -10 dBFS."""
FELT_S = 1.0
"""So soon after a touch whatever follows from it is there."""
OF_TURNS = {"slahal": "rehide", "bageswin": "double_tap", "plum_stone": "no_throw"}
"""The foul of each other game, which its own people make (`slahal.people`, `throwing_people`)."""


class Planting(Players):
    """People who make a foul in a share of the hides, of a kind that is drawn for each."""

    share = 0.7
    hit_seconds = 8.0
    kinds = KINDS
    """Those that are made."""

    def __init__(self, seed, *args, **keys):
        super().__init__(seed, *args, **keys)
        self.made = {}
        """By hide: the kind of the foul that was made, when, and the pad of the stroke that it was, if it was one."""
        self._tried = set()

    def _chance(self, hide):
        return np.random.default_rng([self.seed, hide, 12])

    def _kind(self, hide):
        chance = self._chance(hide)
        return str(chance.choice(self.kinds)) if chance.random() < self.share else None

    def plan_of(self, hide) -> HidePlan:
        """Return the script of the hide with the foul that is made while hiding; a hide that starts over has none."""
        kind = self._kind(hide)
        if kind not in HIDING_FOULS or hide in self._tried:
            return hide_plan(self.seed, hide, self.pace)
        for seed in range(self.seed, self.seed + 100_000, 1000):  # the first script with this foul in it
            plan = hide_plan(seed, hide, self.pace, Mischief(fouls=1.0))
            if plan.foul == kind:
                return plan
        raise AssertionError(kind)

    def _make(self, hide, kind, pad=None):
        """Return whether the foul of this hide is `kind` and not made yet; then it is made now."""
        if self._kind(hide) != kind or hide in self.made:
            return False
        self.made[hide] = (kind, self._t, pad)
        return True

    def _hide(self, plan, view):
        if plan.hide in self.made and self._starts_over(view):
            self._tried.add(plan.hide)
            plan = hide_plan(self.seed, plan.hide, self.pace)
        if plan.foul:
            self._make(plan.hide, plan.foul)
        yield from super()._hide(plan, view)

    def _nothing_more(self):
        yield from super()._nothing_more()
        hide = self._view.hide
        if self._kind(hide) == "early_hit" and hide not in self.made:
            chance = self._chance(hide + 1)
            yield float(chance.uniform(0.0, 0.3))
            if self._make(hide, "early_hit"):
                self._world.strike(int(chance.integers(1, 5)), float(chance.uniform(-25.0, -10.0)))

    def _hit(self, plan, owed):
        chance, world = self._chance(plan.hide + 2), self._world
        stroke = plan.first if owed == "first" else plan.second
        yield float(chance.uniform(0.1, 1.5))
        if owed == "first":
            for kind in ("bead_showing", "left_position", "outside_help"):
                if self._make(plan.hide, kind):
                    by = "hitter" if kind == "outside_help" and chance.random() < 0.5 else "hider"
                    self._judge(JudgeAction(self._t, {"do": "foul", "by": by, "kind": kind}))
                    yield 60.0
            if plan.place and self._make(plan.hide, "bead_moved"):
                yield from self._move(plan, int(chance.choice([pad for pad in (1, 2, 3, 4) if pad != plan.place])))
            if self._make(plan.hide, "touch", stroke.pad):
                world.strike(stroke.pad, float(chance.uniform(*LIGHT_DBFS)))
                self.truth.record_stroke(plan.hide, owed, stroke.pad)
                self._last_stroke = (plan.hide, owed, stroke.pad)
                yield 2 * FELT_S
            if self._make(plan.hide, "two_struck", stroke.pad):
                near = int(chance.choice([pad for pad in (stroke.pad - 1, stroke.pad + 1) if 1 <= pad <= 4]))
                plan = replace(plan, first=replace(stroke, also=near, also_after_s=float(chance.uniform(5e-4, 4e-3))))
            if self._make(plan.hide, "time"):
                yield self.hit_seconds + 2.0
        elif self._kind(plan.hide) == "same_pad" and self._view.hits[0].pad and self._make(plan.hide, "same_pad"):
            world.strike(self._view.hits[0].pad, float(chance.uniform(-25.0, -10.0)))
            yield 2 * FELT_S
        yield from super()._hit(plan, owed)

    def _move(self, plan, pad):
        """The hider's hand takes the bead to another pad after all."""
        world, style = self._world, plan.passes[0].style
        for at in (plan.place, pad):
            yield world.hand_in(at, style) - world.t + 0.2
            if at == pad:
                world.drop("bead", pad)
            else:
                world.carry("bead")
            yield world.hand_out(at) - world.t + 0.1
        world.hand_home()
        self.truth.hides[plan.hide].place = pad
        yield 2 * FELT_S

    def _show(self, plan, view):
        missed = view.foul is None and len(view.hits) == 2 and not any(hit.found for hit in view.hits)
        if missed and self._make(plan.hide, "not_shown"):
            self._judge(JudgeAction(self._t, {"do": "foul", "by": "hider", "kind": "no_bead", "hide": "last"}))
            yield 0.5
        yield from super()._show(plan, view)


def facts_by_hide(records, game):
    """Return {hide: facts that were told in it} of a journal's `records`, undone or not."""
    by_hide = {}
    for step in History(game).walk(records):
        by_hide.setdefault(step.before.hide.number, []).append(step.fact)
    return by_hide


def judge_hides(records, game, people):
    """Return a count of what became of hides: innocent, charged, asked, planted, called or asked, missed.

    `charged` innocent hides had a foul of the hiders called on them, about `asked` ones the judge was asked; not
    counted are questions about the `doubtful` ones (`People.doubtful`).
    """
    truth = people.truth
    count = Counter()
    for hide, told in facts_by_hide(records, game).items():
        if hide not in truth.hides:
            continue
        kind, named = truth.hides[hide].foul, [fact for fact in told if _named(fact) in (*HIDING_FOULS, "hitters_hand")]
        called = [fact for fact in told if isinstance(fact, ActionPlayed) and fact.action["do"] == "foul"]
        if kind is None:
            charged = any(fact.by == "sensor" and fact.action["by"] == "hider" for fact in called)
            about = "doubtful" if hide in people.doubtful else "asked" if named else ""
            count.update(["innocent", *filter(None, ["charged" if charged else about])])
        else:
            count.update(["planted", "called or asked" if named else "missed"])
    return count


def outcomes(records, game, people):
    """Return what the table made of the fouls of `people`: a count of (kind, outcome), and of what it invented.

    What was invented is counted as (what was called or asked, the foul that was made in that hide).
    """
    found, invented = Counter(), Counter()
    for hide, told in facts_by_hide(records, game).items():
        kind, t, pad = people.made.get(hide, (None, 0.0, None))
        if kind is not None:
            found[kind, _outcome(kind, t, pad, told)] += 1
        due = (*DUE.get(kind, (kind,)), *MAY.get(kind, ()), *(PASS_FOULS if hide in people.doubtful else ()))
        invented.update((name, kind) for name in map(_named, told) if name and name not in due)
    return found, invented


def turn_outcomes(facts, game, turns):
    """Return the same for a game of turns, of which `turns` is the truth, and how many there were."""
    kind = OF_TURNS[game.name]
    found, invented, number, told = Counter(), Counter(), 0, []
    for fact in facts:
        told.append(fact)
        if not isinstance(fact, ActionPlayed) or fact.action["do"] in ("duo", "lot"):
            continue
        number += 1
        mischief = turns[number].mischief.split(", ") if number in turns else []
        due = [each for each in told if _named(each) == kind]
        if "second tap" in mischief or (kind == "rehide" and {"do": kind} in turns[number].actions):
            asked = any(isinstance(each, Question) for each in due)
            found[kind, "asked" if asked else "called" if due and fact.by == "sensor" else "missed"] += 1
        elif "spilled" not in mischief:  # which the judge alone sees
            invented.update((_named(each), None) for each in due)
        told = []
    return found, invented, number


MAY = {"bead_moved": ("doubtful", "hand_again")}
"""What may be asked besides: the hand that moves the bead can bump a pad."""
DUE = {"touch": ("doubtful",), "two_struck": ("two_struck", "doubtful"), "not_shown": ("no_bead",)}
"""What may be said of a foul, where that has another name."""


def _named(fact):
    """Return the foul that a fact says or asks about, if any."""
    match fact:
        case FoulSeen(foul=foul):
            return foul
        case Question(about="foul" | "passes_unsure", foul=foul):
            return foul
        case Question(about="doubtful" | "two_struck" | "same_pad" | "bead_moved" | "early_hit" as about):
            return about
        case Question(about="hitters_hand" | "hand_again" | "peek" as about):
            return about
        case _:
            return None


def _outcome(kind, t, pad, told):
    """Return what became of a foul made at `t`, from the facts of its hide."""
    due = [fact for fact in told if _named(fact) in DUE.get(kind, (kind,))]
    if any(isinstance(fact, Question) for fact in due):
        return "asked"
    settled = [fact for fact in told if isinstance(fact, ActionPlayed) and fact.action["do"] in ("foul", "hit")]
    if due and kind in HIDING_FOULS and settled[0].by != "sensor":
        return "asked"  # the mat could not tell what lay there, and the judge said it
    if due:
        return "called"
    if pad is not None and any(t <= fact.t < t + 2 * FELT_S and fact.action.get("pad") == pad for fact in settled):
        return "counted"
    if kind == "early_hit" and any(isinstance(fact, Commit) and fact.t <= t + 0.1 for fact in told):
        return "too late"  # the bead had been seen: it was a hit, only a quick one
    return "missed"
