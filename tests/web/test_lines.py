"""Nothing on a public page is cut in half, and no number is broken over two lines, at every size of screen."""

from dataclasses import replace

import msgspec
import pytest
from cases import NIGHTLY
from phases import PHASES

from pi_controller.web.address import PageSettings
from pi_controller.web.server import WebServer

pytestmark = pytest.mark.chromium

SIZES = ((390, 844), (800, 480), (1080, 1920), (1366, 768), (1920, 1080), *(((3840, 2160),) if NIGHTLY else ()))
WITH = PageSettings("http://192.0.2.7:8080", "Pow Wow of the Lower River", "Table 2", "Our own rules prevail.")
FAULTS = """() => {
  const faults = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const pen = document.createElement("canvas").getContext("2d");
  const clips = e => ["hidden", "clip"].includes(getComputedStyle(e).overflowY);
  while (texts.nextNode()) {
    const text = texts.currentNode, parent = text.parentElement, said = text.data.trim();
    if (!said || parent.closest(".unseen, script, style, svg, noscript")) continue;
    if (!parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const range = document.createRange();
    for (const { index, 0: number } of text.data.matchAll(/[0-9]{2,}/g)) {
      range.setStart(text, index);
      range.setEnd(text, index + number.length);
      const tops = [...range.getClientRects()].filter(line => line.width > 0).map(line => line.top);
      if (Math.max(...tops) - Math.min(...tops) > 4) faults.push(`${number} of “${said}” is broken`);
    }
    let box = parent;
    while (box && !clips(box)) box = box.parentElement;
    if (!box || box === document.body || box === document.documentElement) continue;
    const { top, bottom } = box.getBoundingClientRect();
    const style = getComputedStyle(parent);
    pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const ink = pen.measureText(text.data);
    range.selectNodeContents(text);
    for (const line of range.getClientRects()) {
      const seen = (y) => y > top && y < bottom;
      const baseline = line.top + ink.fontBoundingBoxAscent;
      const from = baseline - ink.actualBoundingBoxAscent + 1.5, to = baseline + ink.actualBoundingBoxDescent - 1.5;
      if (seen(from) !== seen(to)) faults.push(`“${said}” is cut`);
    }
  }
  return [...new Set(faults)];
}"""
LONG = ("Očhéthi Šakówiŋ drum and singing society of the upper river", "ᐊᓂᔑᓈᐯ ᐃᑵᐗᒃ of Misi-zaaga'igan, second side")
"""Names of teams nearly as long as they may be."""


@pytest.mark.parametrize("path", ["", "room"])
def test_nothing_is_cut_in_half_and_no_number_broken(chromium, feed, path):
    server, tab = WebServer(feed, port=0, pages=WITH), chromium.new_page()
    tab.route("**/live.js", lambda route: route.abort())  # without scripts it would load itself again
    feed.publish(next(iter(PHASES.values())))
    server.start()
    wrong = {}
    try:
        for number, (phase, view) in enumerate(PHASES.items()):
            teams = dict(zip(view.teams, LONG, strict=False)) | dict(list(view.teams.items())[2:])
            for names in ("short", "long"):
                past = tuple(replace(turn, number=turn.number + 8) for turn in view.past)
                more = {"teams": teams, "past": past, "hide": view.hide + 8} if names == "long" else {}
                feed.publish(msgspec.structs.replace(view, seq=100 + 2 * number + len(more), **more))
                tab.goto(server.url + path)
                for width, height in SIZES:
                    tab.set_viewport_size({"width": width, "height": height})
                    if found := tab.evaluate(FAULTS):
                        wrong[f"{phase}, {names} names, {width}x{height}"] = found
    finally:
        tab.close()
        server.stop()
    assert wrong == {}
