"""An installation on virtual time with staff who may sign in; its pages are visited in process."""

from contextlib import ExitStack, contextmanager

from travel import travelling
from visit import await_condition, visitor

from pi_controller.config import read_settings
from pi_controller.exhibit.staff_desk import HOME
from pi_controller.runtime.assembly import assemble_exhibit
from pi_controller.web.pin_hash import PinHasher
from pi_controller.web.users import FILE, Users

PIN = "314159"
ORIGIN = "http://localhost:8080"
BEGAN = 1_795_000_000.0  # 18 November 2026


class Visits:
    """Visits to the pages of `daemon`'s installation, which steps while somebody waits for an answer."""

    def __init__(self, daemon, loop, clock):
        self.daemon, self.loop, self.clock = daemon, loop, clock
        self.anybody = self.client()
        self.get = self.anybody.get

    def client(self):
        app, headers = self.daemon.table.page.app, {"origin": ORIGIN}
        return visitor(app, self.loop, self.step, url=ORIGIN, headers=headers)

    def post(self, path, body):
        return self.anybody.post(path, json=body)

    def step(self):
        self.daemon.step(self.clock())

    def until(self, wanted):
        await_condition(self.loop, self.step, wanted)

    def sign_in(self, name="Head"):
        """Return a client in which `name` has signed in."""
        client = self.client()
        assert client.post(f"{HOME}/sign-in", json={"name": name, "pin": PIN}).status_code == 200
        return client


@contextmanager
def installed(folder, **options):
    """Yield an installation, and the visits to its pages; `options` are those of `set_up`."""
    with ExitStack() as stack:
        loop = stack.enter_context(travelling())

        def clock():
            return BEGAN + loop.time()

        daemon = set_up(folder, clock, stack, **options)
        yield daemon.table, Visits(daemon, loop, clock)


def set_up(folder, clock, stack, *, people=True, toml="", keys=None, file=False, **options):
    """Return the daemon of an installation with `toml` in its settings; `keys` lists changed keys on its card."""
    settings = folder / "table.toml"
    settings.write_text(f"[web]\nport = 0\n[exhibit]\n{toml}")
    if people:
        add_staff(folder)
    options |= {"key_changes": keys or folder / "none", "file": settings if file else None}
    return assemble_exhibit(read_settings(settings), folder, clock, stack, **options)


def add_staff(folder):
    """Add one of each role, with the same PIN, to the accounts in `folder`."""
    users, pins = Users(folder / FILE), PinHasher(passes=1, kib=8)
    for name, role in (("Head", "head"), ("Keeper", "scorekeeper"), ("Judge", "judge")):
        users.add(name, role, pins.hash(PIN))
    users.close()
