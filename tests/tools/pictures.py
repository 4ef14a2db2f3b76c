"""Take the pages in every phase of every game and lay the pictures out on contact sheets, to look at.

python tests/tools/pictures.py [FOLDER] [--page room] [--only show,patol] [--size 1920x1080] [--scheme dark] [--each]
python tests/tools/pictures.py --readme [FOLDER] [--seed N] [--sizes]      (FOLDER defaults to .github/pictures)

Needs Chromium. A sheet has one page in one size and colour scheme, phase by phase; with --each every picture is kept by
itself, too, in full size. With --readme it makes the README's pictures from a game played through bytes instead: the
live page and the strips in the terminal, with --sizes also the page as a phone, a laptop and a projector show it.
"""

import argparse
import io
import itertools
import sys
import tempfile
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real"))

import msgspec
from headless import ARGUMENTS, CHROMIUM
from phases import NOW, PHASES
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import sync_playwright
from rich.console import Console

from pi_controller.display.i18n import ENGLISH
from pi_controller.display.terminal import TerminalTable
from pi_controller.rules import registry
from pi_controller.simulation.simulation import Simulation
from pi_controller.web.address import PageSettings
from pi_controller.web.feed import Feed
from pi_controller.web.server import WebServer

ROOT = Path(__file__).parent.parent.parent
SIZES = {"phone": (390, 844), "laptop": (1366, 768), "projector": (1920, 1080)}
EVERY = ((390, 844), (1080, 1920), (1366, 768), (1920, 1080), (3840, 2160))
PATHS = {"live": "", "room": "room", "overlay": "overlay", "find": "find", "check": "check"}
OF_THE_GAME = ("room", "live", "overlay")
"""The pages that look different in every phase."""
WITH = PageSettings(
    "http://192.168.1.40:8080", "Pow Wow of the Lower River", "Table 2", "Our own rules prevail.", reach=True
)
WITHOUT = PageSettings()
"""What the host says of the pages: with an address the room's page has a code to photograph, else none."""
THUMB, MARGIN, CAPTION = 480, 12, 26
"""A picture's longer side on a sheet, the space between two, and the height of its caption, px."""

GROUND = """html { background:
  radial-gradient(circle at 22% 66%, #e8c9a4 0 3%, transparent 4%),
  radial-gradient(circle at 71% 62%, #5a3d2b 0 3%, transparent 4%),
  radial-gradient(ellipse at 22% 92%, #b3282d 0 11%, transparent 14%),
  radial-gradient(ellipse at 71% 90%, #f4f1ea 0 11%, transparent 14%),
  repeating-linear-gradient(97deg, #0004 0 14px, #fff3 22px 31px, #0002 47px),
  linear-gradient(#dfeaf5, #fdf6e3 38%, #3f5d36 42%, #9a8a5a 70%, #2c2419) !important; }"""
"""What a camera may show behind the overlay: sky, trees, ground and two people, light and dark side by side."""


def look(args):
    """Take the pages and write a contact sheet for each page, size, scheme, and with or without a code."""
    feed = Feed(clock=lambda: NOW)
    names = [name for name in PHASES if not args.only or name in args.only.split(",")]
    sizes = [tuple(map(int, one.split("x"))) for one in args.size or ()] or EVERY
    schemes = (args.scheme,) if args.scheme else ("light", "dark")
    servers = {"with": WebServer(feed, port=0, pages=WITH), "without": WebServer(feed, port=0, pages=WITHOUT)}
    feed.publish(PHASES[names[0]])
    for server in servers.values():
        server.start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for page, size, scheme, code in itertools.product(args.page or OF_THE_GAME, sizes, schemes, servers):
            one = code != args.code if args.code else code == "without" and page != "room"
            if one or (page == "overlay" and scheme != schemes[0]):  # no code on it; its colours are its own
                continue
            name = f"{page}-{size[0]}x{size[1]}-{scheme}" + ("" if code == "with" else "-no-code")
            shown = names if page in OF_THE_GAME else names[:1]
            url = f"{servers[code].url}{PATHS[page]}"
            pictures = take(browser, feed, url, size, scheme, shown, args.folder / name if args.each else None)
            sheet(pictures, name).save(args.folder / f"{name}.png", optimize=True)
            print(args.folder / f"{name}.png", flush=True)
        browser.close()
    for server in servers.values():
        server.stop()


def take(browser, feed, url, size, scheme, names, each):
    """Return the page at `url` in each of the phases `names`, as the server makes it, with its caption; as small as
    they stand on a sheet, or whole, one by one, where `each` is how their files' names begin."""
    width, height = size
    scale = 1 if each else min(1, THUMB / max(size))
    over = url.endswith("overlay")
    how = {"bypass_csp": over, "device_scale_factor": scale, "color_scheme": scheme}
    tab = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce", **how)
    tab.route("**/live.js", lambda route: route.abort())  # and without scripts it would load itself again
    pictures = []
    for number, name in enumerate(names):
        feed.publish(msgspec.structs.replace(PHASES[name], seq=100 + number))
        tab.goto(url)
        if over:
            tab.add_style_tag(content=GROUND)
            tab.evaluate("document.body.dataset.gloss = 'shown'")  # as for four seconds after it is called
        shot = tab.screenshot()
        if each:
            each.with_name(f"{each.name}-{name.replace(' ', '-')}.png").write_bytes(shot)
        picture = Image.open(io.BytesIO(shot)).convert("RGB")
        picture.thumbnail((THUMB, THUMB))
        pictures.append((name, picture))
    tab.close()
    return pictures


def sheet(pictures, title):
    """Return one picture of all `pictures`, each over its caption, under a `title`."""
    wide, high = (max(picture.size[axis] for _, picture in pictures) for axis in (0, 1))
    columns = max(1, min(len(pictures), 2400 // (wide + MARGIN)))
    rows = -(-len(pictures) // columns)
    step = high + CAPTION + MARGIN
    whole = Image.new("RGB", (MARGIN + columns * (wide + MARGIN), CAPTION + MARGIN + rows * step), "#777777")
    draw, font = ImageDraw.Draw(whole), ImageFont.load_default(18)
    draw.text((MARGIN, 6), title, "white", font)
    for number, (name, picture) in enumerate(pictures):
        row, column = divmod(number, columns)
        left, top = MARGIN + column * (wide + MARGIN), CAPTION + MARGIN + row * step
        whole.paste(picture, (left, top))
        draw.text((left, top + high + 2), name, "white", font)
    return whole


def shoot(browser, url, size, scale, path):
    """Take the page at `url` as people would see it."""
    width, height = size
    page = browser.new_page(
        viewport={"width": width, "height": height}, device_scale_factor=scale, reduced_motion="reduce"
    )
    page.goto(url)
    page.wait_for_function("() => document.querySelector('#badge').textContent.includes('Live')")
    page.screenshot(path=path)
    page.close()


def telling(view):
    """Return whether much has just happened."""
    return view.phase == "show" and len(view.calls) > 1 and sum(view.sheet["short"].values()) > 2


def main():
    """Play until something worth a picture happens, and take it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where they are put (default: build/pictures)")
    parser.add_argument("--page", choices=PATHS, action="append", help="this page alone (may be given again)")
    parser.add_argument("--only", default="", help="these phases alone, by commas")
    parser.add_argument("--size", action="append", help="this size alone: 1920x1080 (may be given again)")
    parser.add_argument("--scheme", choices=("light", "dark"), help="this scheme alone")
    parser.add_argument("--code", choices=("with", "without"), help="the room's page only with a code, or without one")
    parser.add_argument("--each", action="store_true", help="keep every picture by itself, too, in full size")
    parser.add_argument("--readme", action="store_true", help="make the README's pictures instead")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--game", default="dakota")
    parser.add_argument("--after", type=float, default=0.0, help="... and so many simulated seconds are over")
    parser.add_argument("--phase", help="take it when this phase begins (default: when much has happened)")
    parser.add_argument("--times", type=int, default=8, help="... for so many times (default: 8)")
    args = parser.parse_args()
    args.folder = args.folder or ROOT / (".github/pictures" if args.readme else "build/pictures")
    args.folder.mkdir(parents=True, exist_ok=True)
    if not args.readme:
        look(args)
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
            shoot(browser, server.url, (1280, 950), 1.5, args.folder / "live-page.png")
            console = Console(file=io.StringIO(), record=True, width=84, color_system="truecolor", force_terminal=True)
            console.print(TerminalTable(table.view, ENGLISH, table.t))
            page = browser.new_page(viewport={"width": 1040, "height": 600}, device_scale_factor=1.5)
            page.set_content(console.export_svg(title="moccasin-mat demo"))
            page.locator("svg").screenshot(path=args.folder / "terminal.png")
            browser.close()
            server.stop()
    print(f"pictures in {args.folder}")


if __name__ == "__main__":
    main()
