"""The acceptance game: chapter 11 of the booklet, read from `chapter11.txt` and played, every stated count checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pi_controller.rules.registry import game

STORY = Path(__file__).with_name("chapter11.txt")


@dataclass(frozen=True)
class Count:
    """`A 6` or `middle 14`, and what is remarked about its print."""

    pool: str
    sticks: int
    remark: str


@dataclass(frozen=True)
class Step:
    """One line of the story: who hides, what was done, the words called, the counts and points stated."""

    hide: int
    hider: str
    done: str
    calls: tuple[str, ...]
    counts: tuple[Count, ...]
    points: str


def read(text: str) -> list[Step]:
    """Read a story; the toss is the step of hide 0."""
    steps: list[Step] = []
    hide, hider = 0, ""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if head := re.fullmatch(r"hide (\d+): ([AB])", line):
            hide, hider = int(head[1]), head[2]
            continue
        done, calls, stated = (*(part.strip() for part in line.split("|")), "", "")[:3]
        counts: list[Count] = []
        points = ""
        for item in filter(None, stated.split(", ")):
            if said := re.fullmatch(r"points (\d-\d)", item):
                points = said[1]
                continue
            count = re.fullmatch(r"(A|B|middle) (\d+)(?: \((.+)\))?", item)
            assert count, f"{item!r} in {line!r}"
            counts.append(Count(count[1], int(count[2]), count[3] or ""))
        steps.append(Step(hide, hider, done, tuple(calls.split()), tuple(counts), points))
    return steps


def test_the_typical_game_of_the_booklet():
    dakota = game("dakota")
    state = dakota.opening()
    exact = 0
    remarks: dict[str, list[tuple[int, str, int]]] = {}
    last_hide = 0
    for step in read(STORY.read_text("utf-8")):
        where = f"hide {step.hide}: {step.done}"
        if step.hide:
            sheet = dakota.sheet(state)
            assert sheet["hider"] == step.hider, where
            assert (sheet["owed"] == "first") == (step.hide == last_hide + 1), where
            last_hide = step.hide
            hit = re.fullmatch(r"(miss|find)(?: \(not told\))?", step.done)
            assert hit, where
            state, calls = dakota.play(state, {"do": "hit", "found": hit[1] == "find"})
        else:
            state, calls = dakota.play(state, {"do": "toss", "winner": step.done.removeprefix("toss ")})
        assert calls == step.calls, where
        sheet = dakota.sheet(state)
        lies = {**sheet["long"], "middle": sheet["middle"]}
        assert sum(lies.values()) == 20
        for count in step.counts:
            assert lies[count.pool] == count.sticks, f"{where}: {count.pool}"
            if count.remark:
                remarks.setdefault(count.remark, []).append((step.hide, count.pool, count.sticks))
            else:
                exact += 1
        if step.points:
            assert "{A}-{B}".format(**sheet["short"]) == step.points, where
    assert last_hide == 56
    # 151 counts are stated of a named team or the middle; two of them are one sentence with the teams exchanged
    assert exact == 149
    assert remarks == {
        "printed: A": [(34, "B", 10)],
        "printed: B": [(34, "A", 2)],
        "no team printed": [(20, "B", 16), (51, "A", 0)],
    }
    assert dakota.sheet(state)["winner"] == "B"
    assert dakota.sheet(state)["short"] == {"A": 3, "B": 5}
    assert dakota.is_over(state)
