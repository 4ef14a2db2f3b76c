"""Pages inside other sites: only those that the host names, only public pages, in a real browser too."""

import gc
import http.server
import threading

import httpx
import pytest

from pi_controller.web.address import PageSettings
from pi_controller.web.server import WebServer

SITE = "https://museum.example"


def serve(feed, **how):
    server = WebServer(feed, port=0, **how)
    server.start()
    return server


@pytest.fixture
def embedded(feed):
    server = serve(feed, pages=PageSettings(embed=(SITE, "http://127.0.0.1:9")))
    yield server
    server.stop()
    gc.collect()


def get(server, path, **headers):
    return httpx.get(server.url.rstrip("/") + path, headers=headers)


@pytest.mark.parametrize("path", ["/", "/room", "/overlay", "/find", "/check"])
def test_a_named_site_may_show_the_public_pages(embedded, server, path):
    assert f"frame-ancestors {SITE} http://127.0.0.1:9;" in get(embedded, path).headers["content-security-policy"]
    assert "frame-ancestors 'none'" in get(server, path).headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/help", "/events?page=live", "/healthz", "/openapi.json", "/no-page"])
def test_no_site_may_show_anything_else(embedded, path):
    if not path.startswith("/events"):
        assert "frame-ancestors 'none'" in get(embedded, path).headers["content-security-policy"]


def test_a_named_site_may_read_the_view(embedded, server):
    assert get(embedded, "/view.json", origin=SITE).headers["access-control-allow-origin"] == SITE
    for other in ("https://elsewhere.example", "null", f"{SITE}.evil.example", SITE.upper()):
        assert "access-control-allow-origin" not in get(embedded, "/view.json", origin=other).headers
    assert "access-control-allow-origin" not in get(server, "/view.json", origin=SITE).headers
    assert get(embedded, "/view.json").headers["vary"] == "origin"


def test_a_browser_shows_it_there_and_nowhere_else(feed, chromium):
    page_of = {}

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(f'<iframe src="{page_of["table"]}"></iframe>'.encode())

        def log_message(self, *_):
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{site.server_port}"
    try:
        for allowed in (True, False):
            server = serve(feed, pages=PageSettings(embed=(origin,) if allowed else (SITE,)))
            page_of["table"] = server.url
            context = chromium.new_context()
            page = context.new_page()
            page.goto(origin)
            frame = page.frames[1]
            frame.wait_for_load_state()
            assert (frame.locator("h1").count() == 1) == allowed
            context.close()
            server.stop()
    finally:
        site.shutdown()
        site.server_close()
        gc.collect()
