"""The page of an installation on virtual time, with a real server."""

from contextlib import contextmanager

from headless import await_drawn, wait_until

from pi_controller.display.i18n import ENGLISH
from pi_controller.exhibit.orders import OrderQueue
from pi_controller.exhibit.pages import ExhibitPage


@contextmanager
def served(rig):
    """Serve the installation's page at a free port; yield the page and a function that shows it anew."""
    orders = OrderQueue()
    page = ExhibitPage("127.0.0.1", 0, lambda: rig.t, lambda: rig.exhibit.host.pictures, orders, tr=ENGLISH)

    def show(tab=None):
        """Take in what was touched, and show what came of it; with a `tab` wait until that has drawn it."""
        orders.drain(lambda touch: rig.exhibit.touch(rig.t, touch.do, touch.turn))
        page.show(rig.exhibit)
        if tab is not None:
            await_drawn(tab, page.seq)

    show()
    page.start()
    try:
        yield page, show
    finally:
        page.stop()


def await_touch(tab, show, taken):
    """Wait until a touch of the page has come, and `taken()`."""
    wait_until(tab, lambda: (show(), taken())[1])
