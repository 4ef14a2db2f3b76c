"""The machine's Chromium, and how it is started without a screen.

The headless shell, where there is one, is the same browser without windows of its own: it takes a third of the time.
"""

import shutil

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

UPDATED = "() => [...document.querySelectorAll('[data-region]')].every(one => one.dataset.html !== undefined)"
"""Whether every part of a hub's page has had its first update. A function: the page's policy forbids `eval`."""
COUNT_STREAMS = """(() => {
  const Stream = window.EventSource;
  window.streamsAwaited = 0;
  window.EventSource = class extends Stream {
    constructor(...how) {
      super(...how);
      window.streamsAwaited += 1;
      const came = () => { if (!this.came) window.streamsAwaited -= 1; this.came = true; };
      for (const name of ["view", "judge", "regions", "screen", "walk", "error"])
        this.addEventListener(name, came);
    }
  };
})()"""
"""Counts the page's streams that have brought neither an update nor an error yet."""


def launch(playwright, *flags):
    """Start the machine's Chromium with `flags`."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, *flags], headless=True)


def await_updates(page):
    """Let `page.goto` and `page.reload` return only after the first update of each stream that the page opens.

    What a test changes from then on reaches the page as a change. A change that comes earlier may be in the first
    update already, which replaces parts of the page and of which nothing is announced.
    """

    def follow(load):
        def load_and_wait(*arguments, **options):
            answer = load(*arguments, **options)
            page.wait_for_function("() => !window.streamsAwaited")
            return answer

        return load_and_wait

    page.add_init_script(COUNT_STREAMS)
    page.goto, page.reload = follow(page.goto), follow(page.reload)
    return page


def wait_until(page, happened):
    """Wait until `happened()`, at most 30 s: a loaded machine may take its time for one request."""
    for _ in range(1500):
        if happened():
            return
        page.wait_for_timeout(20)
