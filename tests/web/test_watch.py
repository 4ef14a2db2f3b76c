"""`moccasin-mat watch`: each view a JSON line, and what happens when the line to the table is cut."""

import json
import random

import httpx
import msgspec
import pytest

from pi_controller.cli import main
from pi_controller.cli.watch import MAX_RETRY_S, WatchError, follow, stream_url
from pi_controller.table.view import View

URL = httpx.URL("http://mat.local:8080/events")


def sent(*parts):
    """Return the answers of a table, one a connection: event stream, status, or an error of the line."""

    def answer(request):
        asked.append(request.headers.get("last-event-id"))
        part = parts[len(asked) - 1] if len(asked) <= len(parts) else parts[-1]
        if isinstance(part, Exception):
            raise part
        if isinstance(part, int):
            return httpx.Response(part, headers={"content-type": "text/plain"})
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=part)

    asked = []
    return httpx.Client(transport=httpx.MockTransport(answer)), asked


def event(number, text="a"):
    return f'id: {number}\nevent: view\ndata: {{"view": {{"note": "{text}"}}}}\n:   \n\n'.encode()


def test_each_view_is_a_line(feed, web, view):
    lines = follow(web, stream_url("localhost"), pytest.fail, random.Random(1))
    first = json.loads(next(lines))
    assert msgspec.convert(first["view"], View) == feed.latest.view
    assert "First hit: Long Hollow" in first["texts"]["sentence"]
    feed.publish(view(seq=2, note="eine ⟨Zeile⟩\u2028 und\u0085 mehr\n"))
    line = next(lines)
    assert b"\n" not in line
    assert json.loads(line)["view"]["note"] == "eine ⟨Zeile⟩\u2028 und\u0085 mehr\n"
    lines.close()


def test_watch_reconnects_with_last_event_id(capsys):
    client, asked = sent(event("7-ab"), httpx.ConnectError("refused"), 503, b"retry: 1000\n\n" + event("9-ab"))
    waits = []
    lines = follow(client, URL, waits.append, random.Random(1))
    assert [json.loads(next(lines)) for _ in range(2)] == [{"view": {"note": "a"}}] * 2
    assert asked == [None, "7-ab", "7-ab", "7-ab"]
    said = capsys.readouterr().err.splitlines()
    assert [line.partition("; ")[0] for line in said] == [
        f"cut off from {URL}: {why}" for why in ("the table ended the stream", "refused", "status 503")
    ]
    assert all(0.5 * due <= wait <= 1.5 * due for due, wait in zip((2, 4, 8), waits, strict=True))


def test_waits_grow_to_a_minute_and_are_spread():
    waits = []
    client, _ = sent(httpx.ConnectError("refused"))

    def wait(seconds):
        waits.append(seconds)
        if len(waits) == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        next(follow(client, URL, wait, random.Random(2)))
    late = waits[10:]
    assert 0.5 * MAX_RETRY_S <= min(late) < 0.7 * MAX_RETRY_S
    assert 1.3 * MAX_RETRY_S < max(late) <= 1.5 * MAX_RETRY_S


def test_watch_follows_a_table_restarted_at_same_address(feed, web, view, capsys):
    def start_again(_):
        feed.publish(view(seq=5))
        feed.reopen()

    lines = follow(web, stream_url("localhost"), start_again, random.Random(1))
    assert json.loads(next(lines))["view"]["seq"] == 1
    feed.end_streams()
    assert json.loads(next(lines))["view"]["seq"] == 5
    lines.close()
    assert capsys.readouterr().err.startswith("cut off from http://localhost")


@pytest.mark.parametrize("status", [400, 404, 401])
def test_error_status_is_not_retried(status):
    with pytest.raises(WatchError, match=f"no event stream at {URL}: status {status}"):
        next(follow(sent(status)[0], URL, pytest.fail, random.Random(1)))


def test_html_page_and_foreign_stream_are_refused():
    page = httpx.MockTransport(lambda _: httpx.Response(200, html="<p>hello"))
    with pytest.raises(WatchError, match="no event stream"):
        next(follow(httpx.Client(transport=page), URL, pytest.fail, random.Random(1)))
    with pytest.raises(WatchError, match="does not send a table's events"):
        next(follow(sent(b"event: view\ndata: hello\n\n")[0], URL, pytest.fail, random.Random(1)))


@pytest.mark.parametrize("url", ["", "ftp://mat.local", "http://", "mat.local?page=x", "http://[::1", "http://a b\0"])
def test_no_address(url, capsys):
    assert main(["watch", "--url", url]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
