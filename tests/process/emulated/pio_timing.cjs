// PIO in emulated time: rp2040js steps its state machines as fast as it can; here each step takes its cycles of the
// divided clock, and a joined FIFO is eight deep.
'use strict';

const CTRL = 0x00, FIRST = 0xc8, STRIDE = 0x18, SHIFTCTRL = 0x08;
const JOIN_TX = 30;

class PioTiming {
  constructor(board) { this.board = board; }

  connect(chip) {
    for (const pio of chip.pio) this.connectPio(chip.clock, pio);
  }

  connectPio(clock, pio) {
    const { cycleNanos } = this.board;
    pio.run = () => {};
    const runners = pio.machines.map((machine) => {
      const runner = { machine, idle: true };
      const period = () => (machine.clockDivInt + machine.clockDivFrac / 256) * cycleNanos;
      runner.alarm = clock.createAlarm(() => {
        if (!machine.enabled) { runner.idle = true; return; }
        const before = machine.cycles;
        machine.step();
        pio.checkChangedPins();
        if (machine.waiting) runner.idle = true;
        else runner.alarm.schedule((machine.cycles - before) * period());
      });
      const write = machine.writeFIFO.bind(machine);
      machine.writeFIFO = (value) => {
        write(value);
        if (runner.idle && machine.enabled && !machine.waiting) {
          runner.idle = false;
          runner.alarm.schedule((1 + Math.max(0, machine.waitDelay)) * period());
        }
      };
      return runner;
    });
    const write = pio.writeUint32.bind(pio);
    pio.writeUint32 = (offset, value) => {
      write(offset, value);
      for (const runner of runners) {
        const { machine } = runner;
        if (offset === CTRL && machine.enabled && runner.idle) {
          runner.idle = false;
          runner.alarm.schedule(cycleNanos);
        }
        if (offset === FIRST + STRIDE * machine.index + SHIFTCTRL) {
          const depth = (value >>> JOIN_TX) & 1 ? 8 : 4;
          if (machine.txFIFO.size !== depth) machine.txFIFO.buffer = new Uint32Array(depth);
        }
      }
      pio.checkChangedPins();
    };
  }
}

module.exports = { PioTiming };
