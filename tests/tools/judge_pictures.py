"""Make the picture of the judge's console that the help shows: one hit missed, the second owed, on a phone.

python tests/tools/judge_pictures.py FOLDER      (needs Chromium)
"""

import sys
import tempfile
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real"))

from headless import ARGUMENTS, CHROMIUM
from judge_rig import Rig, sign_in, touch
from playwright.sync_api import sync_playwright

PHONE = {"width": 390, "height": 844}


def main():
    """Play to the second hit and take the page."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        rig = Rig(Path(folder), "dakota", None)
        page = browser.new_page(viewport=PHONE, reduced_motion="reduce")
        page.emulate_media(color_scheme="light")
        sign_in(page, rig.url)
        touch(page, "toss-A")
        touch(page, "hidden")
        page.click("[data-row=pad] [data-value='1']")
        touch(page, "missed")
        page.context.new_cdp_session(page).send("Emulation.setTouchEmulationEnabled", {"enabled": True})
        page.screenshot(path=Path(sys.argv[1], "hit-390x844-light.png"))
        page.close()
        rig.close()
        browser.close()


if __name__ == "__main__":
    main()
