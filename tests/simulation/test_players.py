"""The simulated people against a small table that sees everything: they play whole games by themselves.

The table follows RULES.md, "Between two hides", in a few lines; what people do there is no foul.
"""

from collections.abc import Callable
from typing import Any

import pytest
from cases import cases
from foretold import predict
from ground_truth import true_sheets
from pipe_people import judge_hands

from pi_controller.games.dakota.people import Players
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeCommand
from pi_controller.rules import registry
from pi_controller.rules.base import Team
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.habits import LATE_S, ROUND_PAUSE_S, SECOND_FALL_S, UNTIDY, Habits
from pi_controller.simulation.people import JUDGE_S, RETRY_S
from pi_controller.simulation.plans import Mischief, PaceName, hide_plan
from pi_controller.simulation.world import World
from pi_controller.table.view import Hit, QuestionView, ShownPhase, View

TICK = 0.032
READ_S = 0.5
"""The table reads an empty mat so long after the last hand."""


class FeltWorld(World):
    """A world that tells its strokes."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, Conditions.quiet())
        self.strokes: list[tuple[float, int, float]] = []

    def strike(
        self,
        pad: int,
        level_dbfs: float = -20.0,
        second_pad: int | None = None,
        second_after_s: float | None = None,
        after_s: float = 0.0,
    ) -> None:
        super().strike(pad, level_dbfs, second_pad, second_after_s, after_s)
        self.strokes.append((self.t + after_s, pad, level_dbfs))

    def sit(self, hiders: Team | None) -> None:
        """Leave the mat as it lies: the table below looks at the pads themselves."""


class AllSeeingTable:
    """A table that knows the world: good for testing people, not mats."""

    def __init__(
        self, seed: int = 1, mischief: Mischief | None = None, pace: PaceName = "brisk", habits: Habits = UNTIDY
    ) -> None:
        self.habits = habits
        self.world = FeltWorld(seed)
        self.game = registry.game("dakota")
        self.state: Any = self.game.opening()
        self.phase: ShownPhase = "toss"
        self.hide = 1
        self.hits: tuple[Hit, ...] = ()
        self.foul: str | None = None
        self.question: QuestionView | None = None
        self.hands: list[tuple[float, float, int]] = []
        self.put_in = 0.0
        self.doubted = False
        self.struck_at = float("-inf")
        self.deaf = 0
        self.frozen = False
        self.pressed: list[tuple[float, str]] = []
        self.calls: list[JudgeCommand] = []
        self.after: list[tuple[float, Callable[[], None]]] = []
        self.shown: list[float] = []
        self._under: int | None = None
        self.players = self.people(seed, mischief, pace)

    def people(self, seed: int, mischief: Mischief | None, pace: PaceName) -> Players:
        players = Players(seed, self.world, self.press, self.decide, pace=pace, mischief=mischief, habits=self.habits)
        players.watch(self.view())
        return players

    @property
    def passes(self) -> list[int]:
        return [pad for *_, pad in self.hands]

    def forget_hands(self) -> None:
        self.hands = []

    def view(self) -> View:
        sheet = self.game.sheet(self.state)
        return View(
            seq=0,
            game="dakota",
            version="",
            teams={"A": "A", "B": "B"},
            phase=self.phase,
            hide=self.hide,
            sheet={**sheet, "owed": sheet["owed"] if self.phase == "hit" else None},
            scoreboard=self.game.scoreboard(sheet),
            winner=sheet["winner"],
            hits=self.hits,
            passes=len(self.passes),
            foul=self.foul,
            question=self.question,
        )

    def press(self, name: str) -> None:
        self.pressed.append((self.world.t, name))
        if self.frozen:
            return
        if self.phase == "toss" and name.startswith("toss_"):
            self.play({"do": "toss", "winner": name[-1].upper()})
            self.phase = "hide"
        elif self.phase == "hide" and name == "ready":
            self.phase = "check"
            self.after.append((self.world.t + 0.4, self.look))
        elif self.phase == "show" and name == "shown":
            self.show()

    def show(self) -> None:
        """Go on to the next hide if the bead is up and no hand is under a pad; an early *shown* does nothing."""
        if self.world.pad_of_bead("bead") or self.world.pad_of_bead("second bead") or self._under is not None:
            return
        self.shown.append(self.world.t)
        self.phase, self.hide = "hide", self.hide + 1
        self.hits, self.foul = (), None
        self.forget_hands()

    def look(self) -> None:
        places = {name: bead.place for name, bead in self.world.magnets.beads.items() if bead.place is not None}
        pads = [self.world.pad_of_bead(name) for name in places]
        verdict = judge_hands(self.hands)
        foul = None
        if verdict == "doubt" and not self.doubted:
            self.question, self.doubted = QuestionView("passes_unsure", ("foul", "play_on"), (), "pad_skipped"), True
            return
        if verdict not in ("good", "doubt"):
            foul = verdict
        elif not pads:
            foul = "no_bead"
        elif len(pads) > 1:
            foul = "two_beads"
        elif pads[0] is None:
            foul = "bead_off_mat"
        self.foul, self.doubted = foul, False
        if foul is None:
            self.phase = "hit"
        else:
            self.play({"do": "foul", "by": "hider", "kind": foul})
            self.settle()

    def decide(self, call: JudgeCommand) -> None:
        """Take the judge's word on doubtful hands."""
        self.calls.append(call)
        if self.doubted and self.question is not None:
            assert call == JudgeAnswer(call.t, "play_on")
            self.question = None
            self.look()

    def play(self, action: dict[str, Any]) -> None:
        self.state, _ = self.game.play(self.state, action)

    def settle(self) -> None:
        if self.game.is_over(self.state):
            self.phase = "over"
        elif self.game.sheet(self.state)["owed"] == "first":
            self.phase = "show"

    def feel(self) -> None:
        strokes, self.world.strokes = self.world.strokes, []
        for _, pad, _ in strokes:
            if self.deaf:
                self.deaf -= 1
            elif self.phase == "hit" and self.question is None and self.world.t > self.struck_at + SECOND_FALL_S[1]:
                self.struck_at = self.world.t
                found = self.world.pad_of_bead("bead") == pad
                self.hits = (*self.hits, Hit(pad, found))
                self.play({"do": "hit", "found": found, "pad": pad})
                self.settle()

    def tick(self) -> None:
        self.players.act(self.world.t)
        self.feel()
        self.world.advance(TICK)
        under = self.world.hands["hider"].pad
        if self._under is not None and under != self._under:
            self.hands.append((self.put_in, self.world.t, self._under))
        if under is not None and under != self._under:
            self.put_in = self.world.t
            if self.phase == "check":  # ready was too early
                self.phase = "hide"
                self.after.clear()
        self._under = under
        if self.phase == "show" and self.hands and self.world.t > self.hands[-1][1] + READ_S:
            self.show()  # nobody has pressed the button
        for due in [due for due in self.after if due[0] <= self.world.t]:
            self.after.remove(due)
            due[1]()
        self.players.watch(self.view())

    def until(self, done: Callable[[], bool], limit_s: float = 60.0) -> None:
        end = self.world.t + limit_s
        while not done():
            assert self.world.t < end, f"stuck in {self.phase} of hide {self.hide}"
            self.tick()


@pytest.mark.parametrize("seed", cases([2], [1, 2]))
@pytest.mark.parametrize("mischief", [Mischief(), Mischief(fouls=0.25, doubts=0.2)])
def test_people_play_whole_game_as_predicted(seed: int, mischief: Mischief) -> None:
    table = AllSeeingTable(seed, mischief)
    table.until(lambda: table.phase == "over", 3600.0)
    truth = table.players.truth
    assert truth == predict(seed, table.game, mischief=mischief)
    sheet = table.game.sheet(table.state)
    last = true_sheets(truth, table.game)[max(truth.hides)]
    assert {k: last[k] for k in ("long", "middle", "short", "winner")} == {
        k: sheet[k] for k in ("long", "middle", "short", "winner")
    }


@pytest.mark.parametrize(("pace", "least", "most"), [("brisk", 5.0, 12.0), ("natural", 10.0, 28.0)])
def test_the_pace_of_a_hide(pace: PaceName, least: float, most: float) -> None:
    table = AllSeeingTable(3, pace=pace)
    table.until(lambda: len(table.shown) == 9, 400.0)
    hides = [b - a for a, b in zip(table.shown, table.shown[1:], strict=False)]
    assert least < sum(hides) / len(hides) < most
    assert len({round(h, 1) for h in hides}) > 3


def test_rest_lasts_full_pause_after_table_advances() -> None:
    table = AllSeeingTable(5, habits=Habits(shown_never=1.0))
    rests: list[float] = []
    while table.hide < 12:
        before, out = table.hide, table.world.t
        while not table.hands or table.hide == before:  # until the next hide's first hand is out again
            hands = table.world.hands.values()
            out = table.world.t if table.phase == "show" and any(hand.pad for hand in hands) else out
            table.tick()
        rests.append(table.hands[0][0] - out)
    assert min(rests) > ROUND_PAUSE_S


def test_second_stroke_comes_later_than_a_bounce() -> None:
    table = AllSeeingTable(3, habits=Habits())
    hits: dict[tuple[int, int], float] = {}
    while table.hide < 12:
        table.tick()
        hits.setdefault((table.hide, len(table.hits)), table.world.t)
    waits = [t - hits[hide, 1] for (hide, count), t in hits.items() if count == 2]
    assert len(waits) > 3
    assert SECOND_FALL_S[1] < min(waits) < 2 * SECOND_FALL_S[1]


def test_unregistered_stroke_is_repeated_louder() -> None:
    table = AllSeeingTable(4)
    table.until(lambda: table.phase == "hit")
    table.deaf = 2
    strokes: list[tuple[float, int, float]] = []
    feel = table.feel

    def listen() -> None:
        strokes.extend(table.world.strokes)
        feel()

    table.feel = listen
    table.until(lambda: bool(table.hits))
    (t1, pad1, l1), (t2, pad2, l2), (_, pad3, l3) = strokes
    assert t2 - t1 == pytest.approx(RETRY_S, abs=0.1)
    assert pad1 == pad2 == pad3
    assert l1 < l2 <= l3
    assert len(table.players.truth.hides[1].hits) == 1


def test_restarted_hide_puts_bead_at_same_place() -> None:
    table = AllSeeingTable(5)
    table.until(lambda: table.phase == "hit")
    place = table.world.pad_of_bead()
    table.phase = "hide"
    table.forget_hands()
    table.players.watch(table.view())
    table.until(lambda: table.world.pad_of_bead() is None)
    table.forget_hands()
    presses = len(table.pressed)
    table.until(lambda: table.phase == "check")
    assert len(table.pressed) > presses
    assert table.world.pad_of_bead() == place == hide_plan(5, 1).place
    assert table.players.truth.hides[1].hits == []


def test_passes_wiped_after_ready_restart_hiding() -> None:
    table = AllSeeingTable(5)
    table.until(lambda: table.phase == "hide")
    table.frozen = True
    table.until(lambda: any(name == "ready" for _, name in table.pressed))
    table.tick()
    table.forget_hands()
    table.frozen = False
    table.tick()
    table.until(lambda: table.world.pad_of_bead() is None, 5.0)
    table.until(lambda: table.phase == "check", 10.0)
    assert table.world.pad_of_bead() == hide_plan(5, 1).place


def test_a_button_without_effect_is_pressed_again() -> None:
    table = AllSeeingTable(6)
    table.frozen = True
    table.until(lambda: len(table.pressed) == 3)
    _, (a, first), (b, second) = table.pressed
    assert first == second
    assert b - a == pytest.approx(RETRY_S, abs=0.1)


def ask(table: AllSeeingTable, about: str, choices: tuple[str, ...], foul: str = "") -> str:
    """Open a question and return the judge's answer."""
    table.question = QuestionView(about, choices, (), foul)
    start, before = table.world.t, len(table.calls)
    table.until(lambda: len(table.calls) > before, LATE_S[1] + 1.0)
    call = table.calls[-1]
    assert isinstance(call, JudgeAnswer)
    assert call.t - start > JUDGE_S - 0.1
    table.question = None
    table.tick()
    return call.answer


def test_the_judge_answers_from_the_truth() -> None:
    table = AllSeeingTable(8)
    table.until(lambda: table.phase == "hit")
    pads = ("1", "2", "3", "4", "none")
    assert ask(table, "doubtful", pads) == "none", "nobody has struck yet"
    table.deaf = 100
    table.feel = lambda: None
    table.until(lambda: bool(table.world.strokes))
    pad = str(hide_plan(8, 1).first.pad)
    for about in ("two_struck", "doubtful", "link_gap", "same_pad"):
        assert ask(table, about, pads) == pad
    found = "found" if hide_plan(8, 1).first.pad == hide_plan(8, 1).place else "missed"
    assert ask(table, "found", ("found", "missed")) == found
    assert ask(table, "bead_moved", ("play_on", "hide_again")) == "play_on"
    assert ask(table, "no_reading", ("play_on", "hide_again")) == "play_on"
    assert ask(table, "passes_unsure", ("foul", "play_on", "hide_again"), "pad_skipped") == "play_on"
    assert ask(table, "foul", ("foul", "play_on"), "pad_twice") == "play_on"
    assert ask(table, "anything else", ("yes", "no")) == "yes"
    assert ask(table, "two_struck", ("none",)) == "none"


def test_the_judge_calls_the_foul_that_was_made() -> None:
    table = AllSeeingTable(8, Mischief(fouls=1.0))
    table.until(lambda: table.phase == "check")
    kind = hide_plan(8, 1, "brisk", Mischief(fouls=1.0)).foul or ""
    assert ask(table, "foul", ("foul", "play_on"), kind) == "foul"
    assert ask(table, "foul", ("foul", "play_on"), "time") == "play_on"
    table.question = QuestionView("no_reading", ("play_on", "hide_again"), ())
    table.until(lambda: len(table.calls) == 3, 5.0)
    call = table.calls[-1]
    assert isinstance(call, JudgeAction)
    assert call.action == {"do": "foul", "by": "hider", "kind": kind}


def test_people_wait_while_table_is_halted() -> None:
    table = AllSeeingTable(13)
    table.until(lambda: len(table.passes) == 2)
    table.phase = "halted"
    for _ in range(300):
        table.tick()
    assert len(table.passes) == 2
    assert table.pressed[-1][1] != "ready"
    table.phase = "hide"
    table.until(lambda: table.phase == "check", 8.0)
    passes = table.players.truth.hides[1].passes
    assert passes == tuple(table.passes[-len(passes) :])


def test_long_question_causes_no_simultaneous_acts() -> None:
    table = AllSeeingTable(8)
    table.until(lambda: table.phase == "hit")
    table.question = QuestionView("doubtful", ("1", "none"), ())
    for _ in range(600):
        table.tick()
    table.question = None
    felt: list[tuple[float, int, float]] = []
    table.feel = lambda: felt.extend(table.world.strokes)
    for _ in range(20):
        table.tick()
    assert len(set(felt)) <= 1


def test_people_resume_same_hide_after_restart() -> None:
    whole = AllSeeingTable(11)
    whole.until(lambda: whole.hide == 6 and whole.phase == "hit", 200.0)
    state, truth = whole.state, whole.players.truth
    whole.until(lambda: whole.hide == 7, 60.0)

    table = AllSeeingTable(11)
    table.state, table.phase, table.hide = state, "hit", 6
    table.players = table.people(11, None, "brisk")
    assert table.world.pad_of_bead() == hide_plan(11, 6).place
    table.until(lambda: table.hide == 7, 60.0)
    assert table.players.truth.hides[6] == truth.hides[6]
    assert table.state == whole.state
