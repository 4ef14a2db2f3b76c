"""A program's connection to a table: its view as it changes, a judge's commands, and what happens when it is cut."""

import random
import re
from pathlib import Path

import httpx
import pytest
from judge_house import PIN

from pi_controller import client
from pi_controller.cli import main
from pi_controller.client import MAX_RETRY_S, Client, ClientError
from pi_controller.errors import UsageError
from pi_controller.referee.judge import JudgeUndo

ADDRESS = "http://mat.local:8080"
URL = f"{ADDRESS}/events"
PAGE = Path(__file__).parents[2] / "pi_controller" / "help" / "pages" / "develop" / "library.md"


def connect(http, wait=pytest.fail, address="localhost:8080"):
    return Client(address, http=http, wait=wait, dice=random.Random(1))


def sent(*parts, wait=pytest.fail):
    """Return a client of a table that answers with `parts`, one a connection: event stream, status or line error."""

    def answer(request):
        asked.append(request.headers.get("last-event-id"))
        part = parts[len(asked) - 1] if len(asked) <= len(parts) else parts[-1]
        if isinstance(part, Exception):
            raise part
        if isinstance(part, int):
            return httpx.Response(part, headers={"content-type": "text/plain"})
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=part)

    asked = []
    return connect(httpx.Client(transport=httpx.MockTransport(answer)), wait, ADDRESS), asked


def event(number, text="a"):
    return f'id: {number}\nevent: view\ndata: {{"view": {{"note": "{text}"}}}}\n:   \n\n'.encode()


def test_views_follow_the_feed(feed, web, view):
    table = connect(web)
    views = table.views()
    assert next(views) == feed.latest.content == table.view()
    feed.publish(view(seq=2, note="eine ⟨Zeile⟩\u2028 und\u0085 mehr\n"))
    assert next(views).note == "eine ⟨Zeile⟩\u2028 und\u0085 mehr\n"
    views.close()
    with pytest.raises(ClientError) as error:
        table.sign_in("Ann", PIN)
    assert error.value.code == "client"  # a table without a console


def test_stream_reconnects_with_last_event_id(caplog):
    waits = []
    parts = (event("7-ab"), httpx.ConnectError("refused"), 503, b"retry: 1000\n\n" + event("9-ab"))
    table, asked = sent(*parts, wait=waits.append)
    events = table.events()
    assert [next(events) for _ in range(2)] == [{"view": {"note": "a"}}] * 2
    assert asked == [None, "7-ab", "7-ab", "7-ab"]
    assert [record.getMessage().partition("; ")[0] for record in caplog.records if record.name == client.__name__] == [
        f"cut off from {URL}: {why}" for why in ("the table ended the stream", "refused", "status 503")
    ]
    assert all(0.5 * due <= wait <= 1.5 * due for due, wait in zip((2, 4, 8), waits, strict=True))


def test_waits_grow_to_a_minute_and_are_spread():
    waits = []

    def wait(seconds):
        waits.append(seconds)
        if len(waits) == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        next(sent(httpx.ConnectError("refused"), wait=wait)[0].events())
    late = waits[10:]
    assert 0.5 * MAX_RETRY_S <= min(late) < 0.7 * MAX_RETRY_S
    assert 1.3 * MAX_RETRY_S < max(late) <= 1.5 * MAX_RETRY_S


def test_stream_follows_a_table_restarted_at_same_address(feed, web, view):
    def start_again(_):
        feed.publish(view(seq=5))
        feed.reopen()

    views = connect(web, start_again).views()
    assert next(views).seq == 1
    feed.end_streams()
    assert next(views).seq == 5
    views.close()


@pytest.mark.parametrize("status", [400, 404, 401])
def test_error_status_is_not_retried(status):
    with pytest.raises(ClientError, match=f"no event stream at {URL}: status {status}"):
        next(sent(status)[0].events())


def test_html_page_and_foreign_stream_are_refused():
    page = httpx.MockTransport(lambda _: httpx.Response(200, html="<p>hello"))
    table = connect(httpx.Client(transport=page))
    for ask in (lambda: next(table.events()), table.view, lambda: table.push("toss", winner="A")):
        with pytest.raises(ClientError):
            ask()
    with pytest.raises(ClientError, match="does not send a table's events"):
        next(sent(b"event: view\ndata: hello\n\n")[0].events())


def test_judge_plays_and_undoes_over_the_connection(house):
    with house.browser() as web:
        table = connect(web, address="http://mat.example")
        with pytest.raises(ClientError) as error:
            table.push("toss", winner="A")
        assert error.value.code == "signed_out"
        assert table.sign_in("Jo", PIN) == "judge"
        assert {"do": "toss", "winner": "A"} in table.legal_actions()
        revision = table.view().revision
        before = table.push("toss", winner="A")
        assert before < table.push({"do": "hit", "found": False})
        for wrong, code in (({"do": "toss", "winner": "B"}, "illegal"), ({"do": "hit"}, "invalid")):
            with pytest.raises(ClientError) as error:
                table.push(wrong)
            assert (error.value.code, bool(error.value.message)) == (code, True)
        with pytest.raises(ClientError) as error:
            table.command(JudgeUndo(0.0), expect=revision)
        assert error.value.code == "stale"
        number = table.command(JudgeUndo(0.0))
        assert next(view for view in table.views() if view.seq >= number).sheet["owed"] == "first"


def test_page_example_runs_at_a_table(house, monkeypatch, capsys):
    page = PAGE.read_text("utf-8").partition("## A running table")[2]
    example = "\n".join(re.findall(r"^(?: {4}(.*))?$", page, re.MULTILINE))
    with house.browser() as web:
        monkeypatch.setattr(client, "Client", lambda address: connect(web, address="http://mat.example"))
        monkeypatch.setattr("getpass.getpass", lambda _: PIN)
        exec(example, {})
    assert house.table.view.phase == "hide"
    assert capsys.readouterr().out


@pytest.mark.parametrize("url", ["", "ftp://mat.local", "http://", "mat.local?page=x", "http://[::1", "http://a b\0"])
def test_no_address(url, capsys):
    with pytest.raises(UsageError):
        Client(url)
    assert main(["watch", "--url", url]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
