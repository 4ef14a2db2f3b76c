"""Play random hides of Hampa Apena through the pipe, with people whose true acts are known, and judge the referee.

    python tests/referee/truthful_hides.py --hides 20000 --seed 1 [--preset home] [--show 3]

The people: the hiding team, the hitting team and a child who belongs to neither. Each act has an actor; the referee is
told only what sensors and buttons would tell. A truthful judge answers the questions. Written against RULES.md ("At the
edges of a hide") and the fouls of chapter 12, not against the referee. Three rules judge the outcome:

* no foul is called by itself on a team that did not commit it ("innocent");
* a planted foul, and a hand where the rules want a question, is called or asked ("missed" otherwise);
* one stroke is never two hits, and one that is made while the judge is asked is kept ("wrong hit" otherwise).

`--show` prints failing hides as the lines of the pipe that lead to them, from the toss on. Status 1 if an
innocent team was punished, or less than 99 % of what was planted was noticed.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random

from pi_controller.referee.base import referee_for
from pi_controller.referee.settings import PRESETS, RefereeSettings
from pi_controller.referee.stream import Pipe
from pi_controller.rules import registry

PADS = (1, 2, 3, 4)
HIT_SECONDS = 30.0
CHECK_TIMEOUT_S = 3.0
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
MAX_LINES = 400
"""Lines after which a hide that does not end is given up and settled by the judge."""
HIDES_A_GAME = 25
NOTICED_SHARE = 0.99


class HideSettledError(Exception):
    """The hide was settled, by hits or by a foul."""


class HideRestartedError(Exception):
    """The hide starts over."""


class Process:
    """The referee on a real pipe: `moccasin-mat referee dakota`."""

    def __init__(self, preset, options, nearest=""):
        sets = [word for option in options.items() for word in ("--set", "{}={}".format(*option))]
        command = [sys.executable, "-m", "pi_controller", "referee", "dakota", "--preset", preset, *sets]
        self._lines = 0
        self._process = subprocess.Popen(
            [*command, "--nearest", nearest], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def send(self, line):
        """Return what comes out for `line`. A second line, which is no JSON, follows it: its error ends the answer."""
        source, out = self._process.stdin, self._process.stdout
        self._lines += 2
        source.write(json.dumps(line) + "\nend\n")
        source.flush()
        answers = []
        while (answer := json.loads(out.readline())).get("error", {}).get("line") != self._lines:
            answers.append(answer)
        return answers

    def close(self):
        """End the process."""
        self._process.communicate()


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
    """What the hides came to. `failures` are (what is wrong, the pipe's options, its lines)."""

    hides: int = 0
    innocent: Counter = field(default_factory=Counter)
    planted: Counter = field(default_factory=Counter)
    called: Counter = field(default_factory=Counter)
    wrong_hits: Counter = field(default_factory=Counter)
    hits: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)
    stuck: int = 0

    def add(self, other):
        """Add another run's."""
        self.hides += other.hides
        self.stuck += other.stuck
        for name in ("innocent", "planted", "called", "wrong_hits", "hits"):
            getattr(self, name).update(getattr(other, name))
        self.failures += other.failures

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


class People:
    """The people of one game at the pipe `table`, which is set up as `preset`."""

    def __init__(self, table, preset, random, hit_seconds=HIT_SECONDS, nearest=""):
        self.table, self.preset, self.random, self.hit_seconds = table, preset, random, hit_seconds
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
        self._new_hide()
        self.say({"event": "button", "name": "toss_a"}, 0.5)

    def _new_hide(self):
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
                self.tally.hits["refused"] += 1
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
                delay = self.random.uniform(0.3, 6.0)
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
                now, self.clock = self.clock.t, self.before_call
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
        if pads and about in ("doubtful", "two_struck", "several_struck", "beside_dead", "struck_meanwhile"):
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
        self.say({"event": "hand_in", "pad": pad, **side, **vague}, 0.0)
        try:
            if during is not None:
                during()
            self.wait(self.random.uniform(0.2, 0.8) if dwell is None else dwell)
        finally:
            self._send({"t": round(self.now, 3), "event": "hand_out", "pad": pad, **side, **vague})
        self._leave()

    def _unknown_side(self):
        if self.vague_edges == "no strips":
            return {}
        return {"side": None if self.vague_edges else self.random.choice((None, "unclear"))}

    def rest(self, dt=0.3, sure=True):
        """The field is at rest, if no hand is under a pad: what lies on the mat is read."""
        if not self.under:
            found = [{"pad": pad} for pad in self.lying]
            self.say({"event": "beads", "found": found, **({} if sure else {"sure": False})}, dt)

    def ready(self, dt=0.3):
        self.say({"event": "button", "name": "ready"}, dt)

    def strike(self, pad, dt=0.0, t=None, **more):
        self.struck.append(pad)
        self.say({"event": "strike", "pads": [pad], **more}, dt, t)

    # one hide

    def play_hide(self):
        """Play a hide to its end, and judge what the referee made of it."""
        self.began_with, self.first_line = self.hider, len(self.lines)
        self._new_hide()
        self.disturbed = []
        self.vague_edges = self.random.choice(("no strips", "dirty strips")) if self.random.random() < 0.1 else ""
        self.take_up_bead()
        plant = self.random.choice(HIDER_PLANTS) if self.random.random() < 0.3 else None
        if self.silent and plant in PASS_FOULS:
            plant = None  # which hand fetched the bead and which one hid it is not to be told
        disturb = self.random.random() < 0.6
        for _ in range(4):
            try:
                self.restarted = self.leaving = False
                self.hide_bead(plant, disturb)
                self.play_hits(disturb)
            except HideRestartedError:
                for each in self.plants:
                    each.moot = each.moot or not each.noticed
                self.guilty = {"hider": set(), "hitter": set()}
                plant, disturb = None, self.random.random() < 0.2
                if self.must_show:
                    self.must_show = False
                    self._send({"t": round(self.now + 0.5, 3), "event": "button", "name": "shown"})
                continue
            except HideSettledError:
                pass
            break
        self.leaving = True
        self._finish_hide()

    def take_up_bead(self):
        """After a hide: the bead is fetched, by whom and however they will."""
        self.lying, self.silent = [], False
        if self.phase != "show":
            return
        how = self.random.choice(("hand", "hand", "button", "silent"))
        self.silent = how == "silent"
        self.leaving = True
        if how == "hand":
            self.hand(self.random.choice(("hider", "hitter")), self.random.choice(PADS), dwell=0.3)
            self.rest()
        elif how == "button":
            self.say({"event": "button", "name": "shown"}, 0.4)
        else:
            self.hand("hider", self.random.choice(PADS), dwell=0.3)
        self.leaving = False

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
        early = random.choice(("child", "hitter", "hider")) if disturb and random.random() < 0.4 else ""
        early_after = random.randrange(1, len(steps)) if early and plant != "pad_skipped" else 0
        stray_after = random.randrange(1, len(steps) + 1) if disturb and random.random() < 0.4 else 0
        knock_after = random.randrange(1, len(steps)) if disturb and random.random() < 0.15 else 0
        for n, pad in enumerate(steps, 1):
            pressed = self.now if self.phase == "check" else None
            gap = random.uniform(0.1, 1.0 if pressed else 2.0)
            self.wait(gap)
            if self.question is not None and not self._premature and random.random() < 0.5:
                self.await_answer()
            if pad in self.passes:
                self.guilty["hider"].add("pad_twice")
            told = not (self.vague_edges or random.random() < 0.04)
            under = n == len(steps) and plant != "pad_skipped" and random.random() < 0.1
            self.passes.append(pad)
            try:
                self.hand("hider", pad, told, during=(lambda: self.ready(0.1)) if under else None)
            except HideSettledError:
                self._finish_passes(steps[n:])
                raise
            if pad in self.guilty_pads(plant, steps, n):
                self.plant("pad_twice", "hider", PASS_QUESTIONS)
            if pad == target and plant != "no_bead":
                self.lying = [pad]
            if n == len(steps) and plant in BEAD_FOULS:
                self._leave_beads_wrong(plant, target, order)
            try:
                if random.random() < 0.5:
                    self.rest()
                if n == early_after:
                    self._press_early(early)
                if n == stray_after:
                    self._stray_hand()
                if n == knock_after and not self.under:
                    self.disturbed.append("stroke while hiding")
                    self.say({"event": "strike", "pads": [random.choice(PADS)]}, 0.3)
            except HideSettledError:
                self._finish_passes(steps[n:])
                raise
        self._be_ready(plant)

    def guilty_pads(self, plant, steps, n):
        """Return the pads that are passed twice at step `n`."""
        return {steps[n - 1]} if plant == "pad_twice" and steps[: n - 1].count(steps[n - 1]) else set()

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
        if plant == "pad_skipped":
            self.guilty["hider"].add("pad_skipped")
            self.plant("pad_skipped", "hider", PASS_QUESTIONS, moot=self._hidden_by_stray())
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
            if how < 0.08 and certain:
                self._strike_at_buzzer(pad, left)
            elif how < 0.16 and certain:
                self._strike_late(pad, left)
            elif how < 0.24 and certain:
                self._let_time_run_out(left)
            elif how < 0.3 and owed == "second" and taken:
                self.plant("same_pad", "hitter", ("same_pad",))
                self.strike(next(iter(taken)), 0.5)
            else:
                self.strike(pad, min(random.uniform(0.3, 8.0), max(0.01, left - 2.0)))
                if random.random() < 0.5 and not self.settled:
                    self.hand("hitter", pad, dwell=0.4)  # turns the moccasin over
            if random.random() < 0.2:
                self.rest()

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
        if not self.settled and not self.restarted:
            self._note_hit(f"stroke while {about} is asked: {'kept' if kept else 'lost'}")
            if not kept:
                self._fail("wrong hit", f"a stroke while {about} was asked is lost")
        self.leaving = False
        self._leave()

    def _note_hit(self, what):
        self.tally.hits[what] += 1

    def _after_ready(self):
        """What should not happen between ready and the first hit."""
        random = self.random
        kind = random.choice(("again", "peek", "moved", "long"))
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
        self.leaving, self.hiding = True, False
        if not self.settled:
            tally.stuck += self.sent > MAX_LINES
            while self.question is not None and self.answer_at is not None:
                self._answer()
            for found in (False, False):
                action = {"do": "hit", "found": found}
                if not self.settled:
                    self._send({"t": round(self.now + 0.1, 3), "judge": "action", "action": action})
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


def play(hides, seed, preset, table=Process):
    """Return the tally of `hides` random hides in `preset`."""
    tally, game = Tally(), 0
    while tally.hides < hides:
        random = Random(f"{seed} {preset} {game}")
        game += 1
        hit_seconds = HIT_SECONDS if game % 4 else None
        options = {"points": 99} | ({"hit_seconds": int(hit_seconds)} if hit_seconds else {})
        nearest = random.choice(("", "2,3,1,4"))
        pipe = table(preset, options, nearest)
        people = People(pipe, preset, random, hit_seconds, nearest)
        while people.tally.hides < min(HIDES_A_GAME, hides - tally.hides) and not people.over:
            people.play_hide()
        pipe.close()
        tally.add(people.tally)
    return tally


def report(tally, show):
    """Print what the hides came to, and the first `show` failing hides of each kind as lines of the pipe."""
    print(f"{tally.hides} hides; fouls called by themselves: {sum(tally.called.values())}")
    print(f"innocent fouls: {sum(tally.innocent.values())}")
    for what, count in tally.innocent.most_common():
        print(f"  {count:6} {what}")
    print(f"wrong hits: {sum(tally.wrong_hits.values())}")
    for what, count in tally.wrong_hits.most_common():
        print(f"  {count:6} {what}")
    print(f"planted: called or asked {tally.noticed_share:.2%}")
    for kind in sorted({kind for kind, _ in tally.planted}):
        counts = {outcome: tally.planted[kind, outcome] for outcome in ("called", "asked", "missed", "moot")}
        print(f"  {kind:14}", "  ".join(f"{outcome} {count}" for outcome, count in counts.items()))
    for what, count in sorted(tally.hits.items()):
        print(f"  {count:6} {what}")
    if tally.stuck:
        print(f"  {tally.stuck:6} hides did not end by themselves")
    shown = Counter()
    for what, options, lines in tally.failures:
        shown[what] += 1
        if shown[what] <= show:
            print(f"\n# {what}; moccasin-mat referee dakota --set points=99 {options}")
            print("\n".join(json.dumps(line) for line in lines))


def main():
    """Play, report, and return the status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hides", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--preset", choices=tuple(PRESETS), help="one preset; else a quarter of the hides in each")
    parser.add_argument("--show", type=int, default=0, help="failing hides of each kind that are printed")
    args = parser.parse_args()
    presets = (args.preset,) if args.preset else tuple(PRESETS)
    tally = Tally()
    for preset in presets:
        tally.add(play(-(-args.hides // len(presets)), args.seed, preset))
    report(tally, args.show)
    return int(not tally.fair)


if __name__ == "__main__":
    sys.exit(main())
