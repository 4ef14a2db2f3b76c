"""The machine's Chromium without a screen, and pages that are waited for by the number of the update they have drawn.

The headless shell, where there is one, is the same browser without windows of its own: it takes a third of the time.
"""

import shutil
import time

import msgspec

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
PATIENCE_S = 60.0
"""All tests may share a slow machine."""


def launch(playwright, *flags):
    """Start the machine's Chromium with `flags`; loading a page waits for its first update (`await_drawn`)."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, *flags], headless=True)
    for name in ("new_page", "new_context"):
        setattr(browser, name, _make_patient(getattr(browser, name)))
    return browser


def await_drawn(page, seq=0):
    """Wait until `page` has drawn the update `seq` or a newer one.

    A function, not an expression: the policy of our pages forbids `eval`.
    """
    page.wait_for_function("seq => Number(document.documentElement.dataset.seq || -1) >= seq", arg=seq)


def draw_view(page, feed, view, **changed):
    """Publish `view` with `changed` as the newest of `feed`, and wait until `page` has drawn it."""
    feed.publish(msgspec.structs.replace(view, seq=feed.latest.content.seq + 1, **changed))
    await_drawn(page, feed.latest.content.seq)


def wait_until(page, happened):
    """Wait until `happened()`, while events of `page` are handled."""
    end = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        page.wait_for_timeout(20)


def _make_patient(make):
    """Return what makes pages, or contexts of pages, that are patient."""

    def make_patient(**options):
        made = make(**options)
        made.set_default_timeout(PATIENCE_S * 1000)
        if not hasattr(made, "new_page"):
            return _await_first_update(made)
        make_page = made.new_page
        made.new_page = lambda: _await_first_update(make_page())
        return made

    return make_patient


def _await_first_update(page):
    """Let `page.goto` and `page.reload` return after the first update of a page that follows updates.

    What a test changes from then on reaches the page as a change. A change that comes earlier may be in the first
    update already, of which nothing is announced.
    """

    def follow(load):
        def load_and_wait(*arguments, **options):
            answer = load(*arguments, **options)
            page.wait_for_function("() => document.documentElement.dataset.seq !== ''")
            return answer

        return load_and_wait

    page.goto, page.reload = follow(page.goto), follow(page.reload)
    return page
