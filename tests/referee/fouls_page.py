"""Writes pi_controller/referee/FOULS.md from the stories in tests/scenarios/foul_*.txt: what follows from each foul.

    python tests/referee/fouls_page.py            # plays the stories, prints a table of them, writes the page

A line of a story that ends in `#!` is where its foul is made; what must follow from it there is what the page says, and
`pytest tests/referee` plays every one of them. What stands behind `#!` tells two such lines apart.
"""

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from pi_controller.games.dakota.rules import HIDER_FOULS, HITTER_FOULS
from pi_controller.referee.settings import FOUL_TREATMENTS, PRESETS

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "tests" / "scenarios"
PAGE = ROOT / "pi_controller" / "referee" / "FOULS.md"
OUTCOMES = {
    "foul": "called",
    "question": "asked",
    "action": "counts",
    "void": "goes on",
    "commit": "passed over",
    "notice": "passed over",
}
"""What is said of a foul, by what follows from it first; nothing follows from what is passed over."""
JUDGE = "entered"
HEAD = """# The fouls

`[referee] preset` (`--preset` of the `referee` verb) selects a column; a line in `[referee.fouls]` (`--foul KIND=MODE`)
overrides it. Each link leads to the foul played as a story.

"""
MEANING = """
*called*: the table applies the foul; *asked*: the table waits for the judge's answer; *entered*: the judge alone
notices it; *counts*: it is the hit; *goes on*: play continues with the bead in its new place; *passed over*: the
table ignores it. The judge can enter any foul and undo any. If the mat is in doubt, every foul becomes a question.

The mat detects early hits from ready on, if no hand is under a pad. A hit at a pad with a hider's or an unidentified
hand under it is doubtful (`touch`); a hitter's own hand counts as a touch. For a quarter of a second after a hit, the
mat detects only a hit that is 20 dB stronger.
"""


class Made(NamedTuple):
    """A foul made in a story: at a table of which preset, what was done, what followed, and what tells it apart."""

    preset: str
    line: str
    outcome: str
    label: str


def made(text):
    """Return the fouls of a story that are marked; tables that are set up further by a line `foul` are left out."""
    found, presets, further = [], ["home"], False
    for line in text.splitlines():
        said, last_undoable, label = line.partition("#!")
        words = said.split()
        if words[:1] == ["preset"]:
            presets, further = words[1:], False
        elif words[:1] == ["foul"]:
            further = True
        elif last_undoable and not further:
            does, _, follows = (part.strip() for part in said.partition("->"))
            first = follows.split()[:1]
            outcome = JUDGE if does.startswith("judge") else OUTCOMES[first[0]] if first else "passed over"
            found += [Made(preset, does, outcome, label.strip()) for preset in presets]
    return found


def stories():
    """Return (name, the rule in a line, its fouls made) of every story: those of the settings first, in their order."""
    order = [*FOUL_TREATMENTS, *HIDER_FOULS, *HITTER_FOULS]
    names = sorted(
        (path.stem.removeprefix("foul_") for path in SCENARIOS.glob("foul_*.txt")),
        key=lambda name: (order.index(name) if name in order else len(order), name),
    )
    texts = {name: (SCENARIOS / f"foul_{name}.txt").read_text("utf-8") for name in names}
    return [(name, text.partition("\n")[0].removeprefix("#").strip(), made(text)) for name, text in texts.items()]


def page():
    """Return the page; presets with the same outcomes share a column."""
    columns = {}
    for preset, told in zip(PRESETS, zip(*(outcomes(fouls) for _, _, fouls in stories()), strict=True), strict=True):
        columns.setdefault(told, []).append(preset)
    lines = [f"* **{preset}**: {about}" for preset, about in PRESETS.items()]
    lines += [
        "",
        f"| foul | {' | '.join(map(', '.join, columns.values()))} | the rule |",
        f"| {'--- | ' * (len(columns) + 2)}".rstrip(),
    ]
    for number, (name, rule, _) in enumerate(stories()):
        link = f"[`{name}`](../../tests/scenarios/foul_{name}.txt)"
        told = " | ".join(column[number] for column in columns)
        lines.append(f"| {link} | {told} | {rule} |")
    return HEAD + "\n".join(lines) + "\n" + MEANING


def noticed_by(name):
    """Return who notices the foul `name`."""
    return "the clock" if name == "time" else "the mat" if name in FOUL_TREATMENTS else "the judge"


def outcomes(fouls):
    """Return what follows in each preset, in their order."""
    return [_told([foul for foul in fouls if foul.preset == preset or foul.outcome == JUDGE]) for preset in PRESETS]


def main():
    """Play every story, print what came of it, and write the page where all passed; return the exit status."""
    from scenes import Scene, steps
    from test_scenarios import test_scenario

    told = Table("story", "noticed by", *PRESETS, "steps", "")
    failed = []
    for name, _, fouls in stories():
        path = SCENARIOS / f"foul_{name}.txt"
        with tempfile.TemporaryDirectory() as folder:
            scene = Scene(Path(folder) / "journal.sqlite")
            try:
                test_scenario(path, scene)
            except AssertionError as error:
                failed.append(f"{name}: {error}")
            finally:
                scene.journal.close()
        played = sum(bool(happens) for _, happens, *_ in steps(path.read_text("utf-8")))
        verdict = "failed" if failed and failed[-1].startswith(f"{name}: ") else "passed"
        told.add_row(path.name, noticed_by(name), *outcomes(fouls), str(played), verdict)
    Console(width=None if sys.stdout.isatty() else 160).print(told)
    print(f"{told.row_count - len(failed)} of {told.row_count} stories passed", *failed, sep="\n")
    if not failed:
        PAGE.write_text(page(), "utf-8")
    return 1 if failed else 0


def _told(fouls):
    if len({foul.outcome for foul in fouls}) == 1:
        return fouls[0].outcome
    return "; ".join(f"{foul.label}: {foul.outcome}" if foul.label else foul.outcome for foul in fouls)


if __name__ == "__main__":
    raise SystemExit(main())
