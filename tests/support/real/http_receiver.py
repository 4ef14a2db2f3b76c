"""A program that takes messages by HTTP, as an uptime monitor does."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def http_receiver(answer, path="/hook", tls=None):
    """Serve HTTP; `answer(handler)` answers each POST, and each GET, which a redirect would become. Yield the address
    of `path`, and the received requests: their path, headers and body. With the context `tls` it is encrypted.
    """
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            requests.append((self.path, self.headers, self.rfile.read(int(self.headers["content-length"] or 0))))
            answer(self)

        do_GET = do_POST  # noqa: N815 - the name that the server looks for

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}{path}", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def status(code, **headers):
    """Return an answer with this status and these headers."""

    def answer(handler):
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()

    return answer
