// The emulated board in lock step with a Python program: one JSON object a line in, one a line out, bytes in base64.
'use strict';
const fs = require('fs');
const readline = require('readline');
const { Board } = require('./board.cjs');
const { wire } = require('./chips.cjs');

const FILES = { at: 0xa0000, size: 352 * 4096 }; // where MicroPython's RPI_PICO keeps its file system

let board, chips;
const bytes = (text) => Buffer.from(text, 'base64');

const changes = {
  open: (on) => (on ? board.usb.open() : board.usb.close()),
  reads: (on) => board.usb.read(on),
  signal: (name) => board.adc.signal(name),
  power: () => { for (const chip of [...board.bus.chips.values(), ...chips.magnetometers]) chip.reset(); board.resets.power(); },
  run_pin: () => board.resets.run(),
  scratch: ([n, value]) => { board.resets.dog.scratchData[n] = value; },
  hang: () => { board.hung = true; },
  hold_sda: (clocks) => board.bus.hold(clocks),
  silence: (address) => board.bus.silent.add(address),
  answer: (address) => { board.bus.chips.get(address).reset(); board.bus.silent.delete(address); },
  remove_magnetometer: (n) => { chips.magnetometers[n].present = false; },
  replace_magnetometer: (n) => { chips.magnetometers[n].reset(); chips.magnetometers[n].present = true; },
  magnetometer_counts: ([n, counts]) => { chips.magnetometers[n].counts = counts; },
};

const orders = {
  power_on({ files, chips: kinds, ...options }) {
    board = new Board(options);
    board.flash.bytes.set(bytes(files), FILES.at);
    chips = wire(board, kinds);
    return {};
  },
  run({ us, send, samples, touch, fields }) {
    if (samples) {
      const data = bytes(samples.data);
      board.adc.play(samples.first_us, new Uint16Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length)));
    }
    if (touch) chips.strips.counts = touch;
    if (fields) fields.forEach((counts, n) => { chips.magnetometers[n].counts = counts; });
    if (send) board.usb.send(bytes(send));
    board.run(us);
    return { us: board.us, data: board.usb.take().toString('base64') };
  },
  change({ what, value }) {
    changes[what](value);
    return {};
  },
  state() {
    const { passes } = board.resets;
    board.resets.passes = [];
    return {
      passes,
      log: board.log,
      starts: 1 + board.resets.count,
      scratch: [...board.resets.dog.scratchData],
      frames: board.strip.shown(),
      odd_pulses: board.strip.odd,
      complaints: board.bus.complaints,
      transfers: board.bus.transfers,
      unanswered: board.bus.unanswered,
      instructions: board.instructions,
      cpu_s: process.cpuUsage().user / 1e6,
    };
  },
  files: () => ({ data: Buffer.from(board.flash.bytes.subarray(FILES.at, FILES.at + FILES.size)).toString('base64') }),
};

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const order = JSON.parse(line);
  let answer;
  try {
    answer = orders[order.do](order);
  } catch (error) {
    answer = { error: String(error.stack) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
});
