"""Halve and raise by half each constant of the strike, hand and bead detectors: do their recorded figures notice?

    python tests/tools/halve_constants.py [strikes|hands|beads]

Prints a row for each constant: the recorded set that differs first; where none does, the constant is changed in a copy
of the source, and the row names the first of the detector's tests that fails, or "none". Status 1 if a change went
unnoticed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / each) for each in ("tests/sensing", "tests/support", "hardware/drawings")]

import test_bead_figures  # noqa: E402
import test_hands  # noqa: E402
import test_strikes as recorded  # noqa: E402

from pi_controller.sensing import (  # noqa: E402
    baseline,
    bead_fit,
    bead_search,
    bead_solver,
    beads,
    faults,
    filters,
    hands,
    recursive_filter,
    strike_settings,
    strikes,
)
from pi_controller.sensing.strike_settings import StrikeSettings  # noqa: E402

NO_TUNING = {
    "CHUNK_HOPS": "how many hops are processed at once",
    "FLOOR_HOPS": "covered in both directions by `floor_s`",
    "SILENT_HANDS": "hands are no samples; tests of its own in test_strike_faults.py",
    "MIN_RATE_HZ": "what is refused; a test of its own",
    "MAX_BACKLOG_S": "how many samples wait while no strike is due",
    "MAX_QUIET_S": "how many samples wait while nothing stirs; tests of its own",
    "STIR_RATIO": "what stirs: says when a decision is made, not which",
    "STIR_BLOCKS": "what stirs",
    "USUAL_SHARE": "what stirs",
    "STIRRED_SHARE": "what stirs",
    "MIN_QUIET_SAMPLES": "what stirs",
    "STILL": "rest on one count: any value far below a count squared",
    "TINY": "keeps logarithms finite",
    "PRETEST_FACTOR": "makes the quick test lenient",
    "CLEAR_PEAK_GAIN": "which places of the grid are tried first: the search ends at the same magnets",
    "MAX_WORK": "bounds the search; a test of its own for half of it",
    "STEEL_DEPTHS_MM": "where the search for steel begins: it ends at the same depth",
    "HOPELESS_COST": "ends the search for steel early; a test of its own for more of it",
    "FINEST_STEEL": "where the search for steel ends",
    "MIN_DISTANCE_MM": "keeps a step of the fit from ending on a sensor",
    "MAX_FRAME_SAMPLES": "the filter's bookkeeping: the output is the same",
    "MAX_GROWTH_DECADES": "the filter's bookkeeping: the output is the same",
}
"""Constants that no figure can show, and why."""
STRIKE_MODULES = (strikes, filters, recursive_filter, faults)
FACTORS = (0.5, 1.5)
MARGIN_DB = 0.02
"""The tolerance that the tests have for margins."""
WANTED = json.loads(recorded.RECORDED.read_text("utf-8"))


def figures():
    return {**recorded.DECISIONS, **recorded.FAULTS}


def first_other(measured, wanted, within=0.0):
    """Return the name of the first of the `measured` sets that differs from its `wanted` figures, or None."""
    for name, measure in measured.items():
        try:
            found = json.loads(json.dumps(measure()))
        except (ValueError, IndexError, ZeroDivisionError, recorded.SettingsError):
            return name
        if not test_bead_figures.is_alike(found, wanted[name], within):
            return name
    return None


def first_difference(first):
    """Return the first recorded set of strokes that differs, or None; those named in `first` are tried first."""
    sets = figures()
    ordered = {name: sets[name] for name in first} | sets
    return first_other(ordered, WANTED, MARGIN_DB)


def constants():
    """Yield (module, name) of each number that the strike detector's modules define."""
    for module in STRIKE_MODULES:
        source = Path(module.__file__).read_text("utf-8")
        for name in re.findall(r"^([A-Z][A-Z_]+) =", source, re.MULTILINE):
            if isinstance(getattr(module, name), int | float) and name not in NO_TUNING:
                yield module, name


def changed(value, factor):
    """Return `value` times `factor`; a whole number stays one, and moves by at least one."""
    if isinstance(value, int):
        return max(0, min(value - 1, int(value * factor)) if factor < 1 else max(value + 1, int(value * factor)))
    return tuple(factor * each for each in value) if isinstance(value, tuple) else value * factor


TESTS = {"strikes": ("test_strike", "test_hum"), "hands": ("test_hands", "test_stroke_hands"), "beads": ("test_bead",)}
"""Beginnings of the names of each detector's tests."""


def first_failing_test(detector, module, name, factor):
    """Return the first test that fails when the number that `name` is set to is changed in a copy of `module`."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        kept = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, copy, ignore=kept, symlinks=True)
        path = copy / Path(module.__file__).relative_to(ROOT)
        source = path.read_text("utf-8")
        found = re.search(rf"^ *{name}(?:: [^=\n]+)? = ([^#\n]+)", source, re.MULTILINE)
        numbers = re.sub(r"[\d.]+", lambda one: repr(changed(json.loads(one[0]), factor)), found[1])
        path.write_text(source[: found.start(1)] + numbers + source[found.end(1) :], "utf-8")
        files = [str(one) for begins in TESTS[detector] for one in sorted(copy.glob(f"tests/sensing/{begins}*.py"))]
        command = [sys.executable, "-m", "pytest", "-q", "-n0", "-x", "--all", "-p", "no:cacheprovider", *files]
        # the copy's package is found before the one that is installed
        done = subprocess.run(
            command, cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True, text=True, check=False
        )
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else None


def try_constants():
    for module, name in constants():
        value = getattr(module, name)
        users = [m for m in STRIKE_MODULES if hasattr(m, name)]
        for factor in FACTORS:
            for user in users:
                setattr(user, name, changed(value, factor))
            yield module, name, factor, first_difference(("pairs", "failing"))
            for user in users:
                setattr(user, name, value)


def try_settings():
    shipped = StrikeSettings()
    for field in fields(shipped):
        value = getattr(shipped, field.name)
        if field.name in {"reference", "bands_hz", "arm_guard_s"}:  # arming has tests of its own
            continue
        parts = range(len(value)) if isinstance(value, tuple) else (None,)
        for k in parts:
            for factor in FACTORS:
                one = value * factor if k is None else (*value[:k], value[k] * factor, *value[k + 1 :])
                if one == value:
                    continue
                recorded.StrikeSettings = lambda name=field.name, one=one, **more: replace(
                    shipped, **{name: one, **more}
                )
                yield strike_settings, field.name, factor, first_difference(("four pads", "low"))
    recorded.StrikeSettings = StrikeSettings


SEEN_NOWHERE = {
    ("hands.crosstalk_margin", 1.5), ("hands.rise", 1.5), ("hands.LEAD", 1.5),
    ("hands.MAX_FAR_EDGE_LOSS", 1.5), ("hands.RISE", 1.5),
    ("bead_fit.AMBIGUOUS_COST", 1.5), ("bead_fit.STEEL_COST", 0.5), ("bead_fit.STEEL_COST", 1.5),
    ("bead_fit.FIST_MM", 0.5), ("bead_fit.FIST_MM", 1.5), ("bead_fit.FREE_LIFT_MM", 0.5),
    ("bead_fit.FREE_LIFT_MM", 1.5), ("baseline.UNDECIDED_LOG_ODDS", 0.5), ("baseline.UNDECIDED_LOG_ODDS", 1.5),
    ("beads.BY_OTHERS_MM", 1.5),
}  # fmt: skip
"""Changes that nothing shows, neither 480 simulated hides nor 200 cold starts and 6 scenes of each kind with beads:
they move limits for what a real mat may do."""


def first_other_hide():
    """Return the first recorded hide whose hand events differ, or None."""
    return first_other(test_hands.HIDES, json.loads(test_hands.RECORDED.read_text("utf-8")))


def try_hands():
    shipped = hands.HandSettings
    for field in fields(shipped):
        value = getattr(shipped(), field.name)
        for factor in FACTORS:
            hands.HandSettings = partial(shipped, **{field.name: changed(value, factor)})
            yield hands, field.name, factor, first_other_hide()
    hands.HandSettings = shipped
    for name in ("SIDE_SCANS", "LEAD", "MAX_FAR_EDGE_LOSS", "RISE"):
        value = getattr(hands, name)
        for factor in FACTORS:
            setattr(hands, name, changed(value, factor))
            yield hands, name, factor, first_other_hide()
        setattr(hands, name, value)


def first_other_scene():
    """Return the first recorded scene of beads whose readings differ, or None."""
    scenes = {
        f"{kind} {number}": partial(test_bead_figures.readings, kind, number)
        for kind, number in test_bead_figures.SCENES
    }
    return first_other(scenes, json.loads(test_bead_figures.RECORDED.read_text("utf-8")), test_bead_figures.PLACE_MM)


def try_beads():
    modules = (bead_fit, bead_search, bead_solver, beads, baseline)
    for module in modules:
        for name in re.findall(r"^([A-Z][A-Z_]+) =", Path(module.__file__).read_text("utf-8"), re.MULTILINE):
            value = getattr(module, name)
            if not isinstance(value, int | float | tuple) or name in NO_TUNING:
                continue
            users = [user for user in modules if hasattr(user, name)]
            for factor in FACTORS:
                for user in users:
                    setattr(user, name, changed(value, factor))
                yield module, name, factor, first_other_scene()
                for user in users:
                    setattr(user, name, value)


def main():
    tries = {"strikes": (try_settings, try_constants), "hands": (try_hands,), "beads": (try_beads,)}
    unnoticed, chosen = 0, sys.argv[1:] or list(tries)
    for detector, tried in ((name, one()) for name in chosen for one in tries[name]):
        for module, name, factor, seen in tried:
            row = f"{module.__name__.rsplit('.', 1)[1]}.{name}"
            noticed = seen or first_failing_test(detector, module, name, factor)
            unnoticed += noticed is None and (row, factor) not in SEEN_NOWHERE
            print(f"{row:<34} x {factor}  {noticed or 'none'}", flush=True)
    print(f"{unnoticed} changes unnoticed")
    return int(unnoticed > 0)


if __name__ == "__main__":
    sys.exit(main())
