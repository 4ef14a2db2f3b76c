"""Hides of Hampa Apena by people whose true acts are known, told to the referee's pipe.

* no foul is called by itself on a team that did not commit it ("innocent"), and few are asked about;
* a planted foul, and a hand where the rules want a question, is called or asked ("missed" otherwise);
* one stroke is never two hits, and one that is made while the judge is asked is kept ("wrong hit" otherwise).
"""

import json
from random import Random

import pytest
from cases import cases
from pipe_people import HIT_SECONDS, InProcess, People, Tally, judge_hands

from pi_controller.referee.settings import PRESETS
from pi_controller.simulation.habits import ROUND_PAUSE_S, TIDY, UNTIDY, Habits

STORIES = 60
HIDES_A_STORY = 3
HIDES_A_HABIT = cases(6, 12)
SHUFFLED = cases(20, 45)
HIDES_A_GAME = 25
LATE_ARRIVAL_S = 0.25
"""An event is told up to so long after it happened."""
END = None, ()
"""The result of a hide that was not played."""
SETTLED_S = 2.0
"""So long after the last event what follows from it is there."""
ROWS = {
    "tidy": TIDY,
    "shown is pressed before the bead is lifted": Habits(shown_early=1.0),
    "all four moccasins are shaken out": Habits(shake_out=1.0),
    "one struck pad is put straight": Habits(straighten_after=1.0),
    "a pad is touched before the round": Habits(touch_up=1.0),
    "shown is pressed twice": Habits(shown_twice=1.0),
    "shown is never pressed": Habits(shown_never=1.0),
    "the hider pauses": Habits(pause=1.0),
    "the hider starts over": Habits(start_over=1.0),
    "untidy in all ways": UNTIDY,
}
"""The habits whose rates of false fouls are measured one by one."""


def games(hides, seed, preset, table=InProcess, hides_a_game=HIDES_A_GAME, **people):
    """Yield the people of game after game of `preset`, who have played `hides` hides together in the end."""
    game = 0
    while hides > 0:
        random = Random(f"{seed} {preset} {game}")
        game += 1
        hit_seconds = HIT_SECONDS if game % 4 else None
        options = {"points": 99} | ({"hit_seconds": int(hit_seconds)} if hit_seconds else {})
        nearest = random.choice(("", "2,3,1,4"))
        pipe = table(preset, options, nearest)
        players = People(pipe, preset, random, hit_seconds, nearest, **people)
        while players.tally.hides < min(hides_a_game, hides) and not players.over:
            players.play_hide()
        pipe.close()
        hides -= players.tally.hides
        yield players


def play(hides, seed, preset, table=InProcess, **people):
    """Return the tally of `hides` random hides in `preset`; `people` are options of `People`."""
    tally = Tally()
    for players in games(hides, seed, preset, table, **people):
        tally.add(players.tally)
    return tally


def measure_rates(hides, seed, preset):
    """Return {what people do: tally of innocent hides in which they do it} for `preset`."""
    return {what: play(hides, seed, preset, habits=habits, plants=0.0, disturbs=0.0) for what, habits in ROWS.items()}


def arrivals(lines, random, late_s=LATE_ARRIVAL_S):
    """Return (time of arrival, line) in order of arrival; the judge's commands arrive when they are given."""
    late = [0.0 if "judge" in line else random.uniform(0.0, late_s) for line in lines]
    return sorted(((line["t"] + by, line) for line, by in zip(lines, late, strict=True)), key=lambda each: each[0])


def results(pipe, told):
    """Return {hide: (the sheet at its end, what was asked in it)} of the lines that arrive at a new pipe."""
    sheets, asked = {}, {}
    end = told[-1][0] + SETTLED_S
    for now, line in (*told, (end, {"t": end, "event": "sensors", "faults": []})):
        facts = pipe.send({"t": round(now, 3), "event": "sensors", "faults": []})  # time passes
        facts += pipe.send(line)
        hide, sheets[hide] = pipe.hide
        asked.setdefault(hide, set()).update(fact["about"] for fact in facts if fact.get("kind") == "question")
    return {hide: (sheet, asked[hide]) for hide, sheet in sheets.items()}


def play_shuffled(hides, seed, preset, hides_a_game=3, late_s=LATE_ARRIVAL_S):
    """Play hides twice, with the events in the order in which they were made and in a random order of arrival.

    Return the differences without a question, as (what differs, lines as they arrived), and how many hides differed
    with one.
    """
    wrong, asked, random = [], 0, Random(f"{seed} {preset}")
    for players in games(hides, seed, preset, hides_a_game=hides_a_game):
        lines = sorted(players.lines, key=lambda line: line["t"])
        settings = preset, {"points": 99} | ({"hit_seconds": int(HIT_SECONDS)} if players.hit_seconds else {})
        late = arrivals(lines, random, late_s)
        before = results(InProcess(*settings, players.nearest), [(line["t"], line) for line in lines])
        after = results(InProcess(*settings, players.nearest), late)
        hide = next((n for n in (*before, *after) if before.get(n, END)[0] != after.get(n, END)[0]), None)
        if hide is None:
            continue
        questioned = before.get(hide, END)[1] or after.get(hide, END)[1]
        # an answer to a question that only one order raised may have shifted the hides since
        if questioned or any(before.get(n, END)[1] != after.get(n, END)[1] for n in range(hide)):
            asked += 1
        else:
            arrived = [{**line, "arrives": round(now, 3)} for now, line in late]
            wrong.append((f"another result of hide {hide}", players.setup, arrived))
    return wrong, asked


def failures(tally):
    """Return what went wrong, the first with the lines of the pipe that lead to it."""
    return [(what, options, "" if n else json.dumps(lines)) for n, (what, options, lines) in enumerate(tally.failures)]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("story", range(0, STORIES, cases(5, 1)))
def test_innocent_team_gets_no_foul(story, preset):
    pipe = InProcess(preset, {"points": 99, "hit_seconds": int(HIT_SECONDS)}, ("", "2,3,1,4")[story % 2])
    people = People(pipe, preset, Random(f"story {story}"))
    for _ in range(HIDES_A_STORY):
        people.play_hide()
    assert failures(people.tally) == []


@pytest.mark.parametrize("preset", PRESETS)
def test_planted_acts_are_called_or_asked(preset):
    tally = play(cases(30, 60), 1, preset)
    assert tally.fair
    assert sum(tally.called.values()) or preset == "umpired"


@pytest.mark.parametrize("preset", PRESETS)
def test_no_habit_is_charged_or_asked_about(preset):
    for habit, tally in measure_rates(HIDES_A_HABIT, 1, preset).items():
        assert (tally.charged, tally.asked, failures(tally)[:1]) == (0, 0, []), habit
        assert tally.untidy > HIDES_A_HABIT / 3 or habit == "tidy"


@pytest.mark.parametrize("preset", PRESETS)
def test_order_of_arrival_changes_no_result(preset):
    wrong, _ = play_shuffled(SHUFFLED, 1, preset)
    assert wrong[:1] == []


@pytest.mark.parametrize(
    ("verdict", "pads"),
    [
        ("good", "1 2 3 4"),
        ("good", "3 | 1 2 3 4"),
        ("good", "3 | 1 2 4"),
        ("good", "1 2 | 1 2 3 4"),
        ("pad_twice", "3 1 2 3 4"),
        ("pad_twice", "1 2 1 3 4"),
        ("pad_skipped", "1 3 4"),
        ("pad_skipped", "3 | 1 3 4"),
        ("doubt", "2 | 1 3 4 2 | 1 3 4"),
        ("doubt", "1 2 2 3 4 | 1 2 | 3 4"),
    ],
)
def test_hands_are_judged_by_rounds(verdict, pads):
    hands, t = [], 0.0
    for word in pads.split():
        t += ROUND_PAUSE_S if word == "|" else 1.0
        hands += [] if word == "|" else [(t - 0.9, t, int(word))]
    assert judge_hands(hands) == verdict
