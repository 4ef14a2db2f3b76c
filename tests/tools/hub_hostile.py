"""A table that reports records of a made-up next version and worse, beside honest tables that wait for their answers.

    .venv/bin/python tests/tools/hub_hostile.py --records 10000
    .venv/bin/python tests/tools/hub_hostile.py --records 10000 --store postgresql

`hub run` is real, over HTTPS. One table sends, from a seed: every kind of fact with wrong types, missing and further
fields and huge numbers, in games that open as a match of the tournament; unknown facts; gaps, repeated and changed
records, old epochs, wrong hashes, NUL, NaN, deep JSON, bytes that are no report, reports that are too large or never
end; views and replies of another version; and reports in the name of others. Honest tables report a record at a time,
and wait until the hub has acknowledged it. Then the hub is killed and started again. Prints a JSON line; the status is
1 unless the hub ran through, its page was served, no forged report was taken, no answer was a fault of the hub, each
honest record was acknowledged within a second, and all of them are held unchanged.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import get_args

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real", "tools"))

import httpx
import msgspec
from hub_chaos import memory_mb
from hub_files import PATIENCE_S, reach, store_of, write_hub
from hub_load import played
from hub_process import HubProcess
from msgspec import inspect
from postgres import server_of

from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import (
    MAX_MESSAGE_BYTES,
    RECORDS_PATH,
    Events,
    Hello,
    HubAnswer,
    SentGame,
    SentRecord,
    decode,
)
from pi_controller.journal.chain import JournalRow, genesis, next_hash
from pi_controller.referee.facts import ANY_FACT, GameOpened, MatchGiven
from pi_controller.rules.registry import game
from pi_controller.table.view import View
from pi_controller.tournament import decisions as d

HOSTILE, HONEST = "t01", ("t02", "t03", "t04", "t05")
PAUSE_S = 0.05
"""From one honest record's acknowledgement to the next record."""
MAX_ACK_S = 1.0
FORGED = ({"authorization": "Bearer " + "a" * 43}, {"authorization": "Basic dDAxOng="}, {"authorization": "Bearer"})
_TEAMS = ("Big Coulee", "Long Hollow", "Buffalo Lake", "Enemy Swim")
_FACTS = inspect.multi_type_info(get_args(ANY_FACT))
_VIEW = inspect.type_info(View)
_STRANGE = (
    None, True, -1, 0, 7, 2**31, 2**40, 2**63, 10**30, 10**300, 1e308, -1e-300, "", "\x1b[2J", "\u202eabc", "A",
    "x" * 300, [], [[[]]], {}, {"a": {"b": []}}, [1, "two", None],
)  # fmt: skip


def fitting(kind, dice):
    """Return a value of JSON of the type `kind`, as a next version or a broken program may fill it."""
    match kind:
        case inspect.BoolType():
            return dice.random() < 0.5
        case inspect.IntType():
            return dice.choice((0, 1, 2, 3, 4, 5, -1, 40, 2**31, 2**53, 2**63, 10**20))
        case inspect.FloatType():
            return dice.choice((0.0, 1.5, -3.0, 1e9, 1e300))
        case inspect.StrType():
            return dice.choice(("A", "B", "", "hits", "W1-1", "Big Coulee", "\x1b]0;x\x07", "a" * 64))
        case inspect.LiteralType(values=values) | inspect.EnumType(cls=values):
            return dice.choice([*values])
        case inspect.UnionType(types=types):
            return fitting(dice.choice(types), dice)
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return [fitting(item, dice) for _ in range(dice.randrange(4))]
        case inspect.TupleType(item_types=items):
            return [fitting(item, dice) for item in items]
        case inspect.DictType(key_type=key, value_type=value):
            return {str(fitting(key, dice)): fitting(value, dice) for _ in range(dice.randrange(3))}
        case inspect.StructType():
            return structured(kind, dice)
        case inspect.NoneType():
            return None
        case _:
            return dice.choice(_STRANGE)


def structured(kind, dice):
    fields = {one.encode_name: fitting(one.type, dice) for one in kind.fields if one.required or dice.random() < 0.7}
    return {kind.tag_field: kind.tag, **fields} if kind.tag_field else fields


def strange_body(dice):
    """Return kind and body of a record: a fact of any kind, mostly changed in a way that may make it none."""
    kind = dice.choice(_FACTS)
    body = structured(kind, dice)
    match dice.randrange(8):
        case 0:
            body = {"kind": "fact_of_next_version", "t": 0.0}
        case 1:
            body.pop(dice.choice([*body]))
        case 2:
            body["field_of_next_version"] = dice.choice(_STRANGE)
        case 3:
            body[dice.choice([*body])] = dice.choice(_STRANGE)
        case 4:
            text = dice.choice(("", "null", "[]", "{", '"', "9" * 5000, "[" * 3000, '{"kind":"ready","t":1e999}', "\0"))
            return "ready", text
        case _:
            pass
    return str(kind.tag), json.dumps(body)


class HostileGame:
    """A journal that opens as match W1-1 and goes on with strange records; `messages` are how they are sent."""

    def __init__(self, dice, before):
        self.dice, self.epoch = dice, dice.randbytes(16).hex()
        self.before = before
        self.rows = []
        self.head = genesis(self.epoch)
        rules = game("dakota", {"points": 2})
        opened = GameOpened(
            0.0, "dakota", rules.version, rules.source, dict(rules.settings), dict(zip("AB", _TEAMS, strict=False))
        )
        for fact in (opened, MatchGiven(0.0, "cup", "W1-1", f"{'a' * 16}-1")):
            self.add(1, 0.0, fact.__struct_config__.tag, msgspec.json.encode(fact).decode())

    def add(self, batch, t, kind, body):
        row = JournalRow(len(self.rows) + 1, batch, t, kind, body)
        self.head = next_hash(self.head, row)
        self.rows.append(row._replace(hash=self.head))

    def fill(self, count):
        for n in range(count):
            batch = self.dice.choice((n + 2, n + 2, n + 2, 1, 2**31, 2**40, 2**53 - 1))
            t = self.dice.choice((float(n), 0.0, -1e300, 1e308))
            self.add(batch, t, *strange_body(self.dice))

    def messages(self):
        """Yield questions and records, each with the number of its records."""
        dice = self.dice
        games = [
            *([SentGame(self.before.epoch, len(self.before.rows))] if self.before else []),
            SentGame(self.epoch, len(self.rows)),
        ]
        yield Hello(tuple(games), "99.0"), 0
        records = [SentRecord(*row) for row in self.rows]
        match dice.randrange(7):
            case 0:  # a gap
                del records[dice.randrange(len(records))]
            case 1:  # a record that was changed
                n = dice.randrange(len(records))
                records[n] = msgspec.structs.replace(records[n], body="{}")
            case 2:  # of another epoch
                epoch = self.before.epoch if self.before else "ff" * 16
                yield Events(epoch, tuple(records)), len(records)
            case 3:  # twice, and the first one after the last
                yield Events(self.epoch, tuple(records)), len(records)
                records.reverse()
            case 4:  # a wrong hash
                records[-1] = msgspec.structs.replace(records[-1], hash="0" * 64)
            case _:
                pass
        yield Events(self.epoch, tuple(records)), len(records)

    def others(self):
        """Yield the bytes of reports without records that are kept, and of what is no report."""
        dice = self.dice
        raw = json.loads(msgspec.json.encode(Events(self.epoch, (SentRecord(*self.rows[0]),))))
        raw["records"][0][dice.randrange(6)] = dice.choice(_STRANGE)
        yield report(records=raw)
        yield dice.choice(
            (b"", b"\xff\xfe{", b"null", b"[" * 100_000, b'{"new":1}', b"\0" * 10_000, dice.randbytes(64))
        )
        yield b'{"since":"x","view":' + dice.choice(
            (b'{"a":' * 50_000, b"[" * 100_000 + b"]" * 100_000 + b"}", b"NaN}")
        )
        yield report(health={"t": 1e308, "machine": {}, "link": dice.choice(_STRANGE)})
        yield report(**{dice.choice(("new", "since", "state", "mark", "reply", "name")): dice.choice(_STRANGE)})
        yield report(name="\x1b[2J\u202eTable")
        yield report(reply={"order": "a" * 16 + "-1", "taken": False, "why": "\x1b[2J" + "w" * 300})


def report(**parts):
    """Return the bytes of a report with these parts, whatever they are."""
    return json.dumps({"since": "x", **parts}).encode()


def strange_view(view, dice):
    """Return a view with values that no program of this version shows; most have the right types."""
    raw = json.loads(msgspec.json.encode(view))
    for one in dice.sample(_VIEW.fields, dice.randrange(1, 4)):
        raw[one.encode_name] = fitting(one.type, dice) if dice.random() < 0.8 else dice.choice(_STRANGE)
    if dice.random() < 0.3:
        raw["game"] = "next_game"
    return json.dumps(raw).encode()


def patient(folder, table):
    """Return the client of `table`, which waits for an answer for a minute."""
    client = reach(folder, table)
    client.timeout = PATIENCE_S
    return client


async def post(client, table, body, **how):
    """Post `body` as `table` does; return the answer."""
    return await client.post(RECORDS_PATH.format(table=table), content=body, **how)


async def endless():
    """Yield a report of which the hub reads no more than the most it may have."""
    while True:
        yield b" " * 65536


async def attack(folder, view, records, seed):
    """Be the hostile table until it has sent so many records; return how often each status was answered."""
    dice, sent, statuses, before = random.Random(seed), 0, Counter(), None
    async with patient(folder, HOSTILE) as client:

        async def send(body, table=HOSTILE, **how):
            while True:
                status = (await post(client, table, body, **how)).status_code
                statuses[f"{status} of others" if table != HOSTILE else status] += 1
                if status != 429:  # it sends too much: again
                    return
                await asyncio.sleep(0.1)

        while sent < records:
            one = HostileGame(dice, before)
            one.fill(dice.randrange(1, 50))
            for message, count in one.messages():
                await send(report(records=json.loads(msgspec.json.encode(message))))
                sent += count
            for body in one.others():
                await send(body)
            await send(b'{"since":"x","view":' + strange_view(view, dice) + b"}")
            other, stolen = dice.choice(HONEST), Events(one.epoch, (SentRecord(*one.rows[0]),))
            body = report(records=json.loads(msgspec.json.encode(stolen)))
            await send(body, other)
            await send(body, other, headers=dice.choice(FORGED))
            before = one
        for body in (b" " * (MAX_MESSAGE_BYTES + 1), endless()):
            try:
                await send(body)
            except (httpx.NetworkError, httpx.RemoteProtocolError):  # it hangs up before all of it was sent
                statuses[413] += 1
    return statuses


async def be_honest(folder, name, facts, stop, times, kept):
    """Report a record, wait for its acknowledgement, and so on until `stop`; games follow each other."""
    games = [SentGame(epoch, len(rows)) for (table, epoch), rows in kept.items() if table == name]
    async with patient(folder, name) as client:

        async def ask(records):
            answer = await post(client, name, report(records=json.loads(msgspec.json.encode(records)), name=name))
            assert answer.status_code == 200, answer.text
            ack = decode(answer.content, HubAnswer).ack
            assert ack is not None
            assert not ack.refused, (name, ack)
            return ack

        while not stop.is_set():
            epoch = random.randbytes(16).hex()
            games = [*games[-4:], SentGame(epoch, len(facts))]
            head, rows = genesis(epoch), kept.setdefault((name, epoch), [])
            await ask(Hello(tuple(games)))
            for n, fact in enumerate(facts, 1):
                row = JournalRow(n, n, fact.t, fact.__struct_config__.tag, msgspec.json.encode(fact).decode())
                head = next_hash(head, row)
                rows.append(row._replace(hash=head))
                begun = time.monotonic()
                ack = await ask(Events(epoch, (SentRecord(*rows[-1]),)))
                assert (ack.epoch, ack.seq) == (epoch, n)
                times.append(time.monotonic() - begun)
                if stop.is_set():
                    break
                await asyncio.sleep(PAUSE_S)


async def hang(folder):
    """Send the head of a report and no more of it, until cancelled."""
    async with patient(folder, HOSTILE) as client:

        async def slow():
            yield b"{"
            await asyncio.Event().wait()

        await post(client, HOSTILE, slow())


def served(hub):
    """Return whether the hub's page is there, with all tables."""
    with urllib.request.urlopen(hub.page, timeout=PATIENCE_S) as page:
        text = page.read().decode()
    assert "\x1b" not in text
    assert "\u202e" not in text
    return all(name in text for name in HONEST)


async def run_attack(hub, facts, view, records, seed, kept):
    """Return the honest times, the statuses that the hostile table got in how long, and if the page was there."""
    times, stop = [], asyncio.Event()
    honest = asyncio.gather(*(be_honest(hub.folder, name, facts, stop, times, kept) for name in HONEST))
    hanging, begun = asyncio.create_task(hang(hub.folder)), time.monotonic()
    statuses = await attack(hub.folder, view, records, seed)
    seen, took = await asyncio.to_thread(served, hub), time.monotonic() - begun
    quiet = len(times)
    while len(times) < quiet + 2 * len(HONEST) and not honest.done():
        await asyncio.sleep(0.05)
    stop.set()
    await honest
    hanging.cancel()
    return sorted(times), statuses, took, seen


def planned(where):
    """Have a tournament whose first match is at the hostile table."""
    with Inbox(where) as inbox, TournamentLog(where) as log:
        director = Director(log, inbox)
        entered = d.Entered(tuple(d.Entry(team) for team in _TEAMS))
        plan = d.Planned("cup", options={"points": 2}, results="at_once", calling="director")
        for fact in (plan, entered, d.TeamsDrawn(order=_TEAMS), d.Assigned("W1-1", HOSTILE, "a" * 16)):
            director.decide(0.0, "Ann", fact)


def hostile(folder, records, seed=1, server=None):
    """Return the figures of an attack of so many records."""
    facts, views = played(folder, 200)
    hub = HubProcess(write_hub(folder / "hub", [HOSTILE, *HONEST], server and server.url))
    where, kept = store_of(hub.folder), {}
    planned(where)
    with closing(hub.start()):
        times, statuses, took, seen = asyncio.run(run_attack(hub, facts, views[-1], records, seed, kept))
        memory, lived = memory_mb(hub.process.pid), hub.process.poll() is None
        hub.kill()
        hub.start()  # with all of that in its store
        again = asyncio.run(run_attack(hub, facts, views[-1], 100, seed + 1, kept))
        lived, seen = lived and hub.process.poll() is None, seen and again[3]
    with Inbox(where) as inbox:
        held = {key: list(inbox.rows(*key)) for key in kept}
    return {
        "records": records,
        "statuses": {str(status): count for status, count in sorted(statuses.items(), key=str)},
        "store": "postgresql" if server else "sqlite",
        "seconds": round(took, 1),
        "hub_lived": lived,
        "page_served": seen,
        "honest_records": sum(map(len, kept.values())),
        "lost_or_changed": sum(held[key] != rows for key, rows in kept.items()),
        "ack_ms": {"p50": round(1000 * times[len(times) // 2], 1), "max": round(1000 * times[-1], 1)},
        "hub_mb": memory,
        "tracebacks": hub.log.count("Traceback"),
    }


def good(figures):
    """Return whether the hub ran through, lost nothing, took nothing for others and had no fault."""
    statuses = figures["statuses"]
    forged = {key for key in statuses if key.endswith("others")} == {"401 of others"}
    well = forged and "413" in statuses and not any(key.startswith("5") for key in statuses)
    return figures["hub_lived"] and figures["page_served"] and well and not figures["lost_or_changed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server_of(args.store) as server:
        figures = hostile(Path(folder), args.records, args.seed, server)
        if figures["tracebacks"] or not good(figures):
            print((Path(folder) / "hub/log").read_text()[-20_000:], file=sys.stderr)
    print(json.dumps(figures))
    return 0 if good(figures) and figures["ack_ms"]["max"] <= 1000 * MAX_ACK_S else 1


if __name__ == "__main__":
    sys.exit(main())
