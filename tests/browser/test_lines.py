"""Nothing on a public page is cut in half, off the side or broken over two lines, at every size of screen."""

from dataclasses import replace

import msgspec
import pytest
from cases import ALL_CASES
from line_faults import LINE_FAULTS
from long_names import LONG_NAMES
from phases import PHASES

from pi_controller.web.address import PageSettings
from pi_controller.web.server import WebServer

SIZES = (
    (320, 640),
    (390, 844),
    (800, 480),
    (1080, 1920),
    (1366, 768),
    (1920, 1080),
    *(((3840, 2160),) if ALL_CASES else ()),
)
TEAMS = {
    "short": (),
    "long": (LONG_NAMES["spaces"], LONG_NAMES["syllabics"]),
    "wide": (LONG_NAMES["unbroken"], LONG_NAMES["arabic"]),
}
PROJECTOR = (1920, 1080)
"""Here each page fits without scrolling, unless the names are long."""
OVER = """() => [document.documentElement.scrollWidth - document.documentElement.clientWidth,
  document.documentElement.scrollHeight - innerHeight]"""
WITH = PageSettings(
    "http://192.0.2.7:8080", "Pow Wow of the Lower River", LONG_NAMES["spaces"], "Our own rules prevail."
)


@pytest.mark.parametrize("path", ["", "room"])
def test_public_page_lines_are_uncut_and_numbers_unbroken(chromium, feed, path):
    server, tab = WebServer(feed, port=0, pages=WITH), chromium.new_page()
    tab.route("**/live.js", lambda route: route.abort())  # without scripts it would load itself again
    feed.publish(next(iter(PHASES.values())))
    server.start()
    wrong = {}
    try:
        for number, (phase, view) in enumerate(PHASES.items()):
            for place, (names, given) in enumerate(TEAMS.items()):
                teams = dict(view.teams) | dict(zip(view.teams, given, strict=False))
                past = tuple(replace(turn, number=turn.number + 8) for turn in view.past)
                more = {"teams": teams, "past": past, "hide": view.hide + 8} if given else {}
                feed.publish(msgspec.structs.replace(view, seq=100 + 3 * number + place, **more))
                tab.goto(server.url + path)
                for width, height in SIZES:
                    tab.set_viewport_size({"width": width, "height": height})
                    found = tab.evaluate(LINE_FAULTS)
                    wide, high = tab.evaluate(OVER)
                    if wide > 0 or (high > 1 and not given and phase != "wide" and (width, height) == PROJECTOR):
                        found.append(f"over the screen by {wide}, {high} px")
                    if found:
                        wrong[f"{phase}, {names} names, {width}x{height}"] = found
    finally:
        tab.close()
        server.stop()
    assert wrong == {}
