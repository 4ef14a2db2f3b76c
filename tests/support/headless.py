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
