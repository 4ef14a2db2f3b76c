"""Pictures of every state, on a phone and on kiosks' glass: `python tests/tools/exhibit_pictures.py FOLDER [STATE]...`.

Seven visitors for whom a screen is not made: `python tests/tools/exhibit_pictures.py FOLDER everybody`; what the
blind one hears is in `blind.txt`.
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real"))

from exhibit_rig import STATES, STEP_S, Rig
from headless import ARGUMENTS, CHROMIUM
from screen_faults import GLASS
from served_exhibit import served

from pi_controller.exhibit.spoken import Prompter

SIZES = ((390, 844), *GLASS)
SETTLED = """() => Promise.all(document.getAnimations()
  .filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime))
  .map((one) => one.finished.catch(() => 0)))"""
"""Wait until every movement that ends has ended."""


EVERYBODY = {
    "blind": ("buttons", (1280, 800)),
    "wheelchair-upright": ("low", (1080, 1920)),
    "wheelchair": ("low", (1920, 1080)),
    "colour-blind": ("aiming", (1280, 800)),
    "left-handed": ("hiding", (1280, 800)),
    "child": ("leaving", (1280, 800)),
    "quarrel": ("curtain", (1280, 800)),
    "walks-off": ("asked", (1280, 800)),
}
"""The state and the screen's size of each visitor's picture."""


def draw_everybody(browser, folder):
    for visitor, (state, (width, height)) in EVERYBODY.items():
        with served(STATES[state]()) as (page, _):
            tab = browser.new_page(viewport={"width": width, "height": height})
            tab.goto(page.url)
            if visitor == "colour-blind":
                eye = tab.context.new_cdp_session(tab)
                eye.send("Emulation.setEmulatedVisionDeficiency", {"type": "achromatopsia"})
            tab.evaluate(SETTLED)
            tab.screenshot(path=folder / f"{visitor}.png")
            tab.close()
    (folder / "blind.txt").write_text("".join(f"{t:6.1f} s  {said}\n" for t, said in heard_in_a_game()), "utf-8")


def heard_in_a_game():
    """Yield what the host's speech says in a game of three hides, with its time."""
    rig, prompter = Rig(4, hides=3), Prompter()
    rig.begin("mat")
    while rig.stage != "attract":
        if (prompt := prompter.step(rig.exhibit)) is not None:
            yield from ((rig.t, said) for said in (prompt.news, prompt.ask) if said)
        if rig.stage == "play" and rig.game.touches:
            rig.exhibit.press(rig.t, rig.rng.choice([n for n in rig.exhibit.numbers if n < 5]))
        rig.advance(STEP_S)


def main(folder, wanted):
    folder.mkdir(exist_ok=True, parents=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        if wanted == ["everybody"]:
            draw_everybody(browser, folder)
            return
        for state in wanted or STATES:
            with served(STATES[state]()) as (page, _):
                for width, height in SIZES:
                    tab = browser.new_page(viewport={"width": width, "height": height})
                    tab.goto(page.url)
                    tab.evaluate(SETTLED)
                    beyond = tab.evaluate(
                        "[document.documentElement.scrollWidth - innerWidth, document.body.scrollHeight - innerHeight]"
                    )
                    tab.screenshot(path=folder / f"{state}-{width}x{height}.png")
                    print(state, width, height, "beyond the screen:", *beyond)
                    tab.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
