"""Pages come back by themselves after whatever ends their stream, and hidden tabs hold no connection."""

import pytest
from headless import await_drawn, wait_until

BEAT = "0.2"
HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def tab(chromium, server):
    """Return what opens a live page; `answer` gets the route of each request for its stream."""
    context = chromium.new_context()

    def open_tab(answer=None):
        page = context.new_page()

        def hasten(route):
            html = route.fetch().text()
            route.fulfill(body=html.replace("<body", f'<body data-beat="{BEAT}"', 1), content_type="text/html")

        if answer is not None:
            page.route(server.url, hasten)
            page.route("**/events*", answer)
        page.goto(server.url)
        return page

    yield open_tab
    context.close()


def is_marked(page, value):
    page.wait_for_function("value => document.getElementById('badge').dataset.value === value", arg=value)


class Refusing:
    """Refuses the stream `times` times in the way of `refuse`; then it is answered as usual."""

    def __init__(self, refuse, times=2):
        self.asked, self._refuse, self._times = [], refuse, times

    def __call__(self, route):
        self.asked.append(route.request.method)
        if self.asked.count("GET") <= self._times:
            self._refuse(route)
        else:
            route.continue_()


REFUSALS = {
    "503": lambda route: route.fulfill(status=503, body="Too many are watching."),
    "502": lambda route: route.fulfill(status=502, content_type="text/html", body="<h1>Bad Gateway</h1>"),
    "page": lambda route: route.fulfill(status=200, content_type="text/html", body="<h1>Sign in to the network</h1>"),
    "reset": lambda route: route.abort("connectionreset"),
    "silent": lambda route: None,
}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.smoke) if kind == "503" else kind for kind in REFUSALS]
)
def test_refused_page_is_live_again_untouched(tab, feed, view, kind):
    answer = Refusing(REFUSALS[kind])
    page = tab(answer)
    is_marked(page, "stale")
    feed.publish(view(seq=7))
    await_drawn(page, 7)
    is_marked(page, "live")
    assert answer.asked.count("GET") >= 3


def test_signed_out_page_is_loaded_again(tab):
    loads = []
    answer = Refusing(lambda route: route.fulfill(status=401, body="{}"), times=99)
    page = tab(answer)
    loads = []
    page.on("load", lambda _: loads.append(True))
    wait_until(page, lambda: loads)
    assert "HEAD" in answer.asked


@pytest.mark.smoke
def test_hidden_page_has_no_stream(tab, feed, view):
    page = tab()
    await_drawn(page, feed.latest.content.seq)
    assert feed.watchers == 1
    page.evaluate(HIDE, True)
    wait_until(page, lambda: feed.watchers == 0)
    feed.publish(view(seq=9))
    is_marked(page, "stale")
    page.evaluate(HIDE, False)
    await_drawn(page, 9)
    is_marked(page, "live")


@pytest.mark.parametrize("hidden", [True, False])
def test_twelve_tabs_are_drawn_and_answered(tab, feed, view, hidden):
    pages = []
    for _ in range(12):
        pages.append(page := tab())
        await_drawn(page, feed.latest.content.seq)
        assert page.evaluate("async () => (await fetch('/view.json')).status") == 200
        page.evaluate(HIDE, hidden)
    feed.publish(view(seq=12))
    for page in pages:
        page.evaluate(HIDE, False)
        await_drawn(page, 12)
        is_marked(page, "live")
