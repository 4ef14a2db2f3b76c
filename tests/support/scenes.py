"""Read a story of `tests/scenarios` and play it at a table; `test_scenarios.py` says how a story is written."""

from pathlib import Path

from msgspec import UNSET

from pi_controller.journal.file import decode, rows
from pi_controller.journal.journal import Journal
from pi_controller.record.notation import format_action
from pi_controller.referee.facts import ActionPlayed, FoulSeen, Notice, PadOpened, Question, QuestionWithdrawn, Reveal
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeUndo
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.options import from_text
from pi_controller.rules.registry import game
from pi_controller.runtime.console import parse_line
from pi_controller.sensing.events import (
    Bead,
    BeadsAtRest,
    Button,
    HandIn,
    HandOut,
    Link,
    SamplesMissing,
    SensorFault,
    SensorFaultsChange,
    Strike,
)
from pi_controller.table.table import Table

SCENARIOS = sorted(path for path in (Path(__file__).parents[1] / "scenarios").glob("*.txt") if path.stem != "chapter11")


TYPED = ("judge", "answer", "undo", "replace", "hidden", "sensors", "clock", "protest", "ruling", "set", "close")


BETWEEN_HITS_S = 1.0
"""Least time between two hits: those within 0.8 s may be one stroke."""
SIDES = {"sideless": UNSET}
QUIET = {
    "opened",
    "hand_pass",
    "round",
    "ready",
    "struck",
    "struck_meanwhile",
    "hands_under",
    "answer",
    "link",
    "sensors",
    "away",
}


def told(fact, name):
    kind = fact.__struct_config__.tag
    match fact:
        case ActionPlayed(action=action, calls=calls) if name != "dakota":
            return f"action {format_action(name, action)}" + (f": {', '.join(calls)}" if calls else "")
        case ActionPlayed(action=action, calls=calls):
            action = dict(action)
            words = [action.pop("do")]
            if words == ["hit"]:
                words.append("found" if action.pop("found") else "missed")
            words += [str(action[key]) for key in ("winner", "by", "kind", "hide", "pad") if key in action]
            return f"action {' '.join(words)}" + (f": {', '.join(calls)}" if calls else "")
        case FoulSeen(foul=foul):
            return f"foul {foul}"
        case Question(about=about, choices=choices, pads=pads, foul=foul, said=said):
            asked = " ".join(["question", about, *filter(None, [foul, said]), *map(str, pads)])
            return f"{asked}: {' '.join(choices)}"
        case Notice(about=about, pads=pads):
            return " ".join(["notice", about, *map(str, pads)])
        case QuestionWithdrawn(about=about, why=why):
            return f"withdrawn {about}: {why}"
        case PadOpened(pad=pad):
            return f"opened {pad}"
        case Reveal(pad=pad):
            return f"reveal {pad}"
        case _:
            return kind


class Scene:
    """A table and what is done at it."""

    def __init__(self, path):
        self.path = path
        self.game = game("dakota")
        self.fouls = {}
        self.nearest = ()
        self.beads = "mat"
        self.preset = "home"
        self.t = 0.0
        self.nonces = 0
        self.tables = 0
        self.journal = Journal(path)
        self.table = None

    def afresh(self, preset):
        """Begin at another table."""
        self.journal.close()
        self.tables += 1
        self.path = self.path.with_name(f"table {self.tables}.sqlite")
        self.fouls, self.nearest, self.preset, self.table = {}, (), preset, None
        self.journal = Journal(self.path)

    def start(self):
        if self.table is None:
            self.sit()

    def random_bytes(self, n):
        self.nonces += 1
        return self.nonces.to_bytes(n, "big")

    def referee(self):
        settings = RefereeSettings(
            fouls=self.fouls,
            nearest=self.nearest,
            beads=self.beads,
            preset=self.preset,
            hit_seconds=self.game.settings.get("hit_seconds"),
        )
        return referee_for(self.game, settings, self.random_bytes)

    def sit(self):
        self.table = Table(self.journal, self.game, {"A": "Red", "B": "Blue"}, self.referee(), self.t)

    def do(self, line):
        """Do what a line says; return the facts that follow."""
        words = line.split()
        if words[0] == "preset":
            self.afresh(words[1])
            return []
        if words[0] == "foul":
            self.fouls[words[1]] = words[2]
            return []
        if words[0] == "nearest":
            self.nearest = tuple(map(int, words[1:]))
            return []
        if words == ["the", "judge", "confirms", "beads"]:
            self.beads = "judge"
            return []
        if words[0] == "game":
            self.game = game(words[1], from_text(words[2:]))
            if self.table is not None:
                self.afresh(self.preset)
            return []
        self.start()
        strikes = (words[0] == "strike" and "ago" not in words) or words[:2] == ["judge", "hit"]
        hits = self.table.story.hide.hits
        self.t = max(self.t + 0.1, hits[-1].t + BETWEEN_HITS_S) if strikes and hits else self.t + 0.1
        before = self.journal.seq
        if words == ["restart"]:
            self.journal.close()
            self.journal = Journal(self.path)
            self.t = 1000.0 - self.t  # another boot, another clock
            self.sit()
        elif words[0] == "wait":
            self.t += float(words[1]) - 0.1
            self.table.tick(self.t)
        elif words[0] in TYPED:
            self.table.judge(self.call(words, line))
        else:
            for event in self.events(words):
                self.table.mat_event(event)
            self.table.tick(self.t)
        return [decode(row.body) for row in rows(self.journal.database(), first=before + 1)]

    def call(self, words, line):
        match words:
            case ["answer", answer]:
                return JudgeAnswer(self.t, answer)
            case [word, *_] if word not in ("judge", "answer", "undo"):
                return parse_line(line, self.t, self.game, self.game.sheet(self.table.story.state))
            case ["undo"]:
                return JudgeUndo(self.t)
            case ["judge", "hide", "again"]:
                return JudgeHideAgain(self.t)
            case ["judge", "hit", found, *pad]:
                pads = {"pad": int(pad[0])} if pad else {}
                return JudgeAction(self.t, {"do": "hit", "found": found == "found", **pads})
            case ["judge", "foul", by, kind, *hide]:
                return JudgeAction(
                    self.t, {"do": "foul", "by": by, "kind": kind, **({"hide": hide[0]} if hide else {})}
                )
            case ["judge", *said] if self.game.name != "dakota":
                return parse_line(" ".join(said), self.t, self.game)
            case ["judge", do, team]:
                return JudgeAction(self.t, {"do": do, "winner": team})
        raise AssertionError(words)

    def events(self, words):
        t = self.t
        match words:
            case ["toss", team]:
                return [Button(t, f"toss_{team.lower()}")]
            case ["hands"]:
                return [event for pad in (1, 2, 3, 4) for event in self.events(["hand", str(pad)])]
            case ["hand", "in", pad, *side]:
                return [HandIn(t, int(pad), self.side(side))]
            case ["hand", "out", pad, *side]:
                return [HandOut(t, int(pad), self.side(side))]
            case ["fists", "off", *pads]:
                return [HandOut(t, int(pad), "hider") for pad in pads]
            case ["fists", *pads]:
                return [HandIn(t, int(pad), "hider") for pad in pads]
            case ["balls", *balls]:
                return [BeadsAtRest(t, tuple(Bead(int(ball[0]), marked=ball.endswith("*")) for ball in balls))]
            case ["bones", *pads]:
                return [BeadsAtRest(t, tuple(Bead(int(pad)) for pad in pads))]
            case ["disc", pad, why]:
                return [SensorFaultsChange(t, (SensorFault("disc", int(pad), why),))]
            case ["strip", pad, strip, why]:
                return [SensorFaultsChange(t, (SensorFault("strip", int(pad), why, int(strip)),))]
            case ["all", "well"]:
                return [SensorFaultsChange(t)]
            case ["button", name]:
                return [Button(t, name)]
            case ["hand", pad, "unsure"]:
                return [HandIn(t, int(pad), self.side([]), sure=False), HandOut(t, int(pad), self.side([]), sure=False)]
            case ["hand", pad, *side]:
                return [HandIn(t, int(pad), self.side(side)), HandOut(t, int(pad), self.side(side))]
            case ["bead", "off"]:
                return [BeadsAtRest(t, (Bead(None),))]
            case ["bead" | "beads", *pads]:
                return [BeadsAtRest(t, tuple(Bead(int(pad), marked=True) for pad in pads))]
            case ["no", "bead"]:
                return [BeadsAtRest(t, ())]
            case ["unsure", "bead", pad]:
                return [BeadsAtRest(t, (Bead(int(pad)),), sure=False)]
            case ["strike", *pads, "light"]:
                return [Strike(t, tuple(map(int, pads)), 2.5)]
            case ["strike", *pads, "doubtful"]:
                return [Strike(t, tuple(map(int, pads)), sure=False)]
            case ["strike", *pads, "ago", seconds]:  # made then, and reported only now
                return [Strike(round(t - float(seconds), 6), tuple(map(int, pads)))]
            case ["strike", *pads, "hand", whose]:
                return [Strike(t, tuple(map(int, pads)), hand=whose)]
            case ["strike", *pads]:
                return [Strike(t, tuple(map(int, pads)))]
            case ["blind"]:
                return [SamplesMissing(t - 0.05, t)]
            case ["link", "up"]:
                return [Link(t, up=True)]
            case ["link", "down"]:
                return [Link(t, up=False, why="unplugged")]
            case ["ready" | "shown" as name]:
                return [Button(t, name)]
        raise AssertionError(words)

    def side(self, words):
        """Return a hand's side: in Hampa Apena the hiders' unless named; `sideless` if the mat tells none."""
        return SIDES.get(words[0], words[0]) if words else "hider" if self.game.hand_passes else UNSET

    def stands(self, name):
        view = self.table.view
        if name in ("A", "B"):
            return view.scoreboard.stakes[name]
        own = hasattr(view, name) and name != "question" and self.game.name == "dakota"
        return getattr(view, name) if own else self.of_sheet(view, name)

    def of_sheet(self, view, name):
        if name == "armed":
            return self.table.armed
        if name == "clock_stands":
            return view.stood is not None
        if name == "question":
            return view.question and view.question.about
        if name == "struck":
            return " ".join(str(pad) for stroke in view.question.struck for pad in stroke.pads)
        if name in view.sheet and name != "phase":
            return view.sheet[name]
        told = getattr(view, name)
        return " ".join(map(str, told)) if isinstance(told, tuple) else told


def in_each_preset(text):
    """Return [line number, line]; what follows a preset of several names, up to the next or another game, is there
    once for each."""
    blocks = [[]]
    for n, line in enumerate(text.splitlines(), 1):
        if line.startswith(("preset ", "game ")):
            blocks.append([])
        blocks[-1].append((n, line))
    lines = []
    for block in blocks:
        (n, first), *rest = block or [(0, "")]
        presets = first.split()[1:] if first.startswith("preset ") else []
        for heading in [f"preset {name}" for name in presets] or [first]:
            lines += [(n, heading), *rest]
    return lines


def steps(text):
    """Yield (line number, what happens, what must follow, how things stand)."""
    happens, number, expected, states = "", 0, [], []
    for n, line in [*in_each_preset(text), (0, "end")]:
        line = line.partition("#")[0].strip()  # noqa: PLW2901
        if not line:
            continue
        for last_undoable, into in (("->", expected), ("=", states)):
            if line.startswith(last_undoable):
                into.append(line.removeprefix(last_undoable).strip())
                break
        else:
            yield number, happens, expected, states
            happens, arrow, follows = (part.strip() for part in line.partition("->"))
            number, expected, states = n, [follows] if arrow else [], []
