"""A hub's pages without a server, and a browser session that is signed in to them."""

import secrets
from contextlib import ExitStack
from datetime import UTC, datetime

from judge_house import BEGAN, cheap
from travel import travelling
from visit import visitor

from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.pages import HubPages
from pi_controller.hub.settings import HubSettings
from pi_controller.hub.setup import load_server_tls, write_certificates
from pi_controller.hub.tokens import Tokens
from pi_controller.tournament import decisions as d

TEAMS = ("Big Coulee", "Long Hollow", "<b>Buffalo</b>", "=Enemy Swim")


def certify(folder):
    """Write the venue's certificates to `folder` and return it."""
    folder.mkdir(exist_ok=True)
    write_certificates(folder, "hall", ["127.0.0.1", "localhost"], datetime(2026, 6, 1, tzinfo=UTC))
    return folder


class Site:
    """A hub's pages without a server; `web` is a browser that sends as the console's own page does.

    With the venue's certificate in `folder` there are encrypted pages too. `page` has more settings of it, `marks` the
    host's marks.
    """

    ports = (8080, 8443, 8081)

    def __init__(self, folder, marks=None, **page):
        self.folder = folder
        self._stack = ExitStack()
        self.inbox = self._stack.enter_context(Inbox(folder / "hub.sqlite"))
        self.log = self._stack.enter_context(TournamentLog(folder / "hub.sqlite"))
        tokens = self._stack.enter_context(Tokens(folder / "hub.sqlite"))
        self.director = Director(self.log, self.inbox)
        page |= zip(("port", "https", "stream"), self.ports, strict=True)
        settings = HubSettings.model_validate({"page": page, "marks": marks or {}})
        self.pages = HubPages(settings, folder, self.director, self.clock, load_server_tls(folder), tokens=tokens)
        self._stack.callback(self.pages.close)
        self.pages._signing.authenticator.pins = cheap()
        self.open()
        self.origin = self.pages.url.rstrip("/")
        self.web = self._stack.enter_context(self.browser())

    def open(self):
        """Begin the time in which the pages are visited."""
        self.loop = self._stack.enter_context(travelling())

    def clock(self):
        """Return the hub's time, s since 1970."""
        return BEGAN + self.loop.time()

    def browser(self, peer="127.0.0.1", url=None):
        """Return a browser at the address `peer` that says where it comes from, as they do."""
        url = url or self.origin
        return visitor(self.pages._server.app, self.loop, url=url, peer=peer, headers={"origin": url})

    def stream(self, path):
        """Return a page of the table that the director has chosen."""
        return visitor(self.pages._stream.app, self.loop, url=self.pages.stream_url).get(path)

    def add_person(self, role="head", name="Ann"):
        """Add somebody; return what they sign in with."""
        pin = f"{secrets.randbelow(10**8):08d}"
        self.pages.users.add(name, role, self.pages._signing.authenticator.pins.hash(pin))
        return {"name": name, "pin": pin}

    def sign_in(self, role="head", name="Ann"):
        who = self.add_person(role, name)
        found = self.web.post("/director/sign-in", json=who)
        assert found.status_code == 200, found.text
        return who["pin"]

    def decide(self, **fact):
        return self.web.post("/director/command", json={"key": secrets.token_hex(8), "fact": fact})

    def drawn(self):
        self.sign_in()
        for fact in (
            {"do": "plan", "title": "Wacipi", "options": {"points": "2"}},
            {"do": "enter", "teams": [{"name": team} for team in TEAMS]},
            {"do": "draw", "order": [*TEAMS]},
        ):
            assert self.decide(**fact).status_code == 200

    def bring_to_play(self, teams, protest="the sleeve", judges=None):
        """Draw `teams` in this order: a match is called and protested, a result is pending, and one is entered.

        `judges` are those of the two called matches, if the hub assigns judges.
        """
        assert self.decide(do="draw", order=[*teams]).status_code == 200
        first, second, third = (one.id for one in self.director.now.ready[:3])
        for n, (match, table) in enumerate(((first, "t01"), (second, "t02"))):
            judge = {"judge": judges[n]} if judges else {}
            assert self.decide(do="assign", match=match, table=table, **judge).status_code == 200
        winner = self.director.now.pairing(second).teams[0]
        order = self.director.now.current_order(self.director.now.calls[second])
        self.director.decide(9.0, d.HUB, d.Reported(second, order, "t02", "ab" * 16, 9, winner))
        winner = self.director.now.pairing(third).teams[0]
        assert self.decide(do="result", match=third, winner=winner).status_code == 200
        team = self.director.now.pairing(first).teams[0]
        assert self.decide(do="protest", match=first, team=team, text=protest).status_code == 200

    def close(self):
        self._stack.close()
