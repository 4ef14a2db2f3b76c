"""An installation on this machine's clock, served to a browser, with staff who may sign in."""

import threading
from contextlib import ExitStack, contextmanager

from headless import await_drawn
from staff_rig import PIN, set_up

from pi_controller.exhibit.staff_desk import HOME
from pi_controller.host.clock import SteadyClock


@contextmanager
def installed(folder, **options):
    """Run an installation on this machine's clock, its page at a free port; yield it and its page's address.

    `options` are those of `set_up`.
    """
    clock, ended = SteadyClock(), threading.Event()
    with ExitStack() as stack:
        daemon = set_up(folder, clock, stack, **options)
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
