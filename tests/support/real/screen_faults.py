"""What is wrong with how a screen of the installation lies on a kiosk's glass, and every screen of a session."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exhibit_rig import STATES, STEP_S, Rig

from pi_controller.exhibit.pages import render_screen
from pi_controller.exhibit.screen import Screen, build_screen

if TYPE_CHECKING:
    from pi_controller.exhibit.host_files import HostTexts

GLASS = ((800, 480), (1024, 600), (1280, 800), (1366, 768), (1920, 1080), (3840, 2160), (720, 1280), (1080, 1920))
"""Touch screens of kiosks, in pixels: width and height."""
WIDE_LETTERS = ':root { --serif: "DejaVu Serif"; --sans: "DejaVu Sans"; }'
"""The letters of a kiosk, which has no others; they are wider than most."""
INSTALLED = """() => {
  const pen = document.createElement("canvas").getContext("2d");
  const width = (family) => { pen.font = `20px ${family}`; return pen.measureText("imWg").width; };
  return ["DejaVu Serif", "DejaVu Sans"].every((family) => width(`"${family}", monospace`) !== width("monospace"));
}"""
TWICE = ":root:root:has(.exhibit) { font-size: calc(2 * max(16px, 2.25vmin)); }"
"""Letters of twice the size."""
FAULTS = """([screens, low, scrolls = false]) => {
  const screen = document.getElementById("screen"), page = document.scrollingElement, faults = [];
  const end = scrolls ? Infinity : innerHeight;
  const common = (a, b) => [
    Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
  for (const { name, stage, html } of screens) {
    const wrong = (what) => faults.push(`${name}: ${what}`);
    screen.innerHTML = html;
    Object.assign(document.body.dataset, { stage, low: low ? "yes" : "" });
    for (const told of screen.querySelectorAll("[data-left]")) told.textContent = "120";
    if (!scrolls && page.scrollHeight > innerHeight) wrong(`${page.scrollHeight - innerHeight} px too high`);
    if (page.scrollWidth > innerWidth) wrong(`${page.scrollWidth - innerWidth} px too wide`);
    for (const button of screen.querySelectorAll("[data-do]")) {
      const { left, top, right, bottom, width, height } = button.getBoundingClientRect();
      const whole = left >= 0 && top >= 0 && right <= innerWidth + 0.5 && bottom <= end + 0.5;
      if (!whole) wrong(`${button.dataset.do} is cut`);
      if (width < 44 || height < 44) wrong(`${button.dataset.do} is small`);
      if (low && top < innerHeight / 2 - 0.5) wrong(`${button.dataset.do} is out of reach`);
    }
    const lines = [], texts = document.createTreeWalker(screen, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode, parent = text.parentElement, said = text.data.trim();
      if (!said || parent.closest(".unseen") || !parent.checkVisibility({ visibilityProperty: true })) continue;
      const size = parseFloat(getComputedStyle(parent).fontSize);
      const least = parent.closest(".credit") ? 16 : Math.max(16, (24 / 1080) * Math.min(innerWidth, innerHeight));
      if (size < least - 0.01) wrong(`“${said}” has letters of ${size} px`);
      const range = document.createRange();
      range.selectNodeContents(text);
      for (const line of range.getClientRects()) {
        if (line.left < 0 || line.right > innerWidth || line.bottom > end) wrong(`“${said}” is cut`);
        for (const [other, its, what] of lines) {
          const [wide, high] = common(line, other);
          const met = wide > 2 && high > 0.35 * Math.min(line.height, other.height);
          if (its !== text && met) wrong(`“${said}” lies on “${what}”`);
        }
        lines.push([line, text, said]);
      }
    }
    const parts = "header, .cards, .pads, .bundle, .letter, .card, .lies, .went, .report, .called, .host, .choices, "
      + "footer";
    const blocks = [...screen.querySelectorAll(parts)].filter((block) => block.checkVisibility());
    for (const [n, one] of blocks.entries()) {
      for (const other of blocks.slice(0, n)) {
        const [wide, high] = common(one.getBoundingClientRect(), other.getBoundingClientRect());
        const [above, under] = [one, other].map((block) => block.className || block.tagName);
        const covers = one.matches(".card") && other.matches(".pads"); // a card lies on the cloths
        if (wide > 1 && high > 1 && !covers && !other.contains(one)) wrong(`${above} lies on ${under}`);
      }
    }
  }
  return faults;
}"""
"""Given screens as `drawn_screens` makes them, whether everything is lower, and whether the page may scroll: what is
wrong, a sentence each."""


def drawn_screens() -> list[dict[str, str]]:
    """Return the screens of many sessions as HTML, with a name and their stage: of those built alike the longest."""
    longest: dict[str, tuple[int, Screen, HostTexts]] = {}

    def look(rig: Rig) -> None:
        screen = build_screen(rig.exhibit)
        length = len(screen.lead) + len(screen.under) + len(screen.how) + sum(len(pad.said) for pad in screen.pads)
        built = repr((
            screen.stage,
            [one.do for one in screen.choices],
            screen.step and screen.step.title,
            [one.title for one in screen.words],
            [bool(pad.do) for pad in screen.pads],
            bool(screen.how),
            bool(screen.under),
        ))  # fmt: skip
        if length > longest.get(built, (-1,))[0]:
            longest[built] = (length, screen, rig.exhibit.host.texts)

    for state in STATES.values():
        look(state())
    show = Rig(2)
    for _ in range(2000):
        show.advance(STEP_S)
        look(show)
    show.exhibit.notice = "Out of order for a while. Please come back later."
    show.advance(STEP_S)
    look(show)
    for mat in ("screen", "eye"):
        for kind in ("mat", "teams", "learn"):
            for seed in range(6):
                rig = Rig(seed, mat=mat, languages=("en", "oj"))
                rig.begin(kind)
                while rig.stage == "play":
                    look(rig)
                    if "how" in rig.exhibit.touches:
                        rig.touch("how")
                        look(rig)
                    if rig.game.touches:
                        rig.touch(rig.rng.choice(list(rig.game.touches)))
                    rig.advance(STEP_S)
                look(rig)
    languages = (("en", "English"), ("oj", "oj"))
    return [
        {"name": _name(screen), "stage": screen.stage, "html": str(render_screen(screen, host, languages))}
        for _, screen, host in longest.values()
    ]


def _name(screen: Screen) -> str:
    step = screen.step.title if screen.step is not None else ""
    told = (screen.stage, screen.lead, step, *(one.title for one in screen.words), "how" if screen.how else "")
    return re.sub(r"( / )+", " / ", " / ".join(told)).strip(" /")
