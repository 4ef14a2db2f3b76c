"""A hub's pages without a broker, and a browser session that is signed in to them."""

import secrets

import httpx

from pi_controller.hub.director import Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.pages import HubPages
from pi_controller.hub.settings import HubSettings
from pi_controller.hub.setup import load_server_tls
from pi_controller.hub.store import TournamentLog
from pi_controller.tournament import decisions as d

TEAMS = ("Big Coulee", "Long Hollow", "<b>Buffalo</b>", "=Enemy Swim")


class Site:
    """A hub's pages without a broker; `post` sends as the console's own page does.

    With the venue's certificate in `folder` the pages are served with encryption too. `page` has more settings of it,
    `marks` the host's marks.
    """

    def __init__(self, folder, marks=None, **page):
        self.folder = folder
        self.inbox = Inbox(folder / "hub.sqlite")
        self.log = TournamentLog(folder / "hub.sqlite")
        self.director = Director(self.log, self.inbox)
        settings = HubSettings.model_validate(
            {"page": {"port": 0, "https": 0, "stream": 0, **page}, "marks": marks or {}}
        )
        self.pages = HubPages(settings, folder, self.director, tls=load_server_tls(folder))
        self.pages.start()
        self.origin = self.pages.url.rstrip("/")
        self.web = httpx.Client(base_url=self.origin, headers={"origin": self.origin}, timeout=30, verify=False)

    def sign_in(self, role="head", name="Ann"):
        hashed, pin = self.pages._signing.authenticator.pins, secrets.randbelow(10**8)
        pin = f"{pin:08d}"
        self.pages.users.add(name, role, hashed.hash(pin))
        found = self.web.post("/director/sign-in", json={"name": name, "pin": pin})
        assert found.status_code == 200, found.text
        return pin

    def share_session(self, context):
        """Sign the browser's `context` in as this session is."""
        context.add_cookies([{"name": k, "value": v, "url": self.origin} for k, v in self.web.cookies.items()])

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
        self.web.close()
        self.pages.close()
        self.log.close()
        self.inbox.close()
