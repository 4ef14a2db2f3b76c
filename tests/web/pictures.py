"""Make the README's pictures from a game played through bytes: the live page and the strips in the terminal.

python tests/web/pictures.py [FOLDER] [--seed N] [--sizes]      (needs Chromium; FOLDER defaults to .github/pictures)

With --sizes it also takes the page as a phone, a laptop and a projector show it.
"""

import argparse
import io
import tempfile
from pathlib import Path

from headless import ARGUMENTS, CHROMIUM
from playwright.sync_api import sync_playwright
from rich.console import Console

from pi_controller.games import registry
from pi_controller.show.terminal import render
from pi_controller.sim.simulation import Simulation
from pi_controller.web.feed import Feed
from pi_controller.web.server import WebServer

ROOT = Path(__file__).parent.parent.parent
SIZES = {"phone": (390, 844), "laptop": (1366, 768), "projector": (1920, 1080)}


def shoot(browser, url, size, scale, path):
    """Take the page at `url` as people would see it."""
    width, height = size
    page = browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=scale)
    page.goto(url)
    page.wait_for_function("document.querySelector('#badge').textContent.includes('Live')")
    page.screenshot(path=path)
    page.close()


def telling(view):
    """Return whether much has just happened."""
    return view.phase == "show" and len(view.calls) > 1 and sum(view.short.values()) > 2


def main():
    """Play until something worth a picture happens, and take it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / ".github" / "pictures")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--game", default="dakota")
    parser.add_argument("--after", type=float, default=0.0, help="... and so many simulated seconds are over")
    parser.add_argument("--phase", help="take it when this phase begins (default: when much has happened)")
    parser.add_argument("--times", type=int, default=8, help="... for so many times (default: 8)")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    feed = Feed()
    server = WebServer(feed, port=0)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "j.sqlite"
        with Simulation(args.seed, path, registry.game(args.game), publish=feed.publish) as table:
            table.play(limit_s=args.after)
            seen = 0
            while not (seen >= args.times if args.phase else telling(table.view)) and not table.over:
                before = table.view.phase
                seen += table.tick().phase == args.phase != before
            server.start()
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            for name, size in SIZES.items() if args.sizes else ():
                shoot(browser, server.url, size, 2 if name == "phone" else 1, args.folder / f"{name}.png")
            shoot(browser, server.url, (1280, 760), 1.5, args.folder / "live-page.png")
            console = Console(file=io.StringIO(), record=True, width=84, color_system="truecolor", force_terminal=True)
            console.print(render(table.view, table.t))
            page = browser.new_page(viewport={"width": 1040, "height": 600}, device_scale_factor=1.5)
            page.set_content(console.export_svg(title="moccasin-mat demo"))
            page.locator("svg").screenshot(path=args.folder / "terminal.png")
            browser.close()
            server.stop()
    print(f"pictures in {args.folder}")


if __name__ == "__main__":
    main()
