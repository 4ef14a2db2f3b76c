"""Make pictures of the judge's console in the states a judge meets, played at a real table through the page itself.

python tests/tools/judge_pictures.py FOLDER [--sizes] [--state NAME]      (needs Chromium)

Without --sizes it takes each state as a phone shows it, in light; with it also as small phones, tablets, laptops and
projectors do, in light and dark.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real"))

from headless import ARGUMENTS, CHROMIUM
from judge_rig import Rig, answered, settled, sign_in, touch
from playwright.sync_api import sync_playwright

from pi_controller.referee.judge import JudgeAction, JudgeClose, JudgeProtest
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike

SIZES = {
    "320x568": (320, 568),
    "390x844": (390, 844),
    "820x1180": (820, 1180),
    "1366x768": (1366, 768),
    "1920x1080": (1920, 1080),
}


def hide(place):
    """Return what the mat feels of a hide with the bead under pad `place`."""
    hands = [(kind, pad) for pad in (1, 2, 3, 4) for kind in (HandIn, HandOut)]
    return [(Link, True), *hands, (BeadsAtRest, (Bead(place),)), (Button, "ready")]


def toss(page, rig):
    """Nothing is played yet."""


def hit(page, rig):
    """One hit missed, the second is owed."""
    touch(page, "toss-A")
    touch(page, "hidden")
    page.click("[data-row=pad] [data-value='1']")
    touch(page, "missed")


def next_hide(page, rig):
    """A hide was settled: the judge is reminded of who hides now."""
    touch(page, "toss-A")
    touch(page, "missed")
    touch(page, "missed")


def question(page, rig):
    """The mat felt two pads and asks."""
    touch(page, "toss-A")
    rig.feel(*hide(2))
    rig.feel((Strike, (2, 3)))
    page.wait_for_selector("[data-shape=question]")
    settled(page)


def protest(page, rig):
    """A team protests and play stands."""
    hit(page, rig)
    page.click("#protest summary")
    page.click("#protest [data-team=B]")
    page.fill("#protest-text", "The hand stayed under pad 2")
    page.click("#protest-send")
    answered(page)
    page.evaluate("() => document.querySelector('#protest').scrollIntoView()")


def fouls(page, rig):
    """The fouls, after a hide was settled."""
    touch(page, "toss-B")
    touch(page, "found")
    page.evaluate("() => { document.querySelector('#fouls').open = true }")
    page.evaluate("() => document.querySelector('#fouls').scrollIntoView()")


def closing(page, rig):
    """A team has not come."""
    page.click("#closing summary")
    page.click("[data-by=B]")
    page.click("[data-cause=no_show]")
    page.evaluate("() => document.querySelector('#closing').scrollIntoView()")


def ready_again(page, rig):
    """Somebody pressed ready, and no hand had been under a pad."""
    touch(page, "toss-A")
    rig.feel(*hide(2))
    rig.feel((Strike, (2,)))
    rig.feel((Button, "ready"))
    settled(page)


def sheet(page, rig):
    """The score sheet to be set."""
    hit(page, rig)
    page.click("#set summary")
    page.evaluate("() => document.querySelector('#set').scrollIntoView()")


def moved(page, rig):
    """Somebody else was faster."""
    hit(page, rig)

    def meanwhile(route):
        rig.do(lambda table, t: table.judge(JudgeAction(t, {"do": "hit", "found": True})))
        route.continue_()

    page.route("**/judge/command", meanwhile, times=1)
    page.click("#play [data-id=missed]")
    page.wait_for_selector("#toast[data-value=warn]")


def cut(page, rig):
    """Nothing is heard of the table."""
    hit(page, rig)
    page.route("**/judge/events", lambda route: route.abort())
    page.evaluate("() => dispatchEvent(new Event('online'))")
    page.wait_for_selector("#badge[data-value=stale]")


def cut_below(page, rig):
    """Nothing is heard of the table, and the page is scrolled down."""
    fouls(page, rig)
    page.route("**/judge/events", lambda route: route.abort())
    page.evaluate("() => dispatchEvent(new Event('online'))")
    page.wait_for_selector("#badge[data-value=stale]")


def over(page, rig):
    """The game is over, and the head judge has touched once to begin another."""
    rig.do(lambda table, t: table.judge(JudgeClose(t, "B", "no_show", "called three times")))
    page.wait_for_selector("[data-shape=over]")
    settled(page)
    page.click("[data-id=new-game-swapped]")


def held(page, rig):
    """Play stands, as who did not write the protest down sees it."""
    hit(page, rig)
    rig.do(lambda table, t: table.judge(JudgeProtest(t, "B", "The hand stayed under pad 2")))
    page.wait_for_selector("#to-ruling")
    settled(page)


def ojibwe(page, rig):
    """A shot is being entered."""
    touch(page, "toss-A")
    for row, pad in (("opened", 0), ("opened", 2), ("hit", 1)):
        page.click(f"[data-row={row}] [data-value='{pad}']")


def slahal(page, rig):
    """A guess is being entered."""
    touch(page, "duo-1")
    page.click("[data-row=signal] [data-value='2']")


def bageswin(page, rig):
    """A throw is being entered."""
    for row, piece in (("woman", 0), ("buttons", 1)):
        page.click(f"[data-row={row}] [data-value='{piece}']")


def plum_stone(page, rig):
    """A throw that scores."""
    touch(page, "lot-A")
    for row, piece in (("moons", 0), ("moons", 1), ("whites", 0), ("whites", 1), ("whites", 2)):
        page.click(f"[data-row={row}] [data-value='{piece}']")


def untouched(page, rig):
    """Nothing was touched of a throw."""
    touch(page, "lot-A")


def patol(page, rig):
    """The horses are placed, and one has run."""
    for river, marked in (("north", 1), ("east", 1), ("south", 3)):
        touch(page, f"start-{river}-clockwise")
        touch(page, f"marked-{marked}")


_ALL = (
    toss,
    hit,
    next_hide,
    question,
    held,
    protest,
    fouls,
    closing,
    ready_again,
    sheet,
    moved,
    cut,
    cut_below,
    over,
    untouched,
    ojibwe,
    slahal,
    bageswin,
    plum_stone,
    patol,
)
STATES = {one.__name__: one for one in _ALL}
OPTIONS = {"bageswin": {"players": "Ann,Bo,Cy,Dee"}, "patol": {"players": "Ann,Bo,Cy"}}


def shoot(page, path, sizes, dark):
    """Take the page in each size, in light and where wanted in dark."""
    hand = page.context.new_cdp_session(page)
    for scheme in ("light", "dark") if dark else ("light",):
        page.emulate_media(color_scheme=scheme)
        for name, (width, height) in sizes.items():
            page.set_viewport_size({"width": width, "height": height})
            hand.send("Emulation.setTouchEmulationEnabled", {"enabled": width < 1000})
            page.screenshot(path=path.with_name(f"{path.name}-{name}-{scheme}.png"))


def main():
    """Play to each state and take it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--state", choices=["sign_in", *STATES], action="append")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    sizes = SIZES if args.sizes else {"390x844": SIZES["390x844"]}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for name, reach in STATES.items():
            if args.state and name not in args.state:
                continue
            with tempfile.TemporaryDirectory() as folder:
                games = {"ojibwe", "slahal", "bageswin", "plum_stone", "patol"}
                game = "plum_stone" if name == "untouched" else name if name in games else "dakota"
                rig = Rig(Path(folder), game, OPTIONS.get(game))
                page = browser.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
                if name == "toss":
                    page.goto(rig.url)
                    shoot(page, args.folder / "sign_in", sizes, args.sizes)
                sign_in(page, rig.url)
                reach(page, rig)
                shoot(page, args.folder / name, sizes, args.sizes)
                page.close()
                rig.close()
        browser.close()
    print(f"pictures in {args.folder}")


if __name__ == "__main__":
    main()
