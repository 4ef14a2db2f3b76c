"""A table joins by a code over TLS, at a hub that is not started again."""

import asyncio
import socket
import ssl
import stat
import threading
from contextlib import closing, contextmanager, suppress

import pytest
from hub_files import PATIENCE_S, reach, write_hub
from hub_site import certify
from real_hub import RealHub

from pi_controller.cli.hub import hub as main
from pi_controller.config import read_settings
from pi_controller.hub.join import JoinError, new_code
from pi_controller.hub.join_table import parse_hub_address
from pi_controller.hub.messages import RECORDS_PATH, TableReport, encode
from pi_controller.hub.setup import SERVER, SERVER_KEY
from pi_controller.hub.table_link import make_client


@pytest.fixture
def house(tmp_path):
    with closing(RealHub(write_hub(tmp_path / "hub", ["t01"]))) as made:
        made.sign_in()
        yield made


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


def report(client, table):
    """Post a report over a connection of its own; return the status."""

    async def post():
        async with client:
            return await client.post(RECORDS_PATH.format(table=table), content=encode(TableReport("a")))

    return asyncio.run(post()).status_code


def test_table_joins_while_others_stay_connected(house, tmp_path):
    settings = new_table(tmp_path / "table")

    async def while_connected():
        async with reach(house.folder, "t01") as other:
            path, hello = RECORDS_PATH.format(table="t01"), encode(TableReport("a"))
            assert (await other.post(path, content=hello)).status_code == 200
            await asyncio.to_thread(join, await asyncio.to_thread(house.open_code, "t09"), settings)
            assert (await other.post(path, content=hello)).status_code == 200

    asyncio.run(while_connected())
    hub = read_settings(settings).hub
    assert (hub.address, hub.port, hub.table) == ("127.0.0.1", house.run.pages.secure_port, "t09")
    assert report(make_client(hub), "t09") == 200, "what stands in the settings is all that a table needs"
    assert (settings.parent / "hub.crt").read_bytes() == (house.folder / "ca.crt").read_bytes()
    for name in ("hub.token", "hub.crt"):
        assert stat.S_IMODE((settings.parent / name).stat().st_mode) == 0o600


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


@pytest.mark.slow
def test_code_fits_certificate_in_use_after_setup(house, tmp_path):
    assert main(["setup", str(house.folder), "--host", "127.0.0.1"]) == 0
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
