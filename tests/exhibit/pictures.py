"""Pictures of every state, on a phone and on kiosks' glass: `python tests/exhibit/pictures.py FOLDER [STATE]...`."""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from exhibit_rig import STATES, served
from headless import ARGUMENTS, CHROMIUM
from screen_faults import GLASS

SIZES = ((390, 844), *GLASS)
SETTLED = """() => Promise.all(document.getAnimations()
  .filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime))
  .map((one) => one.finished.catch(() => 0)))"""
"""Wait until every movement that ends has ended."""


def main(folder, wanted):
    folder.mkdir(exist_ok=True, parents=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
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
