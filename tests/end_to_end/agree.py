"""Random judges and mats: all that tells of a game must tell the same game, after every step.

python tests/end_to_end/agree.py --runs 400 --steps 60 --seed 0 [--game slahal] [--without replace]

A run is one of the six games with options, a preset and fouls chosen at random, at a table with a journal on disk. A
step is what players would do next, or anything else at all: hands, readings, strokes, gaps, a board that comes and
goes, sensors that fail, buttons, time from 10 ms to minutes, and whatever a judge can say, allowed or not. After it
these must agree:

    table       raises nothing but for an invalid or illegal call, and what it refuses changes nothing; sticks are
                conserved; it looks at the clock all the time
    pipe        the same as lines of JSON through `Pipe`, which looks at the clock only when something is due
    pipe without what was refused
    fold        the journal told from its beginning
    resume      a table that is begun anew on a copy of the journal
    record      the written record: read back it is the same, and its actions end with the same score sheet
    replay      the journal told record by record (all steps at once, at the end), and as a score sheet to print
    seals       of what counts, each commitment is opened by its own reveal, withdrawn, or stands (at the end)
    verify      the journal is whole, and follows the rules (at the end)

What has once disagreed is left out for the rest of its run. Of each kind of disagreement are told the first run, the
difference, and the fewest inputs that still lead to it, as lines that `moccasin-mat referee` takes.
"""

import argparse
import json
import multiprocessing
import random
import sqlite3
import sys
import tempfile
import traceback
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import partial
from io import StringIO
from operator import attrgetter
from pathlib import Path
from typing import get_args

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))  # random_play.py

from random_play import CALLS, Input, RandomPlay, Setup, check_makers, setup_of

from pi_controller.journal.journal import Journal
from pi_controller.journal.read_record import read_journal_record
from pi_controller.journal.sheet import sheet_of
from pi_controller.journal.verify import verify_journal
from pi_controller.record.file import read
from pi_controller.record.playthrough import SET, Playthrough
from pi_controller.record.writing import write
from pi_controller.referee import commitment
from pi_controller.referee.facts import ActionPlayed, Commit, CommitmentWithdrawn, Question, Reveal, StateSet
from pi_controller.referee.history import History, effective_records, fold
from pi_controller.referee.judge import JudgeRuling
from pi_controller.referee.story import Clocks, Hands, Hide, LinkState, Story, UndoTarget
from pi_controller.referee.stream import Pipe
from pi_controller.rules import registry, sheet
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.sensing.events import Link, MatEvent, SensorFaultsChange
from pi_controller.table.table import Command, StaleCommandError, Table

TEAMS = {"A": "Red", "B": "Blue"}
WITHOUT_REFUSED = "pipe without what was refused"
MOST_TRIES = 300
"""Runs that looking for the fewest inputs may take."""
PARTS = {"hide": Hide, "hands": Hands, "link": LinkState, "clocks": Clocks, "undo_target": UndoTarget}
FIELDS = [
    name if part is None else f"{name}.{part.name}"
    for name in (each.name for each in fields(Story))
    for part in (fields(PARTS[name]) if name in PARTS else (None,))
]
"""The fields of a story and of its parts."""
CLOCKS = ("clocks.waiting", "clocks.playing")
OF_A_HIDE = (
    *("hide.passes", "hide.fetched", "hide.waived_fouls", "hide.seal", "hide.opened"),
    *(
        "hide.began",
        "hide.rounds_begun",
        "hide.read_empty",
        "hands.broken",
        "hands.vague",
        "question",
        "clocks.paused",
        "notice",
    ),
)
"""What is not so any more in a hide that starts over."""


@dataclass(frozen=True)
class Differs:
    """A disagreement: which check, in what (a field, an error), the two sides of it, and after how many inputs."""

    check: str
    where: str
    text: str
    after: int = 0

    @property
    def name(self):
        return f"{self.check}: {self.where}"


# where it comes in


class Sitting:
    """A table with a journal in `folder`, and the pipes that must agree with it. `differs` are the disagreements."""

    def __init__(self, setup, folder, pipes=("pipe", WITHOUT_REFUSED)):
        self.setup = setup
        self.game = setup.rules()
        self.journal = Journal(Path(folder) / "table.sqlite", token=bytes)
        self.referee = setup.referee(self.game)
        self.table = Table(self.journal, self.game, TEAMS, self.referee)
        self.differs = {}
        self.broken = False
        self.now = 0.0
        self.taken = 0
        self.count = Counter()
        self.stood = {}
        self._said = []
        self.pipes = {name: Pipe(self.game, setup.referee(self.game), self._said.append) for name in pipes}
        self.ahead = {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.journal.close()

    def _settled(self, name):
        """Return whether a check has disagreed: where the pipe has, so will the other pipe."""
        return name in self.differs or (name == WITHOUT_REFUSED and "pipe" in self.differs)

    def found(self, check, where, text):
        """Note a disagreement; what has disagreed is not asked again."""
        self.differs.setdefault(check, Differs(check, where, str(text), self.taken))

    def raised(self, check, error, text):
        at = traceback.extract_tb(error.__traceback__)[-1]
        self.found(check, f"{type(error).__name__} in {at.name}", f"{error!r}: {text}")

    def takes(self, one):
        """Take an input everywhere."""
        if self.broken:
            return
        self.taken += 1
        try:
            self.passes(one.what.t)
            refused = self._table(one)
        except Exception as error:  # noqa: BLE001 - any exception at all is what is looked for
            self.raised("table", error, one)
            self.broken = True
            return
        self.count[f"{one.what.__struct_config__.tag}{' refused' if refused else ''}"] += 1
        for name in self.pipes:
            if not self._settled(name):
                if refused and name == WITHOUT_REFUSED:
                    self._pipe(
                        name, Input(SensorFaultsChange(one.what.t, self.table.story.link.faults)), None
                    )  # time passes all the same
                else:
                    self._pipe(name, one, refused)

    def passes(self, t):
        """Let time come to `t`: the table looks at its clock whenever something is due, and in between."""
        before, self.now = self.now, max(t, self.now)
        for n in (1, 2, 3):
            at = before + (self.now - before) * n / 3
            while (due := self.referee.next_deadline(self.table.story)) is not None and due <= at:
                if not self.table.tick(due):
                    break
            if n < 3:
                self.table.tick(at)

    def _table(self, one):
        """Give an input to the table; return why it was refused, if it was."""
        before, seq = self.table.story, self.journal.seq
        try:
            if isinstance(one.what, get_args(MatEvent)):
                self.table.mat_event(one.what)
            elif one.actor:
                self._commanded(one, before)
            else:
                self.table.judge(one.what)
        except (InvalidActionError, IllegalActionError) as error:
            if (self.table.story, self.journal.seq) != (before, seq):
                self.found("table", "a refused call changed it", f"{error.message}: {one}")
            return error
        return None

    def _commanded(self, one, before):
        """Say it with a key: of a picture that is stale it does not count, and said twice it counts once."""
        key, role = (
            f"key {self.journal.seq} {one.what.t}",
            "committee" if isinstance(one.what, JudgeRuling) else "judge",
        )
        try:
            self.table.command(Command(one.what, one.actor, role, f"stale {key}", before.revision + 1))
            self.found("table", "a stale command counts", one)
        except StaleCommandError:
            pass
        command = Command(one.what, one.actor, role, key, before.revision)
        self.table.command(command)
        story, seq = self.table.story, self.journal.seq
        if not self.table.command(command).repeated or (self.table.story, self.journal.seq) != (story, seq):
            self.found("table", "a command said twice counts twice", one)

    def _pipe(self, name, one, refused):
        self._said.clear()
        try:
            taken = self.pipes[name].line(one.line())
        except Exception as error:  # noqa: BLE001 - any exception at all is what is looked for
            self.raised(name, error, one)
            return
        if taken == (refused is not None):
            tag, why = (
                one.what.__struct_config__.tag,
                "; ".join(json.dumps(said["error"]) for said in self._said if "error" in said),
            )
            where = f"{'takes' if taken else 'refuses'} {tag}, which the table does not"
            self.found(name, where, f"{one}\n    table: {refused or 'taken'!r}\n    pipe:  {why or 'taken'}")

    def compare(self, checks=None):
        """Look whether all agree now; with `checks` only these of them."""
        same = self.journal.seq in self.stood  # what is told from the journal is told as before
        self.stood[self.journal.seq] = self.table.story
        self._compare(EACH, checks, ("table", *self.pipes) if same else ())

    def end(self, checks=None):
        """Look whether what tells of all of the journal at once agrees with how the table stood after each step."""
        self._compare(WHOLE, checks)

    def _compare(self, all_checks, checks, only=()):
        for name, check in all_checks.items() if not self.broken else ():
            if self._settled(name) or name not in (checks or all_checks) or name not in (only or all_checks):
                continue
            try:
                differs = check(self)
            except Exception as error:  # noqa: BLE001 - any exception at all is what is looked for
                self.raised(name, error, "")
                continue
            if differs is not None:
                self.found(name, *differs)


# what must agree: each check returns where it differs and how, or None


def apart(left, right, ahead=None, without=()):
    """Return the first field in which two stories differ. `ahead`: so many batches more went into the left one."""
    for name in FIELDS:
        a, b = attrgetter(name)(left), attrgetter(name)(right)
        if name in ("undo_target.batch", "revision") and a and b and ahead is not None:
            a -= ahead.setdefault("batches", a - b)
        if a != b and name not in without:
            return name, f"{name}\n    {a!r}\n    {b!r}"
    return None


def _piped(sitting, name):
    pipe = sitting.pipes.get(name)
    return pipe and apart(sitting.table.story, pipe.story, sitting.ahead.setdefault(name, {}), ("teams",))


def _sticks(state):
    """Return all that is counted in sticks or counters on a score sheet, but not the games won."""
    counted = 0
    for key in ("long", "middle", "counters", "pool", "live", "dead", "bank", "pile"):
        value = state.get(key, 0)
        counted += sum(value.values()) if isinstance(value, dict) else value
    return counted + sum(row.get("sticks", 0) for row in state.get("players", ()))


def _table(sitting):
    game, story, view = sitting.game, sitting.table.story, sitting.table.view
    begun, now = _sticks(game.sheet(game.opening())), _sticks(game.sheet(story.state))
    if begun != now:
        return "sticks", f"{begun} at the beginning, {now} now"
    if msgspec.json.decode(msgspec.json.encode(view), type=type(view)) != view:
        return "view", "what is shown does not read back the same"
    if sitting.table.halted is not None:
        return "halted", str(sitting.table.halted)
    over = game.is_over(story.state)
    if (story.phase == "over") != over:
        return "over", f"phase {story.phase}, over {over}"
    asked = story.question
    if asked is not None and not asked.choices:
        return "choices", f"nothing can be answered to {asked.about}"
    if asked is not None and sitting.referee.next_deadline(story) is not None and sitting.setup.preset != "demo":
        return "deadline", f"the clock runs while {asked.about} is asked"
    armed = (
        story.phase in ("hit", "throw")
        and (asked is None or asked.about == "disc_dead")
        and (story.sensors and not story.held_by_protest)
    )
    return None if sitting.table.armed == armed else ("armed", f"{not armed} in {story.phase}, asked {asked}")


def _fold(sitting):
    return apart(sitting.table.story, fold(sitting.game, sitting.journal.read()))


def _resume(sitting):
    """Begin anew on a copy: a hide in progress may start over, and what was sealed and felt is gone."""
    with tempfile.TemporaryDirectory(dir=sitting.journal.path.parent) as place:
        copy = Path(place, "copy.sqlite")
        with closing(sqlite3.connect(sitting.journal.path)) as live, closing(sqlite3.connect(copy)) as db:
            live.backup(db)
        with Journal(copy) as journal:
            table = Table(journal, sitting.game, TEAMS, sitting.setup.referee(sitting.game), sitting.now)
            new = [fact.__struct_config__.tag for seq, _, fact in journal.records() if seq > sitting.journal.seq]
            lost = (
                "hide.seal",
                "note",
                "link.up",
                "link.why",
                "link.faults",
                "hands.doubt",
                "revision",
                "clocks.last_t",
                "undo_target.t",  # on the clock before the restart
                *CLOCKS,
            )
            if "hide_again" in new:
                return apart(sitting.table.story, table.story, without=(*lost, *OF_A_HIDE))
            return apart(sitting.table.story, table.story, without=lost) or _clocks(sitting.table.story, table.story)


def _clocks(before, after):
    """Return the first clock that does not show after a restart what it showed before."""
    for name in CLOCKS:
        old, new = attrgetter(name)(before), attrgetter(name)(after)
        shown = old and old.elapsed_s(before.clocks.last_t), new and new.elapsed_s(after.clocks.last_t)
        if (old is None) != (new is None) or (old is not None and abs(shown[0] - shown[1]) > 1e-6):
            return name, f"{shown[0]} s and {shown[1]} s: {old}, {new}"
    return None


def _opens(hash_, game, fact):
    bound = commitment.CommitmentContext(fact.table, fact.epoch, fact.event)
    return commitment.check(hash_, game, fact.hide, fact.pad, fact.nonce, bound)


def _seals(sitting):
    """Of what counts, each commitment is followed by its own reveal or a withdrawal, or it is the one that stands."""
    sealed = None
    for _, fact in effective_records(sitting.journal.read()):
        if isinstance(fact, Commit):
            if sealed is not None:
                return "two", f"hide {fact.hide} is sealed twice"
            sealed = fact
        elif isinstance(fact, Reveal | CommitmentWithdrawn):
            if isinstance(fact, Reveal) and not _opens(sealed.hash, sitting.game.name, fact):
                return "reveal", f"hide {fact.hide} was sealed otherwise"
            sealed = None
    stands = sitting.table.story.hide.seal.commit
    return None if stands == (sealed and sealed.hash) else ("stands", f"{stands}, told {sealed}")


def _verify(sitting):
    found = verify_journal(sitting.journal.path)
    return None if found.whole else ("not whole", found.wrong)


def _replay(sitting):
    for seq, step in enumerate(History(sitting.game).walk(sitting.journal.read()), 1):
        differs = apart(sitting.stood.get(seq, step.after), step.after)
        if differs is not None:
            return differs[0], f"after record {seq}: {differs[1]}"
    kept, story = sheet_of(sitting.journal), sitting.table.story
    if (kept.state, kept.over) != (sitting.game.sheet(story.state), sitting.game.is_over(story.state)):
        return "score sheet", f"{kept.state}"
    return None


def _record(sitting):
    record, now = (
        read_journal_record(str(sitting.journal.path)),
        json.dumps(sitting.game.sheet(sitting.table.story.state)),
    )
    again = read(write(record).encode())
    if again != record or again.faults:
        first = next(((a, b) for a, b in zip(record.entries, again.entries, strict=False) if a != b), "its head")
        return "read back", f"{again.faults or first}"
    counting = [
        fact for _, fact in effective_records(sitting.journal.read()) if isinstance(fact, ActionPlayed | StateSet)
    ]
    actions = [fact.action if isinstance(fact, ActionPlayed) else {"do": SET, **fact.sheet} for fact in counting]
    if json.dumps([move.action for move in again.moves()], sort_keys=True) != json.dumps(actions, sort_keys=True):
        return "the actions that count", f"{len(again.moves())} and {len(actions)}"
    course = Playthrough(registry.game(again.game, again.options))
    for move in again.moves():
        course.play(move.action)
    if json.dumps(course.sheet) != now:
        return "its end", f"{course.sheet}\n    {now}"
    if any(action["do"] == SET for action in actions):
        return None  # which a score sheet cannot tell
    out, lines = StringIO(), [json.dumps(move.action).encode() for move in again.moves()]
    status = sheet.run(sitting.game, lines, out)
    last = json.dumps(json.loads(out.getvalue().splitlines()[-1]).get("state"))
    return ("score sheet", f"status {status}\n    {last}\n    {now}") if status or last != now else None


EACH = {
    "table": _table,
    "pipe": partial(_piped, name="pipe"),
    WITHOUT_REFUSED: partial(_piped, name=WITHOUT_REFUSED),
    "fold": _fold,
    "resume": _resume,
    "record": _record,
}
WHOLE = {"verify": _verify, "seals": _seals, "replay": _replay}


# runs


@dataclass
class Run:
    """What came of a run: the inputs of all its steps, the disagreements by their names, and what came up."""

    number: int
    setup: Setup
    inputs: list
    differs: list
    count: Counter


def folder():
    """Return a folder that is gone afterwards: in memory where there is one, for a disk says the same more slowly."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)


def play(number, seed=0, steps=60, game=None, without=(), checks=None):
    """Play run `number` and look after each step whether all agree."""
    setup = setup_of(number, seed, game=game)
    makes = RandomPlay(random.Random(f"{seed} {number}"), setup.rules(), without)
    inputs, count = [Input(Link(0.0, up=True))], Counter()
    with folder() as place, Sitting(setup, place) as sitting:
        sitting.takes(inputs[0])
        for _ in range(steps):
            for one in makes.step(sitting.table.story):
                inputs.append(one)
                sitting.takes(one)
            sitting.compare(checks)
            story = sitting.table.story
            count[f"phase {story.phase}"] += 1
        sitting.end(checks)
        facts = [fact for _, fact in sitting.journal.read()]
        count += Counter(f"asked {fact.foul or fact.about}" for fact in facts if isinstance(fact, Question))
        count += Counter(f"fact {fact.__struct_config__.tag}" for fact in facts)
        count += sitting.count
        count["steps"] += steps
        return Run(number, setup, inputs, list(sitting.differs.values()), count)


def fails(setup, inputs, differs):
    """Return the disagreement of the same name that `inputs` lead to, or None."""
    pipes = {"pipe": ("pipe",), WITHOUT_REFUSED: ("pipe", WITHOUT_REFUSED)}.get(differs.check, ())
    with folder() as place, Sitting(setup, place, pipes) as sitting:
        for one in inputs:
            sitting.takes(one)
            sitting.compare([*pipes, differs.check])
            if differs.check in sitting.differs:
                break
        sitting.end([differs.check])
        found = sitting.differs.get(differs.check)
    return found if found is not None and found.name == differs.name else None


def fewest(setup, inputs, differs, tries=MOST_TRIES):
    """Return the setup, the inputs and the disagreement again, with as little as still leads to it."""
    inputs = inputs[: differs.after]
    found = fails(setup, inputs, differs)
    if found is None:
        return setup, inputs, differs  # it takes looking after whole steps
    for plain in ({"fouls": {}, "nearest": ()}, {"options": {}}, {"preset": "home"}, {"beads": "mat"}):
        found = fails(replace(setup, **plain), inputs, differs)
        if found is not None:
            setup, inputs, differs = replace(setup, **plain), inputs[: found.after], found
    size = len(inputs) // 2
    while size:
        at = 0
        while at < len(inputs) and tries:
            fewer, tries = inputs[:at] + inputs[at + size :], tries - 1
            found = fails(setup, fewer, differs)
            if found is None:
                at += size
            else:
                inputs, differs = fewer[: found.after], found
        size //= 2
    return setup, inputs, differs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the run to begin with")
    parser.add_argument("--game", choices=registry.names(), help="one game alone")
    parser.add_argument("--without", action="append", default=[], choices=list(CALLS), help="a call that is not made")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    check_makers()
    one = partial(play, seed=args.seed, steps=args.steps, game=args.game, without=tuple(args.without))
    count, names, first = Counter(), Counter(), {}
    with multiprocessing.get_context("spawn").Pool(args.processes) as pool:
        for run in pool.imap_unordered(one, range(args.first, args.first + args.runs)):
            count += run.count
            for differs in run.differs:
                names[differs.name] += 1
                if differs.name not in first or run.number < first[differs.name][0].number:
                    first[differs.name] = run, differs
    for name, (run, differs) in sorted(first.items(), key=lambda item: item[1][0].number):
        setup, inputs, differs = fewest(run.setup, run.inputs, differs)  # noqa: PLW2901
        print(f"\n{names[name]} times, first in run {run.number} after {differs.after} inputs: {name}")
        print(f"  {setup}\n" + "".join(f"    {each}\n" for each in inputs) + f"  {differs.text}")
    print(f"\n{args.runs} runs, seed {args.seed}: {_listed(count)}")
    print(f"{names.total()} disagreements of {len(names)} kinds")
    return 1 if names else 0


def _listed(counts):
    return ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))


if __name__ == "__main__":
    raise SystemExit(main())
