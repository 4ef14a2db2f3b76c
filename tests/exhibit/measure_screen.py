"""Measure the installation's page: frame times and processor of its movements, memory after many sessions, weight.

    python tests/exhibit/measure_screen.py                        # frames at 1, 4 and 6 times less processor; weight
    python tests/exhibit/measure_screen.py --sessions 10000       # memory instead, some ten minutes

Chromium draws without a graphics chip here, as a Pi's does not; the figures compare changes of the page on one machine.
"""

import argparse
import sys
import time
from pathlib import Path

import httpx
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from exhibit_rig import STEP_S, Rig, served
from headless import ARGUMENTS, CHROMIUM

SIZE = {"width": 1280, "height": 800}
THROTTLES = (1, 4, 6)
ATTRACT_S = 20.0
LATE_MS = 1000 / 60 * 1.5
"""A frame that comes later than this is one that was left out."""
FRAMES = """() => {
  window.frames_ms = [];
  let last;
  const next = (now) => {
    if (last !== undefined) frames_ms.push(now - last);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}"""
COUNTED = ("TaskDuration", "LayoutCount", "LayoutDuration", "RecalcStyleDuration", "ScriptDuration")


class Probe:
    """The browser's own figures of a tab."""

    def __init__(self, tab):
        self.tab = tab
        self.session = tab.context.new_cdp_session(tab)
        self.session.send("Performance.enable")

    def counters(self):
        found = {one["name"]: one["value"] for one in self.session.send("Performance.getMetrics")["metrics"]}
        return {name: found[name] for name in COUNTED} | {"wall": time.monotonic()}

    def begin(self):
        self.tab.evaluate("() => { frames_ms.length = 0; }")
        self._before = self.counters()

    def tell(self, what, throttle):
        after = self.counters()
        spent = {name: after[name] - self._before[name] for name in after}
        frames = sorted(self.tab.evaluate("() => frames_ms"))
        late = sum(ms > LATE_MS for ms in frames)
        print(
            f"{what:<8} {throttle}x  {len(frames):5} frames  half {frames[len(frames) // 2]:5.1f} ms  "
            f"99 of 100 {frames[int(0.99 * (len(frames) - 1))]:6.1f} ms  left out {late:3}  "
            f"processor {100 * spent['TaskDuration'] / spent['wall']:5.1f} %  layouts {spent['LayoutCount']:.0f}",
            flush=True,
        )

    def memory(self):
        self.session.send("HeapProfiler.collectGarbage")
        heap = self.session.send("Runtime.getHeapUsage")["usedSize"]
        nodes = self.session.send("Memory.getDOMCounters")
        return heap / 1e6, nodes["nodes"], nodes["jsEventListeners"]


def let_pass(rig, show, seconds, until=lambda _: False):
    """Let the wall's time pass for the installation, until so many `seconds` are over or `until` holds of it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until(rig):
        rig.advance(STEP_S)
        show()
        time.sleep(STEP_S)


def measure_frames(browser):
    for throttle in THROTTLES:
        rig = Rig(1, hides=3, ask_after_s=600, answer_s=600)
        with served(rig) as (page, show):
            tab = browser.new_page(viewport=SIZE)
            tab.goto(page.url)
            tab.evaluate(FRAMES)
            probe = Probe(tab)
            probe.session.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
            probe.begin()
            let_pass(rig, show, ATTRACT_S)
            probe.tell("attract", throttle)
            rig.begin("mat")
            let_pass(rig, show, 60.0, lambda rig: rig.game.awaits == "pads")
            probe.begin()
            assert rig.touch("pad:2")
            let_pass(rig, show, 3.0)
            probe.tell("hide", throttle)
            probe.begin()
            let_pass(rig, show, 30.0, lambda rig: bool(rig.game.view.hits))
            let_pass(rig, show, 3.0)
            probe.tell("reveal", throttle)
            tab.close()


def weigh(browser):
    with served(Rig(1)) as (page, _):
        tab, urls = browser.new_page(viewport=SIZE), set()
        tab.on("request", lambda request: urls.add(request.url))
        tab.goto(page.url)
        tab.wait_for_function("() => document.fonts.status === 'loaded'")
        tab.close()
        weights = {url: len(httpx.get(url).content) for url in urls if not url.endswith("/events")}
    print(f"weight: {sum(weights.values()) / 1000:.0f} kB in {len(weights)} files")
    for name, size in sorted(weights.items(), key=lambda pair: -pair[1]):
        print(f"  {name.rsplit('/', 1)[1] or 'the page':<40} {size / 1000:7.1f} kB")


def measure_memory(browser, sessions):
    rig = Rig(1, hides=3)
    with served(rig) as (page, show):
        tab = browser.new_page(viewport=SIZE, reduced_motion="reduce")
        tab.goto(page.url)
        probe = Probe(tab)
        for n in range(sessions + 1):
            if n % max(1, sessions // 10) == 0:
                heap, nodes, listeners = probe.memory()
                print(
                    f"after {n:6} sessions: {heap:5.2f} MB of scripts, {nodes} nodes, {listeners} listeners", flush=True
                )
            rig.begin(("mat", "teams")[n % 2])
            for _ in range(4):
                rig.advance(1.0)
                if rig.game.touches:
                    rig.touch(rig.rng.choice(list(rig.game.touches)))
                show()
            rig.leave()
            show()
            turn = rig.exhibit.turn
            tab.wait_for_function("turn => document.body.dataset.turn === String(turn)", arg=turn, polling=5)
            rig.sessions.clear()
        tab.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=0)
    chosen = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        if chosen.sessions:
            measure_memory(browser, chosen.sessions)
        else:
            weigh(browser)
            measure_frames(browser)
        browser.close()


if __name__ == "__main__":
    main()
