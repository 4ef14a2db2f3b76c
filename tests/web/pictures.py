"""Make the README's pictures from a game played through bytes: the live page and the strips in the terminal.

python tests/web/pictures.py [FOLDER] [--seed N] [--sizes]      (needs Chromium; FOLDER defaults to .github/pictures)
python tests/web/pictures.py FOLDER --page room [--only show,patol]    (live, room, overlay, find or check, to look at)

With --sizes it also takes the page as a phone, a laptop and a projector show it. With --page it takes that page in
every phase of `phases.py` (or those named), in every size from a small phone to a 4K screen, light and dark.
"""

import argparse
import io
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "show"))  # played.py
sys.path.insert(0, str(Path(__file__).parents[1] / "referee"))  # random_play.py

import msgspec
from headless import ARGUMENTS, CHROMIUM
from phases import NOW, PHASES
from playwright.sync_api import sync_playwright
from rich.console import Console

from pi_controller.games import registry
from pi_controller.show.terminal import render
from pi_controller.sim.simulation import Simulation
from pi_controller.web.address import Pages
from pi_controller.web.feed import Feed
from pi_controller.web.server import WebServer

ROOT = Path(__file__).parent.parent.parent
SIZES = {"phone": (390, 844), "laptop": (1366, 768), "projector": (1920, 1080)}
EVERY = ((320, 640), (390, 844), (820, 1180), (1366, 768), (1920, 1080), (3840, 2160), (1080, 1920))
PATHS = {"live": "", "room": "room", "overlay": "overlay", "find": "find", "check": "check"}
PAGES = Pages("http://192.168.1.40:8080", "Pow Wow of the Lower River", "Table 2", "Our own rules prevail.", reach=True)

GROUND = """html { background:
  radial-gradient(circle at 22% 66%, #e8c9a4 0 3%, transparent 4%),
  radial-gradient(circle at 71% 62%, #5a3d2b 0 3%, transparent 4%),
  radial-gradient(ellipse at 22% 92%, #b3282d 0 11%, transparent 14%),
  radial-gradient(ellipse at 71% 90%, #f4f1ea 0 11%, transparent 14%),
  repeating-linear-gradient(97deg, #0004 0 14px, #fff3 22px 31px, #0002 47px),
  linear-gradient(#dfeaf5, #fdf6e3 38%, #3f5d36 42%, #9a8a5a 70%, #2c2419) !important; }"""
"""What a camera may show behind the overlay: sky, trees, ground and two people, light and dark side by side."""


def look(page, folder, only, sizes, schemes):
    """Take `page` in every phase, size and scheme; a page that does not show the game in its first phase alone."""
    feed = Feed(clock=lambda: NOW)
    server = WebServer(feed, port=0, pages=PAGES)
    names = [name for name in PHASES if not only or name in only]
    feed.publish(PHASES[names[0]])
    server.start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for scheme in schemes:
            for width, height in sizes:
                over = page == "overlay"
                tab = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=over
                )
                for number, name in enumerate(names if page not in {"find", "check"} else names[:1]):
                    tab.goto("about:blank")
                    feed.publish(msgspec.structs.replace(PHASES[name], seq=100 + number))
                    tab.goto(f"{server.url}{PATHS[page]}")
                    if over:
                        tab.add_style_tag(content=GROUND)
                    tab.wait_for_timeout(150)
                    shot = folder / f"{page}-{name}-{width}x{height}-{scheme}.png"
                    tab.screenshot(path=shot, full_page=not over)
                tab.close()
        browser.close()
    server.stop()


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
    parser.add_argument("--page", choices=PATHS, help="look at this page in every phase, size and scheme instead")
    parser.add_argument("--only", default="", help="... in these phases alone, by commas")
    parser.add_argument("--size", action="append", help="... in this size alone: 1920x1080 (may be given again)")
    parser.add_argument("--scheme", choices=("light", "dark"), help="... and in this scheme alone")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.page:
        sizes = [tuple(map(int, one.split("x"))) for one in args.size or ()] or EVERY
        schemes = (args.scheme,) if args.scheme else ("light", "dark")
        look(args.page, args.folder, [name for name in args.only.split(",") if name], sizes, schemes)
        return
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
