"""Faults of an installation, and the staff's next step for each: the one table of them.

The staff page shows it, and so does the page of all problems. A fault found now comes with its own words; the next step
is that of its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from pi_controller.display.i18n import Translator
from pi_controller.host.status import SETTINGS_HINT
from pi_controller.text import mark

if TYPE_CHECKING:
    from pi_controller.exhibit.exhibit import Exhibit
    from pi_controller.exhibit.health import WatchFact
    from pi_controller.exhibit.self_test import SelfTestVerdict

Kind = Literal[
    "texts", "clock", "recording", "link", "sensors", "lights", "loudspeaker", "heat", "supply",
    "disk", "card", "settings", "journals", "screen", "restarts",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)
STEPS: Mapping[Kind, tuple[str, str]] = {
    "texts": (
        mark("A text for visitors is broken"),
        mark("Visitors see the last good texts. Correct the texts on the page “Set up”."),
    ),
    "clock": (mark("The clock is wrong"), mark("Set the clock on the staff page.")),
    "recording": (
        mark("Games are not recorded"),
        mark("Visitors can play. Make room on the disk, then download the report and send it to your support person."),
    ),
    "link": (
        mark("The mat’s board does not respond"),
        mark("Unplug the USB cable at both ends and plug it in again. The game goes on when the board is back."),
    ),
    "sensors": (
        mark("A sensor is faulty"),
        mark(
            "Dry the cover, and look for a loose wire or something loose at this pad. Then calibrate the mat. If it "
            "stays, send the report to your support person."
        ),
    ),
    "lights": (mark("The lights are off"), mark("Check the plug of the light strip and its power supply.")),
    "loudspeaker": (
        mark("The loudspeaker is silent"),
        mark("Check its plug and its switch, then press “Play a sound”."),
    ),
    "heat": (
        mark("The machine is too hot"),
        mark("Give it shade and air. Visitors see a notice until it is cooler."),
    ),
    "supply": (
        mark("The power supply is weak"),
        mark("Use the maker’s power supply and a short cable. The warning stays until the machine starts again."),
    ),
    "disk": (
        mark("The disk is full"),
        mark("Record fewer games: set a smaller size or fewer days in the settings. Old games are then removed."),
    ),
    "card": (
        mark("The card or disk has errors"),
        mark("Save the texts and the counts, and write a new card soon. Until then visitors can play."),
    ),
    "settings": (mark("A file on the card is wrong"), SETTINGS_HINT),
    "journals": (
        mark("A recorded game is damaged"),
        mark("The damage is in this file alone. Send the report to your support person."),
    ),
    "screen": (
        mark("The visitors’ screen was restarted often"),
        mark("Switch the machine off and on. If it happens again, send the report to your support person."),
    ),
    "restarts": (
        mark("The program has restarted by itself"),
        mark("Download the report and send it to your support person."),
    ),
}
"""By kind: its name, and what the staff does."""
FOUND_BY_TEST: Mapping[str, Kind] = {
    "loudspeaker": "loudspeaker",
    "speech": "loudspeaker",
    "folder": "card",
    "writing": "card",
    "fsync": "card",
    "journal": "journals",
    "recorded game": "journals",
    "Sensors": "sensors",
}
"""The kind of a failing line of the self-test, by its name or group; other kinds are watched all the time."""


class Fault(msgspec.Struct, frozen=True):
    """A fault found now: in words, and the next step."""

    kind: Kind
    message: str
    step: str


def list_steps(tr: Translator) -> list[Fault]:
    """Return all kinds of faults with their names and next steps, in the language of `tr`."""
    return [Fault(kind, *map(tr.text, STEPS[kind])) for kind in KINDS]


def find_faults(
    exhibit: Exhibit,
    machine: Iterable[WatchFact],
    verdict: SelfTestVerdict | None,
    restarts: int,
    lights: str,
    tr: Translator,
) -> list[Fault]:
    """Return the faults known now; parts that come from files and boards are in English.

    `machine` has the facts of the machine, `verdict` is that of the last self-test, `restarts` counts crashes, `lights`
    says why the LED strip is off ("" if it works).
    """
    found: list[tuple[Kind, str]] = []
    if exhibit.host.fault:
        found.append(("texts", tr.text("The host’s new texts were not used: {fault}", fault=exhibit.host.fault)))
    if not exhibit.clock_set:
        found.append(("clock", tr.text("The clock is not set, so opening hours do not work. Set it below.")))
    elif exhibit.undated:
        found.append(("clock", tr.text("No old game is deleted: the clock is or was wrong. Set it.")))
    if exhibit.fault:
        found.append(("recording", tr.text("Games are not recorded: {fault}", fault=exhibit.fault)))
    if exhibit.section.mat == "sensors":
        found += _find_mat_faults(exhibit, tr)
    if lights:
        found.append(("lights", f"{tr.text(STEPS['lights'][0])}: {tr.text(lights)}"))
    if restarts:
        often = tr.text("Restarted by itself {n} times since the machine was switched on.")
        found.append(("restarts", often.format(n=restarts)))
    for fact in machine:
        if fact.wrong and fact.kind is not None:
            found.append((fact.kind, f"{fact.name}: {fact.value}"))
    for line in verdict.failures if verdict is not None else ():
        kind = FOUND_BY_TEST.get(line.name) or FOUND_BY_TEST.get(line.group)
        if kind is not None:
            found.append((kind, f"{tr.text(STEPS[kind][0])}: {tr.text(line.sentence)}"))
    return [Fault(kind, what, tr.text(STEPS[kind][1])) for kind, what in found]


def _find_mat_faults(exhibit: Exhibit, tr: Translator) -> Iterable[tuple[Kind, str]]:
    link = exhibit.board
    if link is None or not link.up:
        why = link.why if link is not None else ""
        yield "link", tr.text("The mat’s board does not respond. {why}", why=tr.parts(why)).strip()
    for one in exhibit.sensor_faults:
        yield "sensors", tr.text("Pad {pad}: a sensor is faulty ({why})", pad=one.pad, why=one.why)
