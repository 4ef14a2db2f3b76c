"""Pages inside other sites: only those that the host names, and only public pages."""

import pytest

from pi_controller.web.address import PageSettings
from pi_controller.web.server import WebServer

SITE = "https://museum.example"


@pytest.fixture
def embedded(feed, visit):
    return visit(WebServer(feed, pages=PageSettings(embed=(SITE, "http://127.0.0.1:9"))))


def policy(web, path):
    with web.stream("GET", path) as answer:
        return answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/", "/room", "/overlay", "/find", "/check"])
def test_a_named_site_may_show_the_public_pages(embedded, web, path):
    assert f"frame-ancestors {SITE} http://127.0.0.1:9;" in policy(embedded, path)
    assert "frame-ancestors 'none'" in policy(web, path)


@pytest.mark.parametrize("path", ["/help", "/events?page=live", "/healthz", "/openapi.json", "/no-page"])
def test_no_site_may_show_anything_else(embedded, path):
    assert "frame-ancestors 'none'" in policy(embedded, path)


def test_a_named_site_may_read_the_view(embedded, web):
    def read(web, **headers):
        return web.get("/view.json", headers=headers).headers

    assert read(embedded, origin=SITE)["access-control-allow-origin"] == SITE
    for other in ("https://elsewhere.example", "null", f"{SITE}.evil.example", SITE.upper()):
        assert "access-control-allow-origin" not in read(embedded, origin=other)
    assert "access-control-allow-origin" not in read(web, origin=SITE)
    assert read(embedded)["vary"] == "origin"
