"""An installation on this machine's clock, served to a browser, with staff who may sign in."""

import threading
import time
from contextlib import ExitStack, contextmanager

from headless import PATIENCE_S, await_drawn
from staff_rig import PIN, add_staff

from pi_controller.config import read_settings
from pi_controller.exhibit.staff_desk import HOME
from pi_controller.runtime.assembly import assemble_exhibit
from pi_controller.runtime.run import steady_clock


@contextmanager
def installed(folder, *, people=True, toml="", read=None, sound=None, keys=None, report=None, file=False):
    """Run an installation on this machine's clock, its page at a free port; yield it and its page's address."""
    settings = folder / "table.toml"
    settings.write_text(f"[web]\nport = 0\n[exhibit]\n{toml}")
    if people:
        add_staff(folder)
    clock, ended = steady_clock(), threading.Event()
    with ExitStack() as stack:
        made = {
            "read": read,
            "sound": sound,
            "key_changes": keys or folder / "none",
            "report": report,
            "file": settings if file else None,
        }
        daemon = assemble_exhibit(read_settings(settings), folder, clock, stack, **made)
        installation = daemon.table
        installation.serve()

        def steps():
            while not ended.wait(0.02):
                daemon.step(clock())

        thread = threading.Thread(target=steps)
        thread.start()
        try:
            yield installation, installation.page.url.rstrip("/")
        finally:
            ended.set()
            thread.join()


def sign_in_by_touch(tab, url):
    """Sign in at the staff page as on a phone, and return when the page that follows is there."""
    tab.goto(url + HOME)
    tab.click('[data-name="Head"]')
    type_pin(tab)
    tab.click("[type=submit]")
    await_drawn(tab)


def type_pin(tab):
    """Touch the digits of the PIN."""
    for digit in PIN:
        tab.click(f'[data-digit="{digit}"]')


def until(wanted):
    end = time.monotonic() + PATIENCE_S
    while not wanted():
        assert time.monotonic() < end
        time.sleep(0.02)  # the installation's own thread
