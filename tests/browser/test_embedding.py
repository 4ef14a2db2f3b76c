"""A page inside another site, as a browser shows it."""

import gc
import http.server
import threading

from pi_controller.web.address import PageSettings
from pi_controller.web.server import WebServer


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
            embed = origin if allowed else "https://museum.example"
            server = WebServer(feed, port=0, pages=PageSettings(embed=(embed,)))
            server.start()
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
