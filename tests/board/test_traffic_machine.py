"""Whatever the wire does: orders are done once and in order, events are heard once and in order, samples never overlap.

A state machine throws at a link what can happen to it: frames lost, flipped, doubled and torn both ways, the port
opened anew, the host gone for a while or for good, the board started anew. Then the wire is mended, and all must come
through.
"""

from board_rig import Rig
from cases import cases
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pi_controller.board import wire
from pi_controller.board.board_commands import BoardCommand
from pi_controller.board.board_strip import BoardStrip
from pi_controller.board.messages import BoardEvent, LinkUp, Piezo

colours = st.tuples(*[st.integers(0, 255)] * 3)
HARM = ("none", "lose", "flip", "double", "tear")


class Traffic(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 2**32 - 1))
    def begin(self, seed):
        self.rig = Rig(seed)
        self.boots = 1
        self.harm = {"out": "none", "back": "none"}
        self.rig.spoil = lambda data: self.spoil("back", data)
        self.rig.spoil_said = lambda data: self.spoil("out", data)
        self.strip = BoardStrip(69, self.rig.session)
        self.frame = [(0, 0, 0)] * 69
        self.given, self.results, self.done = 0, {}, []
        self.heard = {}
        self.lost = 0
        self.rig.session.start(self.rig.t)
        self.watch_the_board()

    def spoil(self, way, data):
        random, harm = self.rig.random, self.harm[way]
        if harm == "none":
            return data
        out = []
        for frame in (part + b"\0" for part in data.split(b"\0")[:-1]):
            chance = random.random()
            if chance > 0.4:
                out.append(frame)
            elif harm == "double":
                out.append(frame * 2)
            elif harm == "flip":
                at = random.randrange(len(frame))
                out.append(frame[:at] + bytes([frame[at] ^ 1 << random.randrange(8)]) + frame[at + 1 :])
            elif harm == "tear":
                out.append(frame[: random.randrange(len(frame))])
        return b"".join(out)

    def watch_the_board(self):
        paint = self.rig.board.paint

        def watched(first, colours):
            if first == 68 and colours[:1] == b"\xee":  # an order of ours: its number stands in the colour
                self.done.append(colours[1] << 8 | colours[2])
            paint(first, colours)

        self.rig.board.paint = watched

    def go(self, seconds):
        for message in self.rig.run(seconds):
            if isinstance(message, LinkUp):
                self.boot = message.boot_count
            elif isinstance(message, BoardEvent):
                self.heard.setdefault(self.boot, []).append(message)
                self.lost += message.lost
            elif isinstance(message, Piezo):
                assert message.samples.shape == (32, 4)

    @rule(way=st.sampled_from(("out", "back")), harm=st.sampled_from(HARM))
    def the_wire_changes(self, way, harm):
        self.harm[way] = harm

    @rule(seconds=st.floats(0.01, 1.5))
    def time_passes(self, seconds):
        self.go(seconds)

    @rule(count=st.integers(1, 6))
    def orders_are_given(self, count):
        for _ in range(count):
            self.given += 1
            number = self.given
            runs = bytes((68, 0x81, 0xEE, number >> 8, number & 255))
            self.rig.session.commands.enqueue(
                BoardCommand(
                    lambda n, runs=runs: wire.lights_body(n, runs), lambda r, k=number: self.results.update({k: r})
                )
            )

    @rule(at=st.integers(0, 60), some=st.lists(colours, min_size=1, max_size=8))
    def the_lights_change(self, at, some):
        self.frame = [*self.frame[:at], *some, *self.frame[at + len(some) :]]
        self.strip.show([*self.frame[:68], (0, 0, 0)])

    @rule(count=st.integers(1, 40))
    def things_happen_on_the_board(self, count):
        for _ in range(count):
            self.rig.sampler.add_event(wire.LATE, 0, 1)

    @rule(seconds=st.sampled_from((0.1, 1.2, 4.0)))
    def the_cable_is_out(self, seconds):
        self.rig.plugged = False
        self.go(seconds)
        self.rig.plugged = True

    @rule()
    def the_port_is_opened_anew(self):
        self.rig.session.report_port_loss(self.rig.t, "Unplugged.")
        self.rig.session.start(self.rig.t)

    @rule()
    def the_board_starts_anew(self):
        self.boots += 1
        self.rig.power_up(self.boots)
        self.watch_the_board()

    @invariant()
    def orders_are_done_once_and_in_order(self):
        assert self.done == sorted(set(self.done))
        # what the host was told is done was done; what it gave up may have been
        assert {k for k, result in self.results.items() if result == wire.OBEYED} <= set(self.done)
        assert wire.REFUSED not in self.results.values()

    @invariant()
    def events_are_heard_once_and_in_order(self):
        for heard in self.heard.values():
            numbers = [event.number for event in heard]
            assert numbers == sorted(set(numbers))

    def teardown(self):
        if not hasattr(self, "rig"):
            return
        self.harm = {"out": "none", "back": "none"}
        self.go(8.0)
        session, board = self.rig.session, self.rig.sampler
        assert session.up
        assert set(self.results) == set(range(1, self.given + 1))
        assert board.events.confirmed == board.events.newest
        heard = [event.number for event in self.heard[self.boots]]
        # every number of this start is heard or known to be lost
        assert heard[-1] == board.events.newest
        lost = sum(event.lost for event in self.heard[self.boots])
        assert lost == board.events.newest - len(heard)
        self.the_lights_change(0, [(1, 2, 3)])
        self.go(1.0)
        assert self.rig.board.strip[:68] == self.strip.wanted[:68]
        self.orders_are_done_once_and_in_order()
        self.events_are_heard_once_and_in_order()


TestTraffic = Traffic.TestCase
TestTraffic.settings = settings(max_examples=cases(8, 40), stateful_step_count=20, deadline=None)
