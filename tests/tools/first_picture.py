"""Measure the time to the first picture of the live page on a slow network, with its fonts and without.

python tests/tools/first_picture.py [--loads 24] [--kbit 1500]      (needs Chromium)
"""

import argparse
import statistics
import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real"))

from headless import ARGUMENTS, CHROMIUM
from phases import NOW, PHASES
from playwright.sync_api import Browser, sync_playwright

from pi_controller.web.feed import Feed
from pi_controller.web.server import WebServer

FIRST_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def first_picture_ms(browser: Browser, url: str, kbit: int, blocked: list[str]) -> float:
    """Return the time to the first picture of a phone that has never been here."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    tab = context.new_page()
    network = context.new_cdp_session(tab)
    network.send("Network.enable")
    limits = {"offline": False, "latency": 20, "downloadThroughput": kbit * 125, "uploadThroughput": kbit * 125}
    network.send("Network.emulateNetworkConditions", limits)
    network.send("Network.setBlockedURLs", {"urls": blocked})
    tab.goto(url, wait_until="load")
    tab.wait_for_function(FIRST_PAINT)
    taken = tab.evaluate(FIRST_PAINT)
    context.close()
    return taken


def main():
    """Load the page in turn with and without fonts and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loads", type=int, default=24)
    parser.add_argument("--kbit", type=int, default=1500)
    args = parser.parse_args()
    feed = Feed(clock=lambda: NOW)
    feed.publish(PHASES["show"])
    server = WebServer(feed, port=0)
    server.start()
    kinds = {"with fonts": [], "without": ["*.woff2"]}
    times = {kind: [] for kind in kinds}
    with sync_playwright() as run:
        browser = run.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for _ in range(args.loads):
            for kind, blocked in kinds.items():
                times[kind].append(first_picture_ms(browser, server.url, args.kbit, blocked))
        browser.close()
    server.stop()
    for kind, taken in times.items():
        print(f"{kind}: {statistics.median(taken):.0f} ms (half), {max(taken):.0f} ms at most")


if __name__ == "__main__":
    main()
