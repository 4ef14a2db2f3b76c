"""The faults of the link, each done to a game on the real firmware: `FAULTS` has them by name."""

from board_faults import parse_fault
from fault_stopped import settings_for
from killed_table import TableProcess

from pi_controller.simulation.board import POWER_ON

FAULTS = {}
"""Name -> what does it: takes a `Lab`, returns nothing or what else is to be told."""


def fault(name):
    """Put what does the fault `name` among `FAULTS`."""

    def keep(do):
        FAULTS[name] = do
        return do

    return keep


def hiding(lab):
    """Whether the hider's hand is under a pad, in the second hide or later."""
    return lab.view.phase == "hide" and lab.view.hide >= 2 and lab.cable.world.hands["hider"].pad is not None


def hitting(lab):
    """Whether a first hit is owed, in the second hide or later."""
    return lab.view.phase == "hit" and lab.view.hide >= 2 and lab.view.question is None


def away(lab, seconds, serial=None):
    """The cable is out for so long, from now on."""
    lab.wait(seconds)
    lab.cable.plug(serial)
    lab.end()


@fault("unplugged in mid-hide, 3 s")
def mid_hide(lab):
    lab.until(hiding)
    lab.begin()
    lab.cable.unplug()
    away(lab, 3.0)


@fault("unplugged in mid-frame, 2 s")
def mid_frame(lab):
    lab.until(hitting)
    lab.cable.cut()
    lab.tick()
    lab.begin()
    away(lab, 2.0)
    assert lab.cable.cut_frames == 1


def struck_with_the_cable_cut(lab, after):
    """The cable is pulled in the next stroke: the host gets `after` bytes of the 32 ms in which it begins."""
    struck = []
    lab.on_stroke = lambda: (struck.append(lab.t), lab.cable.cut(after))
    lab.until(lambda lab: struck)
    lab.begin()
    away(lab, 2.0)


@fault("another name after replugging, 2 s")
def renamed(lab):
    lab.until(hitting)
    lab.begin()
    lab.cable.unplug()
    away(lab, 2.0, serial="e6617777")


@fault("bit errors 1e-4, 20 s")
def bit_errors(lab):
    lab.until(hiding)
    lab.begin()
    lab.cable.set_error_rates(bit_errors=1e-4)
    lab.wait(20.0)
    lab.cable.set_error_rates()


@fault("1 byte in 10,000 lost, 20 s")
def lost_bytes(lab):
    lab.until(hiding)
    lab.begin()
    lab.cable.set_error_rates(byte_loss=1e-4)
    lab.wait(20.0)
    lab.cable.set_error_rates()


@fault("the cable stalls, 5 s")
def stalled(lab):
    lab.until(hitting)
    lab.begin()
    lab.cable.stall()
    lab.wait(5.0)
    lab.cable.flow()
    lab.end()


@fault("the board's watchdog resets it")
def watchdog(lab):
    lab.until(hitting)
    lab.begin()
    lab.cable.reset_board()
    lab.end()


@fault("firmware of another major")
def other_major(lab):
    lab.until(hiding)
    lab.begin()
    lab.cable.unplug()
    lab.cable.faults.append(parse_fault("wrong-protocol"))
    away(lab, 1.0)


@fault("the I2C bus hangs, 10 s")
def bus_stuck(lab):
    lab.until(hiding)
    lab.begin()
    lab.cable.break_board(hang_the_bus)
    lab.wait(10.0)
    lab.cable.mend_board()
    lab.end()


def hang_the_bus(board):
    """Make every chip on `board`'s I2C bus silent."""

    def touch(buf):
        board.i2c_errors += 1
        return False

    def magnet(i, buf, at):
        board.i2c_errors += 1
        return False

    board.touch, board.magnet = touch, magnet


@fault("a second daemon on the port")
def second_daemon(lab):
    lab.until(hitting)
    lab.begin()
    second = TableProcess(settings_for(lab.folder, "second", lab.cable.device))
    second.start()
    try:
        for _ in range(60):
            view, sent = second.step(lab.t, 0)
            assert (view.link, sent) == (False, 0)
            lab.tick()
    finally:
        second.close()
    lab.end()
    return f"the second shows: {view.note}"


@fault("one magnetometer dies")
def dead_magnetometer(lab):
    lab.until(hiding)
    lab.begin()
    lab.cable.break_board(parse_fault("dead-magnetometer"))


@fault("one pad's ADC input at its rail")
def rail(lab):
    lab.until(hiding)
    lab.begin()
    lab.cable.break_board(parse_fault("rail-piezo"))


@fault("brown-outs, every 300 ms for 10 s")
def brown_out(lab):
    lab.until(hitting)
    lab.begin()
    for _ in range(33):
        lab.wait(0.25)
        lab.cable.unplug()  # USB goes with the power
        lab.wait(0.05)
        lab.cable.plug()
    lab.end()


@fault("restarts without hanging up, every 300 ms for 10 s")
def restarts(lab):
    lab.until(hitting)
    lab.begin()
    for _ in range(33):
        lab.wait(0.3)
        lab.cable.reset_board(POWER_ON)
    lab.end()


@fault("the host sleeps, 60 s")
def suspended(lab):
    lab.until(hitting)
    lab.begin()
    lab.suspend(60.0)
    lab.end()
