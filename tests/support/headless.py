"""The machine's Chromium, and how it is started without a screen.

The headless shell, where there is one, is the same browser without windows of its own: it takes a third of the time.
"""

import shutil

CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))), None)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def wait_until(page, happened):
    """Wait until `happened()`, at most 30 s: a loaded machine may take its time for one request."""
    for _ in range(1500):
        if happened():
            return
        page.wait_for_timeout(20)
