"""Play random hides of Hampa Apena through the pipe, with people whose true acts are known, and judge the referee.

    python tests/referee/truthful_hides.py --hides 10000 --seed 1 [--preset home] [--show 3]
    python tests/referee/truthful_hides.py rates [--hides 200]       innocent hides charged, habit by habit
    python tests/referee/truthful_hides.py shuffled [--hides 2000]   events that arrive up to 250 ms late

The people (`tests/support/pipe_people.py`) are untidy (`simulation/habits.py`). Three rules judge the outcome:

* no foul is called by itself on a team that did not commit it ("innocent"), and few are asked about;
* a planted foul, and a hand where the rules want a question, is called or asked ("missed" otherwise);
* one stroke is never two hits, and one that is made while the judge is asked is kept ("wrong hit" otherwise).

`--show` prints failing hides as the lines of the pipe that lead to them, from the toss on. Status 1 if an
innocent team was punished, or less than 99 % of what was planted was noticed.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pipe_people import HIT_SECONDS, InProcess, People, Tally

from pi_controller.referee.settings import PRESETS
from pi_controller.simulation.habits import TIDY, UNTIDY, Habits

HIDES_A_GAME = 25
LATE_ARRIVAL_S = 0.25
"""An event is told up to so long after it happened."""
END = None, ()
"""The result of a hide that was not played."""
SETTLED_S = 2.0
"""So long after the last event what follows from it is there."""
MAX_ASKED_SHARE = 0.02
"""The share of innocent hides that a judge may be asked about."""
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


def report(tally, show):
    """Print what the hides came to, and the first `show` failing hides of each kind as lines of the pipe."""
    print(f"{tally.hides} hides; fouls called by themselves: {sum(tally.called.values())}")
    print(f"innocent hides: {tally.innocent_hides}, charged {tally.charged}, asked {tally.asked} ", end="")
    print(f"({tally.asked_share:.2%}): {dict(Counter(what for what, *_ in tally.questions))}")
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
    print_failures([*tally.failures, *tally.questions], show)


def print_failures(failures, show):
    """Print the first `show` of each kind of (what is wrong, the pipe's options, its lines)."""
    shown = Counter()
    for what, options, lines in failures:
        shown[what] += 1
        if shown[what] <= show:
            print(f"\n# {what}; moccasin-mat referee dakota --set points=99 {options}")
            print("\n".join(json.dumps(line) for line in lines))


def report_rates(presets, hides, seed, show):
    """Print for each habit how many innocent hides were charged, and asked about; return how many were charged."""
    charged = 0
    for preset in presets:
        print(f"{preset}: innocent hides charged, asked about")
        for what, tally in measure_rates(hides, seed, preset).items():
            of = tally.untidy or tally.innocent_hides
            print(f"  {what:44} {tally.charged:5} of {of:5}, {tally.asked:5} ({tally.asked / of:.1%})")
            print_failures([*tally.failures, *tally.questions], show)
            charged += tally.charged
    return charged


def report_shuffled(presets, hides, seed, show):
    """Print how many hides came to another result in another order of arrival; return those without a question."""
    found = 0
    for preset in presets:
        wrong, asked = play_shuffled(hides, seed, preset)
        print(f"{preset}: {hides} hides shuffled: {len(wrong)} other results without a question, {asked} with one")
        for what, count in Counter(what for what, *_ in wrong).most_common(10):
            print(f"  {count:6} {what}")
        print_failures(wrong, show)
        found += len(wrong)
    return found


def main():
    """Play, report, and return the status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("hides", "rates", "shuffled"), default="hides")
    parser.add_argument("--hides", type=int, help="2000, in `rates` 200 for each habit and preset")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--preset", choices=tuple(PRESETS), help="one preset; else a quarter of the hides in each")
    parser.add_argument("--plants", type=float, default=0.3, help="share of hides with a planted foul of the hider")
    parser.add_argument("--disturbs", type=float, default=0.6, help="share of hides with disturbances")
    parser.add_argument("--show", type=int, default=0, help="failing hides of each kind that are printed")
    args = parser.parse_args()
    presets = (args.preset,) if args.preset else tuple(PRESETS)
    if args.what == "rates":
        return int(report_rates(presets, args.hides or 200, args.seed, args.show) > 0)
    hides = -(-(args.hides or 2000) // len(presets))
    if args.what == "shuffled":
        return int(report_shuffled(presets, hides, args.seed, args.show) > 0)
    tally = Tally()
    for preset in presets:
        tally.add(play(hides, args.seed, preset, plants=args.plants, disturbs=args.disturbs))
    report(tally, args.show)
    return int(not tally.fair)


if __name__ == "__main__":
    sys.exit(main())
