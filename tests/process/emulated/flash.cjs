// The flash chip: the image it starts with, the boot ROM's routines that erase and program it (trapped, because rp2040js
// has no QSPI), and what it answers to commands (unique id, JEDEC id, status).
'use strict';
const fs = require('fs');

const BASE = 0x10000000;
const SIZE = 16 << 20;
const SECTOR = 4096, PAGE = 256;
const SECTOR_NS = 45e6, PAGE_NS = 700e3; // what erasing and programming take, typical of a W25Q16
const UNIQUE_ID = [0xe6, 0x60, 0x58, 0x38, 0x83, 0x72, 0x4a, 0x32];
const JEDEC_ID = [0, 0xef, 0x40, 0x15];
const BKPT = 0xbe00, BX_LR = 0x4770;
// routines of the boot ROM by their two letters: connect, exit XIP, erase, program, flush cache, enter XIP
const ROUTINES = { IF: 1, EX: 2, RE: 3, RP: 4, FC: 5, CX: 6 };
const COMMAND = { id: 0x4b, jedec: 0x9f, status2: 0x35 };

class Flash {
  constructor(board, uf2) {
    this.board = board;
    this.bytes = new Uint8Array(SIZE).fill(0xff);
    const blocks = fs.readFileSync(uf2);
    for (let at = 0; at < blocks.length; at += 512) {
      const address = blocks.readUInt32LE(at + 12), size = blocks.readUInt32LE(at + 16);
      this.bytes.set(blocks.subarray(at + 32, at + 32 + size), address - BASE);
    }
  }

  connect(chip) {
    chip.flash = this.bytes;
    chip.flash16 = new Uint16Array(this.bytes.buffer);
    chip.flashView = new DataView(this.bytes.buffer);
    this.trapRoutines(chip);
    this.answerCommands(chip);
  }

  trapRoutines(chip) {
    const rom = new DataView(chip.bootrom.buffer);
    for (let at = rom.getUint16(0x14, true); rom.getUint16(at, true); at += 4) {
      const name = String.fromCharCode(rom.getUint8(at), rom.getUint8(at + 1));
      if (name in ROUTINES) {
        const routine = rom.getUint16(at + 2, true) & ~1;
        rom.setUint16(routine, BKPT | ROUTINES[name], true);
        rom.setUint16(routine + 2, BX_LR, true);
      }
    }
    chip.onBreak = (code) => {
      const [first, second, count] = chip.core.registers;
      if (code === ROUTINES.RE) {
        this.bytes.fill(0xff, first, first + second);
        this.board.stalledNanos += second / SECTOR * SECTOR_NS;
      } else if (code === ROUTINES.RP) {
        for (let i = 0; i < count; i++) this.bytes[first + i] &= chip.readUint8(second + i);
        this.board.stalledNanos += count / PAGE * PAGE_NS;
      } else if (code < 1 || code > 6) this.board.note(`breakpoint ${code}`);
    };
  }

  answerCommands(chip) {
    const answers = [];
    let index = 0, command = 0, selected = false;
    const ssi = chip.peripherals[0x18000];
    const read = ssi.readUint32.bind(ssi), write = ssi.writeUint32.bind(ssi);
    ssi.readUint32 = (offset) => {
      if (offset === 0x28) return 0x06 | (answers.length ? 0x08 : 0); // SR: room to send, and whether there is an answer
      if (offset === 0x60) return answers.length ? answers.shift() : 0;
      return read(offset);
    };
    ssi.writeUint32 = (offset, value) => {
      if (offset !== 0x60) return write(offset, value);
      if (!selected && !answers.length) index = 0;
      if (index === 0) command = value & 255;
      let answer = 0;
      if (command === COMMAND.id && index >= 5) answer = UNIQUE_ID[(index - 5) & 7];
      if (command === COMMAND.jedec) answer = JEDEC_ID[index] || 0;
      if (command === COMMAND.status2 && index) answer = 2;
      index++;
      answers.push(answer);
    };
    const pins = chip.peripherals[0x40018], registers = new Uint32Array(64);
    pins.readUint32 = (offset) => registers[offset >> 2] || 0;
    pins.writeUint32 = (offset, value) => {
      registers[offset >> 2] = value;
      if (offset === 0x0c) { // the select pin's control: output override 2 is low
        selected = ((value >> 8) & 3) === 2;
        index = 0;
        if (selected) answers.length = 0;
      }
    };
  }
}

module.exports = { Flash };
