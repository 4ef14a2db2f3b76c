"""What a screen reader says aloud over one hide or turn of each game, on the live page and on the console.

Read from the browser's accessibility tree: what stands in the regions that it calls live, each time it is another.
"""

import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real"))

from headless import await_drawn
from judge_rig import Rig, sign_in

from pi_controller.referee.judge import JudgeAction, JudgeAnswer
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike

APART_S = 5.0
"""Between two steps: a stroke soon after another may be the same."""
FILLED_MS = 200
"""A region is filled 0.1 s after it was cleared."""
HANDS = [(kind, pad) for pad in (1, 2, 3, 4) for kind in (HandIn, HandOut)]


def act(**action):
    return lambda rig: rig.do(lambda table, t: table.judge(JudgeAction(t, action)))


def answer(choice):
    return lambda rig: rig.do(lambda table, t: table.judge(JudgeAnswer(t, choice)))


def feel(*events):
    return lambda rig: rig.feel(*events)


GAMES = {
    "dakota": (
        {},
        (
            ("the toss", act(do="toss", winner="A")),
            (
                "the mat is there, the bead is hidden",
                feel((Link, True), *HANDS, (BeadsAtRest, (Bead(2),)), (Button, "ready")),
            ),
            ("a stroke on two pads", feel((Strike, (3, 4)))),
            ("answered: pad 3", answer("3")),
            ("a stroke on pad 2", feel((Strike, (2,)))),
            ("the bead is taken up", feel((BeadsAtRest, ()))),
        ),
    ),
    "ojibwe": (
        {},
        (
            ("the toss", act(do="toss", winner="A")),
            ("opened 1, struck 3, missed", act(do="shoot", opened=[1], hit=3, ball=2)),
        ),
    ),
    "slahal": (
        {},
        (
            ("the duo", act(do="duo", A=True, B=False)),
            ("a guess that splits", act(do="guess", signal="left", actual="inside")),
        ),
    ),
    "bageswin": (
        {"players": "Ann,Bo,Cy"},
        (
            ("a throw worth 20", act(do="throw", red={"woman": 1, "fish": 0, "knives": 0, "buttons": 0})),
            ("a throw worth nothing", act(do="throw", red={"woman": 1, "fish": 1, "knives": 0, "buttons": 0})),
        ),
    ),
    "plum_stone": (
        {},
        (
            ("the lot", act(do="lot", first="A")),
            ("a throw worth 10", act(do="throw", moons=2, whites=3)),
            ("a throw worth nothing", act(do="throw", moons=1, whites=1)),
            ("another", act(do="throw", moons=1, whites=2)),
        ),
    ),
    "patol": (
        {"players": "Ann,Bo"},
        (
            ("Ann starts", act(do="start", player="Ann", river="north", direction="clockwise")),
            ("three marked: ten, and again", act(do="throw", marked=3)),
            ("one marked", act(do="throw", marked=1)),
        ),
    ),
}
"""For each game its options and what is done, with the name of it."""


class Listener:
    """Hears a page as a screen reader does."""

    def __init__(self, page):
        self._page = page
        self._tree = page.context.new_cdp_session(page)
        self._tree.send("Accessibility.enable")
        self._said = {}

    def hear(self, seq):
        """Return what is said of the update `seq` that was not said before: (politeness, words)."""
        await_drawn(self._page, seq)
        self._page.clock.fast_forward(FILLED_MS)
        now = self._regions()
        new = [(how, words) for region, (how, words) in now.items() if words and words != self._said.get(region)]
        self._said = {region: words for region, (_, words) in now.items()}
        return new

    def _regions(self):
        """Return the live regions of the accessibility tree: how each is told, and its words."""
        nodes = {node["nodeId"]: node for node in self._tree.send("Accessibility.getFullAXTree")["nodes"]}
        found = {}
        for node in nodes.values():
            live = [one["value"]["value"] for one in node.get("properties", ()) if one["name"] == "live"]
            root = [one for one in node.get("properties", ()) if one["name"] == "root"]
            if live and live[0] != "off" and not root:
                found[node["backendDOMNodeId"]] = (live[0], " ".join(words(nodes, node)).strip())
        return found


def words(nodes, node):
    """Yield the texts below `node`."""
    for child in node.get("childIds", ()):
        if child in nodes and nodes[child].get("role", {}).get("value") == "StaticText":
            yield nodes[child]["name"]["value"]
        elif child in nodes:
            yield from words(nodes, nodes[child])


def play(browser, folder, game):
    """Yield for each step of `game` its name, and what is heard on the live page and on the console."""
    options, steps = GAMES[game]
    rig = Rig(folder, game, options)
    pages = [browser.new_page(), browser.new_page()]
    try:
        for page in pages:
            page.clock.install()
        pages[0].goto(rig.server.url)
        sign_in(pages[1], rig.url)
        listeners = [Listener(page) for page in pages]
        for name, step in (("the page is there", lambda rig: None), *steps):
            rig.later += APART_S
            step(rig)
            yield name, [listener.hear(rig.view.seq) for listener in listeners]
    finally:
        for page in pages:
            page.close()
        rig.close()
