// The Cortex-M0+ of rp2040js, some times faster than its own `executeInstruction` and cycle for cycle the same, with what a
// miss of the RP2040's flash cache costs (16 kB, 2 ways of 8 bytes). Program counter, flags and time are local variables
// of the loop, so what touches memory is written out in it: @NAME(...) below stands for the text that MACROS gives.
'use strict';

const DUE = 'due = clock.nextAlarm !== null && clock.nextAlarm.nanos < stop ? clock.nextAlarm.nanos : stop;';
const OUT = 'core.N = nz < 0; core.Z = nz === 0; core.C = C !== 0; core.V = V !== 0; R[15] = pc; clock.nanosCounter = t;';
const BACK = 'nz = core.Z ? 0 : core.N ? -1 : 1; C = core.C ? 1 : 0; V = core.V ? 1 : 0; pc = R[15]; t = clock.nanosCounter; ' + DUE;
const COST = (n) => 'if (a >= 0x40000000) cycles += a < 0x50000000 ? ' + n + ' : a >= 0xd0000000 && a < 0xe0000000 ? 0 : 1; else cycles++;';
const LOAD = (bits, shift) => (target, sign) =>
  `if (a >= RAM && a < RAM_END && !(a & ${bits / 8 - 1})) ${target} = ram${bits}[(a - RAM) >>> ${shift}]${sign};` +
  `else if (a >= ROM && a < ROM_END && !(a & ${bits / 8 - 1})) { if (tags !== null) extra += line(tags, a, miss); ${target} = rom${bits}[(a - ROM) >>> ${shift}]${sign}; }` +
  `else { clock.nanosCounter = t; ${target} = chip.readUint${bits}(a)${sign}; ${DUE} }`;
const STORE = (bits, shift) => (value) =>
  `if (a >= RAM && a < RAM_END && !(a & ${bits / 8 - 1})) ram${bits}[(a - RAM) >>> ${shift}] = ${value};` +
  `else { clock.nanosCounter = t; chip.writeUint${bits}(a, ${value}); ${DUE} }`;
const MACROS = {
  OUT: () => OUT, BACK: () => BACK,
  LD: () => COST(3), ST: () => COST(4),
  R32: (target) => LOAD(32, 2)(target, ''), R16: (target) => LOAD(16, 1)(target, ''), R8: (target) => LOAD(8, 0)(target, ''),
  R16S: (target) => LOAD(16, 1)(target, ' << 16 >> 16'), R8S: (target) => LOAD(8, 0)(target, ' << 24 >> 24'),
  W32: STORE(32, 2), W16: STORE(16, 1), W8: STORE(8, 0),
  // a first operand in x, a second in y, both unsigned
  ADD: (target, carry) => `{ const sum = x + y + ${carry || 0}, r = sum | 0; nz = r; C = sum > 0xffffffff ? 1 : 0; V = ((x ^ r) & (y ^ r)) < 0 ? 1 : 0; ${target ? target + ' = r;' : ''} }`,
  SUB: (target) => `{ const r = (x - y) | 0; nz = r; C = x >= y ? 1 : 0; V = ((x ^ y) & (x ^ r)) < 0 ? 1 : 0; ${target ? target + ' = r;' : ''} }`,
  ORIGINAL: () => 'pc = at; ' + OUT + ' cycles = core.executeInstruction(); ' + BACK,
};
const expand = (source) => source.replace(/@(\w+)\(([^()]*)\)/g, (_, name, list) => MACROS[name](...list.split(',').map((word) => word.trim())));

function line(tags, address, miss) { // flash: what it costs to have its line in the cache
  const n = address >>> 3, set = (n & 1023) * 2;
  if (tags[set] === n) return 0;
  if (tags[set + 1] === n) { tags[set + 1] = tags[set]; tags[set] = n; return 0; }
  tags[set + 1] = tags[set];
  tags[set] = n;
  return miss;
}

const BODY = `
  const chip = board.chip, cycleNanos = board.cycleNanos, core = chip.core, clock = chip.clock, R = core.registers;
  const { ram8, ram16, ram32, rom8, rom16, rom32 } = board.memory;
  const RAM = 0x20000000, RAM_END = 0x20042000, ROM = 0x10000000, ROM_END = 0x11000000;
  const tags = board.cacheTags, miss = board.options.missCycles;
  let t = 0, pc = 0, nz = 0, C = 0, V = 0, due = 0, steps = 0, lastLine = -1, extra = 0;
  t = clock.nanosCounter; @BACK()
  while (t < stop && !board.resetting && board.stalledNanos === 0) {
    if (core.interruptsUpdated) {
      @OUT()
      if (core.checkForInterrupts()) core.waiting = false;
      @BACK()
    }
    if (core.waiting) break;
    const at = (pc & ~1) >>> 0;
    let op = 0, cycles = 1, a = 0, n = 0;
    if (at >= ROM && at < ROM_END) {
      if (tags !== null && at >>> 3 !== lastLine) { lastLine = at >>> 3; extra += line(tags, at, miss); }
      op = rom16[(at - ROM) >>> 1];
    } else if (at >= RAM && at < RAM_END) op = ram16[(at - RAM) >>> 1];
    else op = chip.readUint16(at);
    pc = at + 2;
    steps++;
    switch (op >>> 11) {
      case 0: { // lsls imm
        const x = R[op >> 3 & 7]; n = op >> 6 & 31;
        if (n) C = x >>> (32 - n) & 1;
        R[op & 7] = nz = x << n;
        break;
      }
      case 1: { // lsrs imm
        const x = R[op >> 3 & 7]; n = op >> 6 & 31;
        C = x >>> (n ? n - 1 : 31) & 1;
        R[op & 7] = nz = n ? x >>> n | 0 : 0;
        break;
      }
      case 2: { // asrs imm
        const x = R[op >> 3 & 7] | 0; n = op >> 6 & 31;
        C = n ? x >> (n - 1) & 1 : x >>> 31;
        R[op & 7] = nz = n ? x >> n : x >> 31;
        break;
      }
      case 3: { // adds, subs: register or imm3
        const x = R[op >> 3 & 7], y = op & 0x400 ? op >> 6 & 7 : R[op >> 6 & 7];
        if (op & 0x200) @SUB(R[op & 7]) else @ADD(R[op & 7])
        break;
      }
      case 4: R[op >> 8 & 7] = nz = op & 255; break;
      case 5: { const x = R[op >> 8 & 7], y = op & 255; @SUB() break; }
      case 6: { const x = R[op >> 8 & 7], y = op & 255; @ADD(R[op >> 8 & 7]) break; }
      case 7: { const x = R[op >> 8 & 7], y = op & 255; @SUB(R[op >> 8 & 7]) break; }
      case 8:
        if (op < 0x4400) {
          const d = op & 7, x = R[d], y = R[op >> 3 & 7];
          switch (op >> 6 & 15) {
            case 0: R[d] = nz = x & y; break;
            case 1: R[d] = nz = x ^ y; break;
            case 2: n = y & 255; if (n) C = n > 32 ? 0 : x >>> (32 - n) & 1; R[d] = nz = n >= 32 ? 0 : x << n; break;
            case 3: n = y & 255; if (n) C = n > 32 ? 0 : x >>> (n - 1) & 1; R[d] = nz = n >= 32 ? 0 : x >>> n | 0; break;
            case 4: n = Math.min(y & 255, 32); if (n) C = (x | 0) >> Math.min(n - 1, 31) & 1; R[d] = nz = (x | 0) >> Math.min(n, 31); break;
            case 5: @ADD(R[d], C) break;
            case 6: { const z = y + 1 - C, r = (x - z) | 0; V = ((x ^ y) & (x ^ r)) < 0 ? 1 : 0; nz = r; C = x >= z ? 1 : 0; R[d] = r; break; }
            case 7: n = y & 255; if (n) { const r = x >>> (n & 31) | (n & 31 ? x << (32 - (n & 31)) : 0); R[d] = r; nz = r | 0; C = r >>> 31; } else nz = x | 0; break;
            case 8: nz = x & y; break;
            case 9: R[d] = nz = -y | 0; C = y === 0 ? 1 : 0; V = y === 0x80000000 ? 1 : 0; break;
            case 10: @SUB() break;
            case 11: @ADD() break;
            case 12: R[d] = nz = x | y; break;
            case 13: R[d] = nz = Math.imul(x, y); break;
            case 14: R[d] = nz = x & ~y; break;
            case 15: R[d] = nz = ~y; break;
          }
        } else if (op < 0x4700) {
          const m = op >> 3 & 15, d = op >> 4 & 8 | op & 7;
          const x = d === 15 ? pc + 2 : R[d], y = m === 15 ? pc + 2 : R[m];
          if ((op >> 8 & 3) === 1) @SUB()
          else {
            const value = op & 0x200 ? y : x + y;
            if (d === 15) { pc = (value & ~1) >>> 0; cycles++; } else R[d] = d === 13 ? value & ~3 : value;
          }
        } else { // bx, blx
          const to = R[op >> 3 & 15];
          cycles++;
          if (op & 0x80) { R[14] = pc | 1; pc = (to & ~1) >>> 0; }
          else if (to >>> 28 === 15) { @OUT() core.BXWritePC(to); @BACK() }
          else pc = (to & ~1) >>> 0;
        }
        break;
      case 9: a = (pc + 2 & ~3) + ((op & 255) << 2) >>> 0; cycles++; @R32(R[op >> 8 & 7]) break;
      case 10: case 11:
        a = R[op >> 3 & 7] + R[op >> 6 & 7] >>> 0;
        switch (op >> 9 & 7) {
          case 0: @ST() @W32(R[op & 7]) break;
          case 1: @ST() @W16(R[op & 7]) break;
          case 2: @ST() @W8(R[op & 7]) break;
          case 3: @LD() @R8S(R[op & 7]) break;
          case 4: @LD() @R32(R[op & 7]) break;
          case 5: @LD() @R16(R[op & 7]) break;
          case 6: @LD() @R8(R[op & 7]) break;
          case 7: @LD() @R16S(R[op & 7]) break;
        }
        break;
      case 12: a = R[op >> 3 & 7] + (op >> 4 & 0x7c) >>> 0; @ST() @W32(R[op & 7]) break;
      case 13: a = R[op >> 3 & 7] + (op >> 4 & 0x7c) >>> 0; @LD() @R32(R[op & 7]) break;
      case 14: a = R[op >> 3 & 7] + (op >> 6 & 31) >>> 0; @ST() @W8(R[op & 7]) break;
      case 15: a = R[op >> 3 & 7] + (op >> 6 & 31) >>> 0; @LD() @R8(R[op & 7]) break;
      case 16: a = R[op >> 3 & 7] + (op >> 5 & 0x3e) >>> 0; @ST() @W16(R[op & 7]) break;
      case 17: a = R[op >> 3 & 7] + (op >> 5 & 0x3e) >>> 0; @LD() @R16(R[op & 7]) break;
      case 18: a = R[13] + ((op & 255) << 2) >>> 0; @ST() @W32(R[op >> 8 & 7]) break;
      case 19: a = R[13] + ((op & 255) << 2) >>> 0; @LD() @R32(R[op >> 8 & 7]) break;
      case 20: R[op >> 8 & 7] = (at & ~3) + 4 + ((op & 255) << 2); break;
      case 21: R[op >> 8 & 7] = R[13] + ((op & 255) << 2); break;
      case 24: // stmia
        n = op >> 8 & 7; a = R[n];
        for (let i = 0; i < 8; i++) if (op >> i & 1) { @W32(R[i]) a += 4; cycles++; }
        if (!(op >> n & 1)) R[n] = a;
        break;
      case 25: // ldmia
        n = op >> 8 & 7; a = R[n];
        for (let i = 0; i < 8; i++) if (op >> i & 1) { @R32(R[i]) a += 4; cycles++; }
        if (!(op >> n & 1)) R[n] = a;
        break;
      case 26: case 27: { // b cond
        let yes = false;
        switch (op >> 9 & 7) {
          case 0: yes = nz === 0; break;
          case 1: yes = C !== 0; break;
          case 2: yes = nz < 0; break;
          case 3: yes = V !== 0; break;
          case 4: yes = C !== 0 && nz !== 0; break;
          case 5: yes = (nz < 0) === (V !== 0); break;
          case 6: yes = (nz < 0) === (V !== 0) && nz !== 0; break;
        }
        if ((op >> 9 & 7) === 7) { @ORIGINAL() break; } // svc, udf
        if (yes !== ((op & 0x100) !== 0)) { pc = pc + 2 + (op << 24 >> 23) >>> 0; cycles++; }
        break;
      }
      case 28: pc = pc + 2 + (op << 21 >> 20) >>> 0; cycles++; break;
      case 22: case 23: { // miscellaneous
        const kind = op >>> 8;
        if (kind === 0xb4 || kind === 0xb5) { // push
          for (let i = 0; i < 9; i++) n += op >> i & 1;
          a = R[13] - 4 * n;
          for (let i = 0; i < 8; i++) if (op >> i & 1) { @W32(R[i]) a += 4; cycles++; }
          if (op & 0x100) { @W32(R[14]) }
          R[13] -= 4 * n;
        } else if (kind === 0xbc || kind === 0xbd) { // pop
          a = R[13];
          for (let i = 0; i < 8; i++) if (op >> i & 1) { @R32(R[i]) a += 4; cycles++; }
          if (op & 0x100) {
            let to = 0;
            R[13] = a + 4;
            @R32(to)
            cycles += 2;
            if (to >>> 28 === 15) { @OUT() core.BXWritePC(to); @BACK() } else pc = (to & ~1) >>> 0;
          } else R[13] = a;
        } else if (kind === 0xb0) {
          if (op & 0x80) R[13] -= (op & 127) << 2; else R[13] += (op & 127) << 2;
        } else if (kind === 0xb2) {
          const x = R[op >> 3 & 7];
          switch (op >> 6 & 3) {
            case 0: R[op & 7] = x << 16 >> 16; break;
            case 1: R[op & 7] = x << 24 >> 24; break;
            case 2: R[op & 7] = x & 0xffff; break;
            case 3: R[op & 7] = x & 0xff; break;
          }
        } else { @ORIGINAL() } // the rest, rarely, by rp2040js itself
        break;
      }
      case 30: { // bl, or msr, mrs, barriers
        const next = at + 2, op2 = next >= ROM && next < ROM_END ? rom16[(next - ROM) >>> 1] : next >= RAM && next < RAM_END ? ram16[(next - RAM) >>> 1] : chip.readUint16(next);
        if ((op2 & 0xd000) === 0xd000) {
          const S = op >> 10 & 1, I1 = 1 - (S ^ op2 >> 13 & 1), I2 = 1 - (S ^ op2 >> 11 & 1);
          R[14] = pc + 2 | 1;
          pc = pc + 2 + ((S ? 0xff000000 : 0) | I1 << 23 | I2 << 22 | (op & 0x3ff) << 12 | (op2 & 0x7ff) << 1) >>> 0;
          cycles += 2;
        } else { @ORIGINAL() }
        break;
      }
      default: @ORIGINAL()
    }
    if (extra !== 0) { cycles += extra; extra = 0; }
    t += cycles * cycleNanos;
    if (t >= due && due < stop) { // as clock.tick: alarms at their time, then the end
      const end = t;
      @OUT()
      clock.nanosCounter = end - cycles * cycleNanos;
      clock.tick(cycles * cycleNanos);
      @BACK()
      lastLine = -1;
    }
  }
  @OUT()
  board.instructions += steps;
`;

const run = new Function('line', 'return function run(board, stop) {' + expand(BODY) + '}')(line);

module.exports = { run };
