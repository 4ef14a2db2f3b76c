// Why the chip starts: power, its RUN pin, or the watchdog, which bites or is asked to; and how long the passes of the
// mat's loop take, because each feeds the watchdog once.
'use strict';

const HAD_POWER = 1 << 8, HAD_RUN = 1 << 16; // of CHIP_RESET; a watchdog's reset leaves it alone
const LOAD = 0x04; // the watchdog's register that is written to feed it

class Resets {
  constructor(board) {
    this.board = board;
    this.count = 0;
    this.reason = 0; // the watchdog's register: 1 it bit, 2 a program asked for it, 0 after the chip's own reset
    this.chipReset = HAD_POWER;
    this.scratch = new Uint32Array(8);
    this.passes = []; // us
    this.fedNanos = 0;
  }

  connect(chip) {
    const dog = (this.dog = chip.peripherals[0x40058]);
    dog.reason = this.reason;
    dog.scratchData.set(this.scratch);
    dog.onWatchdogTrigger = () => {
      this.reason = dog.reason;
      this.board.resetting = true;
      dog.timer.enable = false; // else its alarm is due again at once, for ever
    };
    this.fedNanos = 0;
    const write = dog.writeUint32.bind(dog);
    dog.writeUint32 = (offset, value) => {
      if (offset === LOAD) {
        const now = this.board.nanos;
        if (this.fedNanos) this.passes.push(Math.round((now - this.fedNanos) / 1000));
        this.fedNanos = now;
      }
      write(offset, value);
    };
    const oscillator = memory(chip.peripherals[0x40060]), regulator = memory(chip.peripherals[0x40064]);
    oscillator[0x18 >> 2] = 0x80001000; // running
    regulator[0x08 >> 2] = this.chipReset;
  }

  apply() { // the watchdog's reset
    this.scratch.set(this.dog.scratchData);
    this.again(this.reason & 1 ? 'watchdog' : 'restart');
  }

  power() { this.ofChip(HAD_POWER, 'power'); }
  run() { this.ofChip(HAD_RUN, 'run pin'); }

  ofChip(why, text) {
    this.chipReset = why;
    this.reason = 0;
    this.scratch.fill(0);
    this.again(text);
  }

  again(text) {
    this.board.note(text);
    this.count++;
    this.board.restart();
  }
}

function memory(peripheral) { // registers that keep what is written
  const registers = new Uint32Array(64);
  peripheral.readUint32 = (offset) => registers[offset >> 2];
  peripheral.writeUint32 = (offset, value) => { registers[offset >> 2] = value; };
  return registers;
}

module.exports = { Resets };
