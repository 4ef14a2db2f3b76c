"""A table joins by a code, over TLS and at a real Mosquitto that is not started again."""

import asyncio
import socket
import ssl
import stat
import threading
from contextlib import contextmanager, suppress

import aiomqtt
import pytest
from brokers import PATIENCE_S, VENUE, Mosquitto, client
from hub_site import certify
from mosquitto import needs_mosquitto
from pi_controller.hub.mqtt import can_sign_in, make_client
from real_hub import RealHub

from pi_controller.cli.hub import hub as main
from pi_controller.config import read_settings
from pi_controller.hub.join import JoinError, new_code, parse_hub_address
from pi_controller.hub.setup import SERVER, SERVER_KEY
from pi_controller.hub.table_link import make_table_link


@pytest.fixture
def broker(tmp_path):
    made = Mosquitto(tmp_path / "hub", ["t01", "t02"]).start()
    yield made
    made.kill()


@pytest.fixture
def house(broker):
    broker.hub_settings()
    made = RealHub(broker.folder)
    made.sign_in()
    yield made
    made.close()


def new_table(folder):
    """Return the settings file of a table that knows no hub."""
    folder.mkdir()
    path = folder / "table.toml"
    path.write_text('[board]\nport = "none"\n')
    return path


def join(opened, settings):
    """Join as the console says, by the command that the QR code has."""
    _, verb, do, address, code = opened["command"].split()
    assert (verb, do, code) == ("hub", "join", opened["code"])
    assert main([do, address, code, "--settings", str(settings)]) == 0


@needs_mosquitto
def test_table_joins_while_others_stay_connected(house, broker, tmp_path):
    settings = new_table(tmp_path / "table")

    async def while_connected():
        async with client(broker, "t01") as other:
            await asyncio.to_thread(join, await asyncio.to_thread(house.open_code, "t09"), settings)
            await other.publish(f"mat/v1/{VENUE}/t/t01/hello", b"x", 1)  # answered: it is the connection of before

    asyncio.run(while_connected())
    hub = read_settings(settings).hub
    assert (hub.address, hub.port, hub.venue, hub.table) == ("127.0.0.1", broker.port, VENUE, "t09")
    link = make_table_link(read_settings(settings))
    assert asyncio.run(can_sign_in(link._broker)), "what stands in the settings is all that a table needs"
    assert (settings.parent / "hub.crt").read_bytes() == (house.folder / "ca.crt").read_bytes()
    for name in ("hub.password", "hub.crt"):
        assert stat.S_IMODE((settings.parent / name).stat().st_mode) == 0o600


@needs_mosquitto
@pytest.mark.slow
def test_new_card_locks_the_old_one_out(house, tmp_path):
    first, second = (new_table(tmp_path / name) for name in ("first", "second"))
    join(house.open_code("t09"), first)
    old = make_table_link(read_settings(first))._broker

    async def while_connected():
        async with make_client(old) as card:
            await card.publish(f"mat/v1/{VENUE}/t/t09/hello", b"x", 1)
            await asyncio.to_thread(lambda: join(house.open_code("t09", anew=True), second))
            async with asyncio.timeout(PATIENCE_S):
                with pytest.raises(aiomqtt.MqttError):
                    await anext(aiter(card.messages))

    asyncio.run(while_connected())
    assert not asyncio.run(can_sign_in(old))
    assert asyncio.run(can_sign_in(make_table_link(read_settings(second))._broker))


@needs_mosquitto
@pytest.mark.slow
@pytest.mark.parametrize("tls", [False, True])
def test_table_joins_beside_idle_connections(house, tmp_path, tls):
    opened = house.open_code("t09")
    where = parse_hub_address(opened["command"].split()[3])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    idle = []
    try:
        for n in range(96):
            idle.append(socket.create_connection(where, PATIENCE_S, source_address=(f"127.0.0.{2 + n % 88}", 0)))
            if tls:
                idle[-1] = context.wrap_socket(idle[-1])
        join(opened, new_table(tmp_path / "table"))
    finally:
        for one in idle:
            one.close()


@needs_mosquitto
@pytest.mark.slow
def test_code_fits_certificate_in_use_after_setup(house, tmp_path):
    assert main(["setup", str(house.folder), "--tables", "3", "--host", "127.0.0.1"]) == 0
    join(house.open_code("t09"), new_table(tmp_path / "table"))


@contextmanager
def somebody(folder):
    """Listen with the certificate in `folder`; yield the port and what was heard."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / SERVER, folder / SERVER_KEY)
    heard = []

    def serve():
        line = listener.accept()[0]
        with suppress(OSError), context.wrap_socket(line, server_side=True) as line:
            heard.append(line.recv(4096))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1], heard
        thread.join(PATIENCE_S)


def test_real_join_sends_no_bytes_to_other_certificate(tmp_path):
    code, settings = new_code(b"of the hub"), new_table(tmp_path / "table")
    before = settings.read_text()
    with somebody(certify(tmp_path / "hub")) as (port, heard), pytest.raises(JoinError, match="not the hub"):
        main(["join", f"127.0.0.1:{port}", str(code), "--settings", str(settings)])
    assert heard in ([], [b""])
    assert settings.read_text() == before
