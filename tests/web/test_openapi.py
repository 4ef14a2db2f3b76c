"""The OpenAPI document is so: a running table, its streams and its console answer as it says, whatever is sent."""

import io
import json
from urllib.parse import urlsplit

import jsonschema_rs
import pytest
import schemathesis
from httpx_sse import connect_sse
from hypothesis import HealthCheck, Phase, settings
from judge_house import ORIGIN, House
from requests.adapters import HTTPAdapter
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from urllib3 import HTTPResponse

from pi_controller.web.openapi import OPERATIONS, document
from pi_controller.web.sessions import Sessions
from pi_controller.web.sign_in import SESSION

PAGES = {
    "/",
    "/room",
    "/overlay",
    "/find",
    "/check",
    "/judge",
    "/static/{name}",
    "/help",
    "/help/search",
    "/help/{path:path}",
}
"""Answer what people look at and no program reads."""
STREAMS = ["/events", "/judge/events"]
WHOLE = document([operation.path for operation in OPERATIONS])
API = schemathesis.openapi.from_dict(WHOLE).exclude(path=STREAMS)
API.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
API.config.phases.coverage.enabled = False  # every value of every field: hundreds of requests
load_all_checks()
(positive_data_acceptance,) = CHECKS.get_by_names(["positive_data_acceptance"])
BOUNDED = settings(
    max_examples=10,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


tables = []
"""The one that is asked."""


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Return a table that is asked by what schemathesis sends, too."""
    house = House(tmp_path_factory.mktemp("table"))

    def send(adapter, request, **_):
        with house.browser() as web:
            told = web.request(request.method, request.url, headers=request.headers, content=request.body)
        body, headers = io.BytesIO(told.content), told.headers.multi_items()
        return adapter.build_response(request, HTTPResponse(body, headers, told.status_code, preload_content=False))

    tables.append(house)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HTTPAdapter, "send", send)
        yield house
    tables.remove(house)
    house.close()


def session(house):
    """Return the cookie of a head judge who has just signed in."""
    users = house.judges.users
    return Sessions(users).begin(users.find_by_name("Ann")[0], house.clock())


@API.auth(refresh_interval=None)
class SignedIn:
    """Who is signed in, wherever the document says that somebody must be."""

    def get(self, case, ctx):
        return session(tables[0])

    def set(self, case, data, ctx):
        case.cookies = {**(case.cookies or {}), SESSION: data}


def test_openapi_document_is_served_and_lists_every_route(house):
    with house.browser() as web:
        served = web.get("/openapi.json").json()
    routes = {route.path.replace(":int", "") for route in house.app.routes}
    assert set(served["paths"]) == routes - PAGES
    assert served["openapi"] == "3.1.0"
    assert {**WHOLE["paths"], **served["paths"]} == WHOLE["paths"]


def test_without_judges_there_is_no_console_in_it(web):
    served = web.get("/openapi.json").json()
    assert set(served["paths"]) == {"/view.json", "/events", "/healthz", "/openapi.json"}
    assert not [name for name in served["components"]["schemas"] if name.startswith("Judge")]


@API.parametrize()
@BOUNDED
def test_the_table_answers_as_it_says(case, house):
    """Also what is wrong is answered as it says, and nothing wrong is taken. A judge is signed in; others are not."""
    if case.method == "POST":
        case.headers = {"Origin": ORIGIN}
    house.ahead += 1.0  # or most commands would come too soon after one another
    # what a game takes as an action, and when, no document says
    unsaid = [positive_data_acceptance] if case.path == "/judge/command" else []
    case.call_and_validate(base_url=ORIGIN, excluded_checks=unsaid)


@pytest.mark.parametrize("path", STREAMS)
def test_stream_events_match_their_schema(path, house):
    kind = WHOLE["paths"][path]["get"]["responses"]["200"]["content"]["text/event-stream"]["schema"]["contentSchema"]
    valid = jsonschema_rs.validator_for({**kind, "components": WHOLE["components"]})
    with house.browser() as web:
        web.cookies.set(SESSION, session(house))
        with connect_sse(web, "GET", path) as source:
            event = next(event for event in source.iter_sse() if event.event in ("view", "judge"))
    content = json.loads(event.data)
    valid.validate(content)
    assert not valid.is_valid({**content, "view": {**content["view"], "seq": "one"}})


def test_the_document_names_no_place():
    text = json.dumps(WHOLE)
    assert urlsplit(text).netloc == ""
    assert "http://" not in text
