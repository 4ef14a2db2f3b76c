"""Pictures of a tournament's day from three new cards to the champion: `python tests/tools/day_pictures.py FOLDER`.

Writes `index.html` with a picture of each step and its caption, and prints the touches, typed fields and opened pages
of the people who set the day up and direct it, and the minutes that it would have taken. Phones are 390 x 844, the
wall and the boards 1920 x 1080. Needs Chromium.
"""

import html
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real"))

from headless import ARGUMENTS, CHROMIUM
from tournament_day import Day

from pi_controller.hub.publish import publish_store
from pi_controller.hub.settings import STORE

WALL, PHONE = {"width": 1920, "height": 1080}, {"width": 390, "height": 844}
SIZES = {"team": (PHONE,), "hall": (WALL,), "bracket": (WALL,)}
"""The screens of each public page; the others are shown on both."""
SHOWN = {
    "bracket": ".slide.shown .wall-part[data-now]:not([hidden])",
    "standings": ".slide.shown[data-slide=standings]",
}
"""What is on the wall when it has turned to this."""
MAX_TURNS = 20
STYLE = """body { font: 16px sans-serif; margin: 2em; }
figure { display: inline-block; margin: 1em; vertical-align: top; max-width: 45%; }
img { max-height: 540px; max-width: 100%; border: 1px solid #999; } td, th { text-align: left; padding: .2em 1em; }"""


class Album:
    """The pictures in `folder`, in order, with their captions."""

    def __init__(self, folder):
        self.folder, self.pictures, self.rows = folder, [], []
        self.day: Day

    def look(self, names, caption, page=None, selector=None):
        """Take a picture of `page` at the element `selector`, or of each of the public pages `names` of the hub.

        `hall#bracket` is the wall when it has turned to the part of the bracket that is played.
        """
        if page is not None:
            if selector is not None:
                page.locator(selector).first.evaluate("one => one.scrollIntoView()")
            self.take(page, names, caption)
            return
        for name in names.split():
            path, _, slide = name.partition("#")
            for size in SIZES.get(path.partition("/")[0], (WALL, PHONE)):
                tab = self.day.browser.new_page(viewport=size, reduced_motion="reduce")
                tab.goto(self.day.run.pages.url + path.removeprefix("boards"))
                for _ in range(MAX_TURNS):
                    if not slide or tab.locator(SHOWN[slide]).count():
                        break
                    tab.keyboard.press("ArrowRight")
                tab.evaluate("document.fonts.ready")
                self.take(tab, f"{path.replace('/', '-')}{slide and '-'}{slide}-{size['width']}", f"{caption}: {name}")
                tab.close()

    def look_at_site(self, folder):
        """Publish the results as a site of files and take pictures of its first page."""
        publish_store(self.day.houses[0].machine.state / "hub" / STORE, folder, time.time)
        for size in (WALL, PHONE):
            tab = self.day.browser.new_page(viewport=size)
            tab.goto((folder / "index.html").as_uri())
            self.take(tab, f"published-{size['width']}", "The results, published as a site of files")
            tab.close()

    def take(self, page, name, caption):
        path = f"{len(self.pictures) + 1:02}-{name}.png"
        page.screenshot(path=self.folder / path, full_page=True)
        self.pictures.append((path, caption))

    def count(self, part):
        self.rows.append((part, *self.day.counts, round(self.day.minutes)))

    def write(self):
        rows = (("until", "touches", "typed fields", "pages", "minutes of play"), *self.rows)
        table = "".join(f"<tr>{''.join(f'<td>{html.escape(str(one))}</td>' for one in row)}</tr>" for row in rows)
        figures = "".join(
            f'<figure><a href="{path}"><img src="{path}" alt=""></a><figcaption>{html.escape(caption)}</figcaption>'
            "</figure>"
            for path, caption in self.pictures
        )
        head = f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>A day</title><style>{STYLE}</style>'
        (self.folder / "index.html").write_text(f"{head}<table>{table}</table>{figures}", "utf-8")
        for row in rows:
            print("".join(f"{one!s:>18}" for one in row))


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    album = Album(folder)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as place:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        album.day = day = Day(Path(place), browser, album.look)
        try:
            day.begin()
            album.count("the first calls")
            day.play()
            album.look_at_site(Path(place) / "site")
            album.count("the champion")
        finally:
            day.close()
            browser.close()
            album.write()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
