"""How far the parts of the live page move while a whole short game is played."""

import pytest
from headless import await_drawn

from pi_controller.rules import registry
from pi_controller.simulation.simulation import Simulation

LIMIT = 0.1
"""Layout shift that web pages count as good; the sum over a whole game."""
WATCH = """() => {
  const wait = setTimeout;
  window.setTimeout = (call, ms, ...more) => wait(call, ms / 20, ...more);
  window.moved = [];
  const name = one => one?.tagName ? `${one.tagName}.${one.className}` : String(one?.data ?? one);
  new PerformanceObserver(list => list.getEntries().forEach(one => moved.push(
    [one.value, [...one.sources].map(source => name(source.node))]))).observe({ type: "layout-shift", buffered: true });
}"""


def play_views(folder, seconds):
    """Return the views of a simulated game, up to `seconds` of it, as a page shows them: one of each moment."""
    with Simulation(3, folder / "game.sqlite", registry.game("dakota", {"points": 2})) as simulation:
        views = [simulation.view]
        while simulation.view.phase != "over" and simulation.t < seconds:
            simulation.play(1.0)
            if simulation.view != views[-1]:
                views.append(simulation.view)
        return views


@pytest.mark.timeout(600)
def test_no_part_of_the_live_page_moves(open_page, feed, tmp_path):
    views = play_views(tmp_path, 3600.0)
    assert views[-1].phase == "over"
    feed.publish(views[0])
    page = open_page(size=(390, 844))
    page.evaluate(WATCH)
    for view in views[1:]:
        feed.publish(view)
        await_drawn(page, view.seq)
    moved = page.evaluate("moved")
    assert sum(value for value, _ in moved) < LIMIT, moved
