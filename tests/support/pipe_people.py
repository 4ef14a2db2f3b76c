"""People at the referee's pipe whose true acts are known: the hiders, the hitters and a child of neither team.

Each act has an actor; the referee is told only what sensors and buttons would tell. A truthful judge answers the
questions. Written against RULES.md ("At the edges of a hide", "Between two hides") and the fouls of chapter 12, not
against the referee. `People.tally` counts what became of innocent hides and of planted acts.
"""

import json
from collections import Counter
from dataclasses import dataclass, field, fields, replace

from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.referee.stream import Pipe
from pi_controller.rules import registry
from pi_controller.simulation.habits import (
    LATE_S,
    PAUSE_S,
    ROUND_PAUSE_S,
    SECOND_FALL_S,
    UNTIDY,
    plan_between_hides,
    plan_neighbour,
    plan_round,
)

PADS = (1, 2, 3, 4)
HIT_SECONDS = 30.0
GRACE_S = 1.5
"""A stroke up to so long after the end of the time is a question (RULES.md)."""
PASS_FOULS = ("pad_skipped", "pad_twice")
BEAD_FOULS = ("no_bead", "two_beads", "bead_off_mat")
CALLED_IN_DEMO = (*BEAD_FOULS, "time")
"""The planted acts that the preset `demo` does not pass over (FOULS.md)."""
ONLY_ASKED = ("hitters_hand", "peek", "late_hit", "again")
"""The planted acts that are to be a question, whatever else is called."""
PASS_QUESTIONS = ("passes_unsure", "hitters_hand", "unknown_hand")
AGAIN_QUESTIONS = ("hand_again",)
HIDER_PLANTS = (*PASS_FOULS, *BEAD_FOULS)
READ_S = 0.45
"""The mat reads the beads so long after the last hand left."""
MISSED_READING = 0.05
"""How often it does not: a hand with a bead is near."""
MAX_LINES = 400
"""Lines after which a hide that does not end is given up and settled by the judge."""
NOTICED_SHARE = 0.99


class HideSettledError(Exception):
    """The hide was settled, by hits or by a foul."""


class HideRestartedError(Exception):
    """The hide starts over."""


class InProcess:
    """The same pipe without a process."""

    def __init__(self, preset, options, nearest=""):
        game = registry.game("dakota", {name: str(value) for name, value in options.items()})
        seconds = options.get("hit_seconds")
        near = tuple(map(int, nearest.split(","))) if nearest else ()
        settings = RefereeSettings(preset=preset, hit_seconds=seconds, nearest=near)
        self._out = []
        nonces = iter(range(1, 10**9))
        referee = referee_for(game, settings, lambda n: next(nonces).to_bytes(n, "big"))
        self._pipe = Pipe(game, referee, self._out.append)

    def send(self, line):
        """Return what comes out for `line`."""
        self._out.clear()
        self._pipe.line(json.dumps(line).encode())
        return [*self._out]

    @property
    def hide(self):
        """The number of the hide, and the score sheet."""
        story = self._pipe.story
        return story.hide.number, self._pipe.game.sheet(story.state)

    def close(self):
        """Nothing is open."""


@dataclass
class Clock:
    """The hitters' clock as RULES.md has it: seconds between `low` and `high` have run at `t`.

    They differ only by questions that the hitters' own hands caused, which do not stop it.
    """

    t: float = 0.0
    low: float = 0.0
    high: float = 0.0

    def advance(self, t, stands, own_question):
        if t > self.t:
            ran = 0.0 if stands else t - self.t
            self.high += ran
            self.low += 0.0 if own_question else ran
            self.t = t

    def reset(self, t):
        """Begin anew at `t`, which may be a while ago: a stroke can be told late."""
        self.t, self.low, self.high = max(self.t, t), 0.0, max(0.0, self.t - t)


@dataclass
class Plant:
    """An act that the referee has to call or ask about: `kind` of `role`, made at `t`."""

    kind: str
    role: str
    t: float
    abouts: tuple[str, ...] = ()
    noticed: str = ""
    moot: bool = False


@dataclass
class Called:
    """A foul that was called by itself."""

    kind: str
    role: str
    t: float
    taken_back: bool = False


@dataclass
class Tally:
    """What the hides came to. `failures` are (what is wrong, the pipe's options, its lines).

    In `untidy` innocent hides people had a habit. In `charged` ones a foul was called on a team that did nothing, in
    `asked` ones the judge was asked about a foul of the hiders for no reason.
    """

    hides: int = 0
    innocent_hides: int = 0
    untidy: int = 0
    charged: int = 0
    asked: int = 0
    innocent: Counter = field(default_factory=Counter)
    planted: Counter = field(default_factory=Counter)
    called: Counter = field(default_factory=Counter)
    wrong_hits: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)

    def add(self, other):
        """Add another run's."""
        for each in fields(self):
            mine, its = getattr(self, each.name), getattr(other, each.name)
            setattr(self, each.name, mine + its)

    @property
    def missed(self):
        """How many planted acts were neither called nor asked."""
        return sum(count for (_, outcome), count in self.planted.items() if outcome == "missed")

    @property
    def fair(self):
        """Whether no innocent was punished, no hit made up or lost, and enough of what was planted was noticed."""
        return not self.innocent and not self.wrong_hits and self.noticed_share >= NOTICED_SHARE

    @property
    def noticed_share(self):
        """The share of planted acts that were called or asked."""
        due = sum(count for (_, outcome), count in self.planted.items() if outcome != "moot")
        return 1.0 if due == 0 else 1.0 - self.missed / due


def judge_hands(hands):
    """Return what `hands` since the bead was up (in s, out s, pad) amount to by RULES.md, "Between two hides".

    `good`: the last round, or all of them, are each pad once. `pad_twice`, `pad_skipped`: that may be called. Else
    `doubt`.
    """
    first = max((n for n in range(1, len(hands)) if hands[n][0] - hands[n - 1][1] >= ROUND_PAUSE_S), default=0)
    everything = [pad for *_, pad in hands]
    last = everything[first:]
    if [*PADS] in (sorted(last), sorted(everything)):
        return "good"
    if len(last) > len({*last}):
        return "pad_twice"
    return "doubt" if {*PADS} <= {*everything} else "pad_skipped"


def is_of_hiding(asked):
    """Return whether a question is about a foul of the hiders, or about whose hand was under a pad."""
    return asked.get("foul") in HIDER_PLANTS or asked["about"] in PASS_QUESTIONS


class People:
    """The people of one game at the pipe `table`, which is set up as `preset`.

    `plants` and `disturbs` are the shares of hides with a planted foul of the hider, and with disturbances.
    """

    def __init__(
        self, table, preset, random, hit_seconds=HIT_SECONDS, nearest="", habits=UNTIDY, plants=0.3, disturbs=0.6
    ):
        self.table, self.preset, self.random, self.hit_seconds = table, preset, random, hit_seconds
        self.habits, self.plant_share, self.disturb_share, self.nearest = habits, plants, disturbs, nearest
        self.tally = Tally()
        self.now = 1.0
        self.clock = Clock()
        self.hider, self.owed, self.over = "A", "first", False
        self.phase, self.question, self.answer_at = "toss", None, None
        self.under = {}
        self.mat_turns, self.must_show = random.random() < 0.5, False
        self.lines, self.began_with = [], "A"
        self.setup = f"--preset {preset}" + (f" --set hit_seconds={hit_seconds:g}" if hit_seconds else "")
        self.setup += f" --nearest {nearest}" if nearest else ""
        self.lying, self.vague_edges, self.disturbed, self.last_strike = [], "", [], 0.0
        self.before_call, self.maybe_up = Clock(), None
        self._new_hide()
        self._toss()

    def _toss(self):
        """The bones are won; somebody's hand may be under a pad."""
        toss = {"event": "button", "name": "toss_a"}
        if self.random.random() < self.habits.toss_hand:
            self.hand("hider", self.random.choice(PADS), during=lambda: self.say(toss, 0.3))
            self.idle(self.random.uniform(*PAUSE_S))
        else:
            self.say(toss, 0.5)

    def _new_hide(self):
        self.meant, self.doubts, self.charged, self.untidy, self.since_up = None, [], False, False, []
        self.guilty = {"hider": set(), "hitter": set()}
        self.plants, self.calls, self.asked, self.strokes = [], [], [], []
        self.settled = self.restarted = self.leaving = self.hiding = False
        self.hits_taken, self.used, self.sent = [], 0, 0
        self.passes, self.struck, self.waived, self.sealed = [], [], set(), False

    # the pipe

    def say(self, event, dt=0.0, t=None):
        """Let `dt` seconds pass and tell the referee of `event`; `t` is its own time if that is another one."""
        at = self.now + dt
        while self.question is not None and self.answer_at is not None and self.answer_at <= at:
            self._answer()
        self._send({"t": round(max(at, self.now) if t is None else t, 3), **event})
        self._leave()

    def _leave(self):
        if self.leaving:
            return
        if self.restarted:
            self.leaving = True
            raise HideRestartedError
        if self.settled or self.over or self.sent > MAX_LINES:
            self.leaving = True
            raise HideSettledError

    def wait(self, seconds):
        """Let time pass: a line that says nothing new."""
        self.say({"event": "sensors", "faults": []}, seconds)

    def _send(self, line):
        self.sent += 1
        self.lines.append(line)
        t, moved = line["t"], False
        for fact in self.table.send(line):
            if "error" in fact:
                continue
            if fact["t"] >= t and not moved:
                moved = self._advance_and_move(line)
            self._advance(fact["t"])
            self._take(fact)
        if not moved:
            self._advance_and_move(line)
        self.now = max(self.now, t)

    def _advance(self, t):
        question = self.question
        own = question is not None and question["about"] == "peek"
        self.clock.advance(t, any(self.under.values()) or (question is not None and not own), own)

    def _advance_and_move(self, line):
        self._advance(line["t"])
        if line.get("event") == "hand_in":
            self.under[line["pad"]] = line.get("side") != "hitter"
        elif line.get("event") == "hand_out":
            self.under.pop(line["pad"], None)
        return True

    def _take(self, fact):
        match fact["kind"]:
            case "question":
                self.question = fact
                self.asked.append(fact)
                self._notice(fact)
                late = self.random.random() < self.habits.late
                delay = self.random.uniform(*(LATE_S if late else (0.3, 6.0)))
                self.answer_at = None if self.preset == "demo" else fact["t"] + delay
            case "withdrawn":
                self.question = None
            case "answer":
                asked, self.question = self.question, None
                if fact["answer"] == "play_on":
                    foul = (asked or {}).get("foul", "")
                    self.waived |= {foul, fact["about"], *(PASS_FOULS if foul in PASS_FOULS else ())}
                looked = fact["about"] == "no_reading" or (asked is not None and asked.get("foul") in BEAD_FOULS)
                if self.phase == "check" and fact["answer"] == "play_on" and looked:
                    self._hits_begin(fact["t"])
            case "ready":
                self.phase = "check"
            case "void":
                self.sealed = False
            case "commit" | "by_eye":
                self.sealed = fact["kind"] == "commit"
                if self.phase != "hit":
                    self._hits_begin(fact["t"])
            case "hide_again":
                self.phase, self.question, self.restarted = "hide", None, True
            case "shown":
                self.phase = "hide"
            case "ready_withdrawn":
                self.phase = "hide"
            case "notice" if fact["about"] == "foul_settled":
                self.restarted = self.must_show = True  # the page says so: show the bead, press shown, hide anew
            case "undone":
                for call in reversed(self.calls):
                    if not call.taken_back:
                        call.taken_back = True
                        break
                self.settled, self.question = False, None
                now, self.clock = self.clock.t, replace(self.before_call)
                self._advance(now)
                if self.phase == "show":
                    self.phase = "hit"
            case "foul":
                self._seen = fact["foul"]
            case "action":
                self._act(fact)
            case _:
                pass

    def _hits_begin(self, t):
        self.phase = "hit"
        self.clock.reset(t)

    def _act(self, fact):
        action, state, automatic = fact["action"], fact["state"], fact["by"] != "judge"
        self.question, self._in_time = None, False
        if action["do"] == "foul":
            kind, role = self._seen, action["by"]
            for plant in self.plants:
                if not plant.noticed and plant.role == role and plant.kind not in ONLY_ASKED:
                    plant.noticed = "called" if automatic else "asked"
            if automatic:
                self._judge_call(kind, action["kind"], role, fact["t"])
        elif action["do"] == "hit":
            self.hits_taken.append(action.get("pad"))
        self.over = state["winner"] is not None
        if state["owed"] == "second":
            self.phase, self.owed = "hit", "second"
            self.clock.reset(fact["t"])
        elif action["do"] != "toss":
            self.phase, self.owed, self.settled = "show", "first", True
        else:
            self.phase = "hide"
        self.hider = state["hider"]

    def _judge_call(self, kind, pays, role, t):
        self.calls.append(Called(kind, role, t))
        self.before_call = replace(self.clock)
        self.tally.called[kind, role] += 1
        if kind == "time":
            if self.clock.high < self.hit_seconds - 0.05:
                stood = " while the hider's hand was under a pad" if any(self.under.values()) else ""
                self._fail("innocent", f"time on the hitter{stood or ' before its end'}")
        elif not {kind, pays} & self.guilty[role]:
            self._fail("innocent", f"{kind} on the {role}: {self._reason}")

    @property
    def _reason(self):
        return self.disturbed[0] if self.disturbed else "nothing unusual"

    def _fail(self, category, what):
        if category == "innocent":
            self.charged = True
            self.tally.innocent[what] += 1
        elif category == "wrong hit":
            self.tally.wrong_hits[what] += 1
        self.tally.failures.append((f"{category}: {what}", self.setup, [*self.lines]))

    def _notice(self, fact):
        for plant in self.plants:
            if not plant.noticed and (fact.get("foul") == plant.kind or fact["about"] in plant.abouts):
                plant.noticed = "asked"

    def plant(self, kind, role, abouts=(), moot=False):
        """Note an act that is to be called or asked about."""
        moot = moot or kind in self.waived or (self.preset == "demo" and kind not in CALLED_IN_DEMO)
        self.plants.append(Plant(kind, role, self.now, abouts, moot=moot))

    # the judge

    @property
    def _premature(self):
        """Whether the judge is asked how the hide was done while the hider is still at it."""
        asked = self.question
        of_the_hide = asked.get("foul") in (*PASS_FOULS, *BEAD_FOULS) or asked["about"] == "no_reading"
        return self.hiding and of_the_hide and asked["about"] != "bead_moved"

    def _answer(self):
        asked, t = self.question, self.answer_at
        if self._premature:
            self.answer_at += 1.0
            return
        self.answer_at = None
        self._send({"t": round(max(t, self.now), 3), "judge": "answer", "answer": self._true_answer(asked)})

    def _true_answer(self, asked):
        choices, foul, about = asked["choices"], asked.get("foul"), asked["about"]
        if "foul" in choices:
            role = "hitter" if foul == "time" else "hider"
            guilty = self.guilty[role] & {foul, about} or (foul in PASS_FOULS and self.guilty[role] & {*PASS_FOULS})
            overdue = foul == "time" and self.clock.low > self.hit_seconds - 0.05 and not self.strokes_in_time
            if guilty or overdue:
                return "foul"
        if about == "found":
            return "found" if asked["pads"][0] in self.lying else "missed"
        pads = [str(pad) for pad in self.struck[-1:] if str(pad) in choices]
        if pads and about in (
            "doubtful",
            "two_struck",
            "several_struck",
            "beside_dead",
            "struck_meanwhile",
            "one_stroke",
        ):
            return pads[0]
        if about == "late_hit" and self.random.random() < 0.5:
            return self.random.choice(choices)
        again = 0.2 if about in ("hitters_hand", "no_reading", "early_hit") else 0.05
        if "hide_again" in choices and self.random.random() < again:
            return "hide_again"
        return next((one for one in ("play_on", "none", "no") if one in choices), choices[0])

    def await_answer(self, seconds=60.0):
        """Wait until no question is open."""
        end = self.now + seconds
        while self.question is not None and self.now < end:
            at = self.answer_at
            self.wait(1.0 if at is None else max(0.0, at - self.now) + 0.01)

    # acts

    def hand(self, actor, pad, told=True, dwell=None, sure=True, during=None):
        """Put a hand under `pad` and take it out; `told`: the edge it comes over is known."""
        side = {"side": "hider" if actor == "hider" else "hitter"} if told else self._unknown_side()
        vague = {} if sure else {"sure": False}
        self.say({"event": "hand_in", "pad": pad, **side, **vague}, 0.02)
        went_in = self.now
        try:
            if during is not None:
                during()
            self.wait(self.random.uniform(0.2, 0.8) if dwell is None else dwell)
        finally:
            self._send({"t": round(self.now, 3), "event": "hand_out", "pad": pad, **side, **vague})
            self._note_hand(actor == "hider" or not told, (went_in, self.now, pad))
            if not told:
                self.doubts.append("a hand of unknown side")
        self._leave()

    def _note_hand(self, hides, hand):
        """Remember a hand since the bead was up, and since it may have been up: the mat cannot tell who took it."""
        if hides:
            self.since_up.append(hand)
            self.maybe_up = None if self.maybe_up is None else [*self.maybe_up, hand]
        if self.maybe_up is None and hand[2] in self.lying:
            self.maybe_up = []

    @property
    def _looks_good(self):
        """Whether the hands since the bead was up, or since it may have been, are a good hide."""
        return any(judge_hands(hands) == "good" for hands in (self.since_up, self.maybe_up or []))

    def _unknown_side(self):
        if self.vague_edges == "no strips":
            return {}
        return {"side": None if self.vague_edges else self.random.choice((None, "unclear"))}

    def rest(self, dt=0.3, sure=True):
        """The field is at rest, if no hand is under a pad: what lies on the mat is read."""
        if not self.under:
            self.maybe_up = None if self.lying else self.maybe_up
            found = [{"pad": pad} for pad in self.lying]
            self.say({"event": "beads", "found": found, **({} if sure else {"sure": False})}, dt)

    def ready(self, dt=0.3):
        self.say({"event": "button", "name": "ready"}, dt)

    def strike(self, pad, dt=0.0, t=None, **more):
        self.struck.append(pad)
        self.last_strike = self.now + dt
        self.say({"event": "strike", "pads": [pad], **more}, dt, t)

    # one hide

    def play_hide(self):
        """Play a hide to its end, and judge what the referee made of it."""
        struck, self.began_with, self.first_line = [*self.hits_taken], self.hider, len(self.lines)
        self._new_hide()
        self.disturbed = []
        disturb = self.random.random() < self.disturb_share
        vague = disturb and self.random.random() < 0.17
        self.vague_edges = self.random.choice(("no strips", "dirty strips")) if vague else ""
        if self.phase == "show":
            self.tidy_up([pad for pad in struck if pad is not None])
        self.meant = plant = self.random.choice(HIDER_PLANTS) if self.random.random() < self.plant_share else None
        for _ in range(4):
            try:
                self.restarted = self.leaving = False
                self.hide_bead(plant, disturb)
                self.play_hits(disturb)
            except HideRestartedError:
                for each in self.plants:
                    each.moot = each.moot or not each.noticed
                self.guilty = {"hider": set(), "hitter": set()}
                self.doubts.append("a round after the judge's word")
                plant, disturb = None, disturb and self.random.random() < 0.3
                if self.must_show:
                    self.must_show = False
                    self._send({"t": round(self.now + 0.5, 3), "event": "button", "name": "shown"})
                continue
            except HideSettledError:
                pass
            break
        self.leaving = True
        self._finish_hide()

    def tidy_up(self, struck):
        """Between two hides: people take the bead up, press *shown* and tidy the pads as they will."""
        self.leaving = True
        lifter = "hitter" if self.random.random() < 0.1 else "hider"  # they hide next: the finders, or the same team
        acts = plan_between_hides(self.random, self.habits, struck, lifter, "hider")
        self.untidy = [act.do for act in acts] != ["lift", "shown", "wait"]
        for act in acts:
            read = self.idle(act.after_s)
            if act.do == "lift":
                self._lift(act)
            elif act.do == "hand":
                self.disturbed.append("tidying")
                self.hand(act.side, act.pad, dwell=act.dwell_s)
            elif act.do == "shown":
                self.say({"event": "button", "name": "shown"})
        if not read:
            self.doubts.append("an empty mat that was not read")
        self.leaving = False

    def _lift(self, act):
        """Take up whatever lies on the mat, pad by pad."""
        for pad in [*self.lying]:
            self.hand(act.side, pad or self.random.choice(PADS), dwell=act.dwell_s)
        self.lying, self.since_up = [], []

    def idle(self, seconds):
        """Rest; if no hand is under a pad meanwhile, the mat reads what lies on it. Return whether it did."""
        if seconds < READ_S or self.under or self.random.random() < MISSED_READING:
            self.wait(seconds)
            return False
        self.rest(READ_S)
        self.wait(seconds - READ_S)
        return True

    def hide_bead(self, plant, disturb):
        """The hider goes under the pads; with disturbances, and with the foul `plant`."""
        random = self.random
        self.leaving, self.hiding = False, True
        self.passes, self.lying, self.phase = [], [], "hide" if self.phase == "check" else self.phase
        order = random.sample(PADS, 4)
        target = random.choice(order)
        steps = list(order)
        if plant == "pad_skipped":
            steps.remove(random.choice([pad for pad in order if pad != target]))
        elif plant == "pad_twice":
            steps.insert(random.randrange(1, 5), random.choice(order[:1]))
        stops = [(steps[n], pause_s) for n, pause_s in plan_round(random, self.habits, len(steps))]
        last_round = len(stops) - len(steps)
        self.untidy |= any(pause_s for _, pause_s in stops)
        early = random.choice(("child", "hitter", "hider")) if disturb and random.random() < 0.4 else ""
        habits = replace(self.habits, neighbour=1.0) if early else self.habits
        early_after = plan_neighbour(random, habits, stops) if plant != "pad_skipped" else None
        stray_after = random.randrange(1, len(stops) + 1) if disturb and random.random() < 0.4 else 0
        knock_after = random.randrange(1, len(stops)) if disturb and random.random() < 0.15 else 0
        if plant == "pad_twice":
            self.guilty["hider"].add(plant)
        for n, (pad, pause_s) in enumerate(stops, 1):
            if self.phase == "check" and not pause_s:
                self.wait(random.uniform(0.1, 1.0))
            else:
                self.idle(pause_s or random.uniform(0.1, 1.2))
            if self.question is not None and not self._premature and random.random() < 0.5:
                self.await_answer()
            told = not (self.vague_edges or (disturb and random.random() < 0.06))
            under = n == len(stops) and plant != "pad_skipped" and disturb and random.random() < 0.15
            self.passes.append(pad)
            try:
                self.hand("hider", pad, told, during=(lambda: self.ready(0.1)) if under else None)
            except HideSettledError:
                self._finish_passes([pad for pad, _ in stops[n:]])
                raise
            if pad == target and n > last_round and plant != "no_bead":
                self.lying = [pad]
            if n == len(stops) and plant in BEAD_FOULS:
                self._leave_beads_wrong(plant, target, order)
            try:
                if n == early_after:
                    self._press_early(early or "hitter")
                if n == stray_after:
                    self._stray_hand()
                if n == knock_after and not self.under:
                    self.disturbed.append("stroke while hiding")
                    self.say({"event": "strike", "pads": [random.choice(PADS)]}, 0.3)
            except HideSettledError:
                self._finish_passes([pad for pad, _ in stops[n:]])
                raise
        if judge_hands(self.since_up) != "good":
            self.doubts.append("hands that are no good hide by themselves")
        self._be_ready(plant)

    def _leave_beads_wrong(self, plant, target, order):
        others = [pad for pad in order if pad != target]
        self.lying = {"no_bead": [], "two_beads": [target, self.random.choice(others)], "bead_off_mat": [None]}[plant]
        self.guilty["hider"].add(plant)
        self.plant(plant, "hider", ("no_reading", "passes_unsure"))

    def _finish_passes(self, steps):
        """A foul was called in the middle: the hider's hand, on its way, goes on under the pads."""
        self.disturbed.append("hands after the call")
        told = not self.vague_edges
        # where the mat turns with the roles their edge is the hitters' now; else they still sit at the hiders'
        same_edge = self.began_with == self.hider or not self.mat_turns
        if self.random.random() < 0.3:
            return
        for pad in steps:
            self.now += self.random.uniform(0.2, 1.0)
            self.hand("hider" if same_edge else "hitter", pad, told)
        if self.random.random() < 0.3:
            self.ready()

    def _press_early(self, who):
        self.disturbed.append(f"early ready by a {who}")
        self.ready(self.random.uniform(0.1, 0.8))
        if self.random.random() < 0.4:
            self.rest(self.random.uniform(0.1, 0.6))

    def _stray_hand(self):
        """A hitter's or a child's hand under a pad, over the hitters' edge or one that is not known."""
        random = self.random
        told = random.random() < 0.6 or self.vague_edges == "no strips"
        self.disturbed.append("the hitters' hand" if told else "a hand of unknown side")
        self.doubts.append(self.disturbed[-1])
        if told and self.question is None and self.phase in ("hide", "check"):
            self.plant("hitters_hand", "hitter", ("hitters_hand",))
        self.hand("hitter", random.choice(PADS), told, dwell=random.uniform(0.1, 0.5))
        if self.lying and random.random() < 0.15:
            self.disturbed.append("which took the bead")
            self.lying = []
            self._bead_is_the_strangers()
        elif self.lying and random.random() < 0.1:
            self.disturbed.append("which laid a second bead")
            self.lying = [*self.lying, random.choice([pad for pad in PADS if pad not in self.lying])]
            self._bead_is_the_strangers()

    def _bead_is_the_strangers(self):
        """What the hider left is not what lies there now."""
        self.guilty["hider"] -= {*BEAD_FOULS}
        for plant in self.plants:
            plant.moot = plant.moot or plant.kind in BEAD_FOULS

    def _be_ready(self, plant):
        """The hider presses ready and sits back; the mat looks until the hits may begin."""
        random = self.random
        self.hiding = False
        if self.question is not None and random.random() < 0.6:
            self.await_answer()
        if plant in PASS_FOULS:
            self.guilty["hider"].add(plant)
            hidden = plant == "pad_skipped" and self._hidden_by_stray()
            self.plant(plant, "hider", PASS_QUESTIONS, moot=hidden or self._looks_good)
        if self.phase != "check":
            self.ready(random.uniform(0.2, 1.5))
        self.rest(random.uniform(0.1, 0.6), sure=random.random() > 0.03)
        for _ in range(60):
            if self.phase == "hit":
                return
            if self.question is not None:
                self.await_answer()
            elif self.phase in ("hide", "show"):
                self.ready(0.5)
                self.rest()
            else:
                self.wait(1.0)
                self.rest()

    def _hidden_by_stray(self):
        """Whether a hand of unknown side was under the pad that the hider skipped: no mat can tell."""
        unknown = {
            line["pad"]
            for line in self.lines[self.first_line :]
            if line.get("event") == "hand_in" and line.get("side") is None
        } - {*self.passes}
        return bool(unknown)

    @property
    def strokes_in_time(self):
        """Whether a stroke for the hit that is owed was made before the end of the time."""
        return self._in_time

    _in_time = False

    def play_hits(self, disturb):
        """The hitters strike up to twice."""
        random = self.random
        if disturb and random.random() < 0.4:
            self._after_ready()
        while True:
            if self.question is not None:
                if random.random() < 0.15 and self.phase == "hit":
                    self._strike_while_asked()
                self.await_answer()
            if self.phase != "hit":
                self._be_ready(None)
                continue
            taken = {pad for pad in self.hits_taken if pad is not None}
            open_pads = [pad for pad in PADS if pad not in taken]
            pad = random.choice(open_pads)
            how = random.random()
            owed = self.owed
            left = (self.hit_seconds or 1e9) - self.clock.high
            certain = self.clock.high == self.clock.low and not self.under and self.hit_seconds and left > 3.0
            certain = certain and disturb
            if how < 0.08 and certain:
                self._strike_at_buzzer(pad, left)
            elif how < 0.16 and certain:
                self._strike_late(pad, left)
            elif how < 0.24 and certain:
                self._let_time_run_out(left)
            elif how < 0.3 and owed == "second" and taken and disturb:
                self.plant("same_pad", "hitter", ("same_pad",))
                self.strike(next(iter(taken)), 1.0)
            else:
                self._strike_somehow(pad, left)
                if random.random() < 0.5 and not self.settled:
                    self.hand("hitter", pad, dwell=0.4)  # turns the moccasin over
            if random.random() < 0.2:
                self.rest()

    def _strike_somehow(self, pad, left):
        """Strike `pad`; a hand may point there, the stick may bounce, the judge may have to enter the hit."""
        random, habits = self.random, self.habits
        since = self.now - self.last_strike
        look_s = min(max(random.uniform(0.3, 8.0), SECOND_FALL_S[1] + 0.2 - since), max(0.01, left - 2.0))
        if random.random() < habits.point:
            self.disturbed.append("a hand that points")
            self.wait(look_s)
            self.hand("hitter", pad, dwell=0.1, during=lambda: self.strike(pad, random.uniform(0.1, 0.6)))
        elif random.random() < habits.bounce:
            self.wait(look_s)
            self._strike_and_bounce(pad)
        elif random.random() < habits.late and left > 2 * LATE_S[0]:
            self.disturbed.append("a hit that the judge enters late")
            self.wait(look_s)
            self.wait(random.uniform(LATE_S[0], min(LATE_S[1], left - look_s - 2.0)))
            self._enter({"do": "hit", "found": pad in self.lying, "pad": pad})
        else:
            self.strike(pad, look_s)

    def _strike_and_bounce(self, pad):
        """One stroke: the stick falls on `pad`, bounces, and falls on another."""
        self.disturbed.append("a stick that bounces")
        hits, other = len(self.hits_taken), self.random.choice([other for other in PADS if other != pad])
        self.leaving = True
        self.strike(pad)
        self.say({"event": "strike", "pads": [other]}, self.random.uniform(*SECOND_FALL_S))
        self.await_answer()
        if len(self.hits_taken) > hits + 1:
            self._fail("wrong hit", "a stick that bounced made two hits")
        self.leaving = False
        self._leave()

    def _enter(self, action):
        """The judge enters an action."""
        self._send({"t": round(self.now, 3), "judge": "action", "action": action})
        self._leave()

    def _replace_and_take_back(self):
        """The judge replaces the last hit by its contrary and takes that back: the undo of an undo."""
        self.disturbed.append("an undo of an undo")
        before = {name: getattr(self, name) for name in ("phase", "owed", "settled", "hider", "over", "clock")}
        self.now += self.random.uniform(0.5, 3.0)
        pads = {"pad": self.hits_taken[-1]} if self.hits_taken[-1] else {}
        action = {"do": "hit", "found": self.hits_taken[-1] not in self.lying, **pads}
        hits = [*self.hits_taken]
        self._send({"t": round(self.now, 3), "judge": "replace", "action": action})
        self._send({"t": round(self.now + 1.0, 3), "judge": "undo"})
        for name, value in before.items():
            setattr(self, name, value)
        self.hits_taken = hits

    def _strike_at_buzzer(self, pad, left):
        """A stroke made before the end of the time is told after it."""
        self.disturbed.append("stroke in time told late")
        made = self.now + left - self.random.uniform(0.01, 0.3)
        owed, before = self.owed, len(self.calls)
        self._in_time = True
        self.leaving = True
        self.wait(left + self.random.choice((self.random.uniform(0.0, 0.3), self.random.uniform(0.3, 2.5))))
        self.strike(pad, t=made)
        self.wait(0.5)
        self.leaving = False
        standing = [call for call in self.calls[before:] if call.kind == "time" and not call.taken_back]
        asked = self.question is not None
        if standing and not asked:
            self._fail("innocent", f"time on the hitter who struck in time ({owed} hit)")
        self.leaving = False
        self._leave()

    def _strike_late(self, pad, left):
        """A stroke within the grace after the end of the time: a question, and never the next hit."""
        self.disturbed.append("stroke just after the time")
        late = self.random.uniform(0.05, GRACE_S - 0.1)
        hits = len(self.hits_taken)
        self.leaving = True
        self.plant("late_hit", "hitter", ("late_hit", "foul"))
        self.guilty["hitter"].add("time")
        if self.random.random() < 0.7:
            self.wait(left + 0.01)
            self.strike(pad, late - 0.01)
        else:  # and told later still
            made = self.now + left + late
            self.wait(left + late + 0.2)
            self.strike(pad, t=made)
        if len(self.hits_taken) > hits:
            self._fail("wrong hit", "a stroke after the end of the time")
        self.leaving = False
        self._leave()

    def _let_time_run_out(self, left):
        self.disturbed.append("time ran out")
        self.guilty["hitter"].add("time")
        self.plant("time", "hitter", ("time", "foul"))
        try:
            self.wait(left + GRACE_S + self.random.uniform(0.5, 3.0))
        finally:
            if not self.settled and self.question is None:
                self.guilty["hitter"].discard("time")

    def _strike_while_asked(self):
        """A stroke while the judge is asked something is kept and put with the question."""
        self.disturbed.append("stroke while asked")
        taken = {pad for pad in self.hits_taken if pad is not None}
        pad = self.random.choice([pad for pad in PADS if pad not in {*taken, *self.question.get("pads", ())}])
        about, before, asked = self.question["about"], len(self.hits_taken), len(self.asked)
        if self.preset == "demo":
            return
        self.leaving = True
        self.strike(pad, 0.1)
        self.await_answer()
        self.wait(0.5)
        kept = len(self.hits_taken) > before or any(pad in fact.get("pads", ()) for fact in self.asked[asked:])
        kept = kept or any("struck" in json.dumps(fact) for fact in self.asked[asked:])
        if not kept and not self.settled and not self.restarted:
            self._fail("wrong hit", f"a stroke while {about} was asked is lost")
        self.leaving = False
        self._leave()

    def _after_ready(self):
        """What should not happen between ready and the first hit."""
        random = self.random
        kind = random.choice(("again", "peek", "moved", "long"))
        self.doubts.append(kind)
        asked = self.question is not None
        if kind == "peek":
            self.disturbed.append("the hitters' peek")
            if not asked:
                self.plant("peek", "hitter", ("peek",))
            self.hand("hitter", random.choice(PADS), dwell=0.5)
        elif kind == "moved" and self.lying:
            self.disturbed.append("the bead moved by itself")
            if not asked and self.sealed:
                self.plant("bead_moved", "hider", ("bead_moved",))
            self.lying = [random.choice([pad for pad in PADS if pad not in self.lying])]
            self.rest()
        else:
            self.disturbed.append("the hider's hand after ready")
            self.guilty["hider"].add("pad_twice")
            if not asked:
                self.plant("again", "hider", AGAIN_QUESTIONS)
            long = kind == "long" and self.hit_seconds
            pad = random.choice(PADS)
            self.hand("hider", pad, dwell=random.uniform(0.6, 1.3) * self.hit_seconds * 2 if long else 0.5)
        self.rest()

    def _finish_hide(self):
        tally = self.tally
        tally.hides += 1
        if self.meant is None:
            tally.innocent_hides += 1
            tally.untidy += self.untidy
            tally.charged += self.charged
            if any(map(is_of_hiding, self.asked)) and not self.doubts and not self.plants:
                tally.asked += 1
        self.leaving, self.hiding = True, False
        if not self.settled:
            while self.question is not None and self.answer_at is not None:
                self._answer()
            for found in (False, False):
                if not self.settled:
                    self._send(
                        {"t": round(self.now + 0.1, 3), "judge": "action", "action": {"do": "hit", "found": found}}
                    )
        elif self.hits_taken and not self.calls and not self.over and self.random.random() < self.habits.undo_twice:
            self._replace_and_take_back()
        for plant in self.plants:
            if plant.noticed or plant.moot:
                tally.planted[plant.kind, plant.noticed or "moot"] += 1
            else:
                guilty_else = any(each.noticed for each in self.plants if each.role == plant.role)
                outcome = "moot" if guilty_else or self.restarted else "missed"
                tally.planted[plant.kind, outcome] += 1
                if outcome == "missed":
                    self._fail("missed", plant.kind)
        self.under.clear()
