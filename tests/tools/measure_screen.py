"""Measure the installation's page: frame times and processor of its movements, memory after many sessions, weight.

    python tests/tools/measure_screen.py                        # weight; processor; frames, also with a slower one
    python tests/tools/measure_screen.py --sessions 10000       # memory instead, some ten minutes
    python tests/tools/measure_screen.py --lights 120           # page against light strips, for 120 s

Chromium draws without a graphics chip here, as a Pi's does not; the figures compare changes of the page on one machine.
"""

import argparse
import random
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from playwright.sync_api import sync_playwright

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real"))

from exhibit_rig import STEP_S, Rig
from headless import ARGUMENTS, CHROMIUM
from served_exhibit import served

from pi_controller.board.strips import MemoryStrip
from pi_controller.config import Settings
from pi_controller.config.model import ExhibitSection, WebSection
from pi_controller.display.lights import FLIGHT_S
from pi_controller.host.notify import from_environment
from pi_controller.pinmap import pinmap
from pi_controller.runtime.assembly import assemble_exhibit
from pi_controller.runtime.daemon import FRAME_S
from pi_controller.runtime.run import Stop, run_loop, tune_interpreter
from pi_controller.simulation.visitors import Visitors

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
FLIGHTS = """() => {
  window.flights = [];
  const seen = new WeakSet();
  const look = () => {
    for (const one of document.getAnimations()) {
      if (seen.has(one) || one.effect?.target?.style.zIndex !== "5" || one.startTime === null) continue;
      seen.add(one);
      flights.push((performance.timeOrigin + one.startTime + one.effect.getComputedTiming().delay) / 1000);
    }
    requestAnimationFrame(look);
  };
  look();
}"""
"""Note when each stick leaves, s since 1970."""
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


def measure_processor(browser):
    """Print how much of a core Chromium's processes use in attract; nothing asks for frames meanwhile."""
    processes = browser.new_browser_cdp_session()
    rig = Rig(1, hides=3, ask_after_s=600, answer_s=600)
    with served(rig) as (page, show):
        tab = browser.new_page(viewport=SIZE)
        tab.goto(page.url)
        let_pass(rig, show, 2.0)

        def used():
            found = processes.send("SystemInfo.getProcessInfo")["processInfo"]
            return Counter({one["type"]: one["cpuTime"] for one in found})

        before, began = used(), time.monotonic()
        let_pass(rig, show, ATTRACT_S)
        spent, wall = used() - before, time.monotonic() - began
        tab.close()
    parts = ", ".join(f"{kind} {100 * seconds / wall:.1f}" for kind, seconds in spent.most_common())
    print(f"attract uses {100 * spent.total() / wall:.1f} % of a core: {parts}", flush=True)


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


class TimedStrip(MemoryStrip):
    """A strip that notes when its sticks change: (time, lit pixels of the rows A, B, middle)."""

    def __init__(self):
        super().__init__(pinmap().lights.count)
        self.changes = [(0.0, (0, 0, 0))]

    def show(self, frame):
        super().show(frame)
        lights = pinmap().lights
        ends = (lights.a, lights.a + lights.b, lights.a + lights.b + lights.middle)
        lit = tuple(sum(map(any, self.shown[start:end])) for start, end in zip((0, *ends[:2]), ends, strict=True))
        if lit != self.changes[-1][1]:
            self.changes.append((time.time(), lit))


def begins(times):
    """Return the first time of each movement: of times that are closer to each other than a flight lasts."""
    times = sorted(times)
    return [one for one, before in zip(times, [float("-inf"), *times], strict=False) if one - before > FLIGHT_S]


def measure_lights(browser, seconds):
    """Compare the first stick that leaves on the page with the first pixel that goes out on the strip."""
    settings = Settings(exhibit=ExhibitSection(mat="screen", hides=3), web=WebSection(port=0))
    stop, strip = Stop(), TimedStrip()
    with TemporaryDirectory() as folder, ExitStack() as stack:
        settings = settings.resolve_paths(Path(folder))
        visitors = Visitors(random.Random(7), ("plays the mat",))
        daemon = assemble_exhibit(settings, Path(folder), time.time, stack, [visitors], sim=True, wall=time.time)
        daemon._strip = strip
        service = from_environment()
        stack.callback(service.close)
        tune_interpreter()
        loop = threading.Thread(target=run_loop, args=(daemon, time.time, stop, service, None, FRAME_S))
        loop.start()
        try:
            tab = browser.new_page(viewport=SIZE)
            tab.goto(daemon.table.page.url)
            tab.evaluate(FLIGHTS)
            tab.wait_for_timeout(seconds * 1000)
            flights = sorted(tab.evaluate("() => flights"))
            tab.close()
        finally:
            stop.set()
            loop.join()
    starts, lit = begins(flights), begins([t for t, _ in strip.changes])
    apart = [min((t - start for t in lit), key=abs) for start in starts]
    print(f"{len(starts)} times sticks flew on the page; the strip's first change minus the page's, in ms:")
    print("  " + " ".join(f"{1000 * late:+.0f}" for late in apart))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=0)
    parser.add_argument("--lights", type=int, default=0, metavar="SECONDS")
    chosen = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        if chosen.sessions:
            measure_memory(browser, chosen.sessions)
        elif chosen.lights:
            measure_lights(browser, chosen.lights)
        else:
            weigh(browser)
            measure_processor(browser)
            measure_frames(browser)
        browser.close()


if __name__ == "__main__":
    main()
