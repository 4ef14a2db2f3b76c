// A USB host at the pace of a full speed bus: it enumerates the board, opens and closes its serial port (DTR), and takes
// and gives bulk packets; it may stop reading. Start of frame comes each millisecond.
'use strict';

const PACKET_NS = 53_000; // 19 bulk packets of 64 bytes fit into a frame of 1 ms
const CONTROL_NS = 20_000, STEP_NS = 500_000, CONNECT_NS = 3e6, FRAME_NS = 1e6;
const PACKET = 64;
const AVAILABLE = 1 << 10, FULL = 1 << 15, BOTH = 0x10001, LENGTH = 0x3ff; // of a buffer's control word
const FIRST_BUFFER = 0x80, CONTROL_BUFFER = 0x100;
const SOF_READ = 0x48, SOF = 1 << 17;
const SETUP = {
  address: [0x00, 5, 1, 0, 0, 0, 0, 0],
  describe: [0x80, 6, 0, 2, 0, 0, 255, 0],
  configure: [0x00, 9, 1, 0, 0, 0, 0, 0],
  lines: (dtr) => [0x21, 0x22, dtr ? 3 : 0, 0, 0, 0, 0, 0],
};

class UsbHost {
  constructor(board) {
    this.board = board;
    this.fromBoard = [];
    this.toBoard = [];
    this.isOpen = false;
    this.reads = true;
    this.connected = false;
  }

  open() { this.isOpen = true; if (this.connected) this.setup(SETUP.lines(true)); this.kick(); }
  close() { this.isOpen = false; if (this.connected) this.setup(SETUP.lines(false)); }
  read(on) { this.reads = on; this.kick(); }
  send(bytes) { for (const byte of bytes) this.toBoard.push(byte); this.kick(); }
  take() { const all = Buffer.concat(this.fromBoard); this.fromBoard = []; return all; }

  connect(chip) {
    const usb = (this.usb = chip.usbCtrl), { clock } = chip;
    this.memory = chip.usbDPRAM;
    this.words = chip.usbDPRAMView;
    this.connected = false;
    this.toBoard = []; // what was on its way to the board is gone with it
    this.waitingIn = 0; // packets that the board holds ready
    this.waitingOut = false; // whether the board has room for one
    this.inEndpoint = this.outEndpoint = -1;
    this.configuration = [];
    this.step = 0;
    this.fetchControl = clock.createAlarm(() => this.fetch(0));
    this.fetchBulk = clock.createAlarm(() => this.fetch(this.inEndpoint));
    this.giveBulk = clock.createAlarm(() => this.give());
    this.giveControl = clock.createAlarm(() => this.put(0, []));
    this.nextStep = clock.createAlarm(() => this.enumerate());
    usb.DPRAMUpdated = (offset, value) => this.bufferChanged(offset, value);
    usb.onUSBEnabled = () => usb.resetDevice();
    usb.onResetReceived = () => { this.step = 0; this.configuration = []; this.nextStep.schedule(CONNECT_NS); };
    this.startFrames(clock, usb);
  }

  startFrames(clock, usb) {
    const read = usb.readUint32.bind(usb);
    usb.readUint32 = (offset) => {
      if (offset !== SOF_READ) return read(offset);
      usb.intRaw &= ~SOF;
      usb.checkInterrupts();
      return Math.floor(clock.nanosCounter / FRAME_NS) & 0x7ff;
    };
    const frame = clock.createAlarm(() => {
      if (usb.intEnable & SOF) { usb.intRaw |= SOF; usb.checkInterrupts(); }
      frame.schedule(FRAME_NS);
    });
    frame.schedule(FRAME_NS);
  }

  setup(bytes) { this.usb.sendSetupPacket(Uint8Array.from(bytes)); }

  enumerate() {
    this.step++;
    if (this.step === 1) this.setup(SETUP.address);
    else if (this.step === 2) this.setup(SETUP.describe);
    else if (this.step === 3) this.setup(SETUP.configure);
    else if (this.step === 4) {
      this.connected = true;
      if (this.isOpen) this.setup(SETUP.lines(true));
    }
  }

  bufferChanged(offset, value) {
    if (offset < FIRST_BUFFER || offset > 0xfc || !(value & AVAILABLE)) return;
    const endpoint = (offset - FIRST_BUFFER) >> 3, out = !!(offset & 4);
    if (endpoint === 0) (out ? this.giveControl : this.fetchControl).schedule(CONTROL_NS);
    else if (out && endpoint === this.outEndpoint) { this.waitingOut = true; this.kick(); }
    else if (!out && endpoint === this.inEndpoint) { this.waitingIn = (value >>> 16) & AVAILABLE ? 2 : 1; this.kick(); }
  }

  kick() { // the bus goes on wherever board and host are ready
    if (this.waitingOut && this.toBoard.length) {
      this.giveBulk.schedule(PACKET_NS);
      this.waitingOut = false;
    }
    if (this.waitingIn && this.isOpen && this.reads) {
      this.fetchBulk.schedule(PACKET_NS * this.waitingIn);
      this.waitingIn = 0;
    }
  }

  control(endpoint, out) { return endpoint ? this.words.getUint32(8 * endpoint + (out ? 4 : 0), true) : 0; }
  buffer(endpoint, out) { return endpoint ? this.control(endpoint, out) & 0xffc0 : CONTROL_BUFFER; }
  register(endpoint, out) { return FIRST_BUFFER + 8 * endpoint + (out ? 4 : 0); }

  done(endpoint, out) {
    this.usb.buffStatus |= 1 << (2 * endpoint + (out ? 1 : 0));
    this.usb.buffStatusUpdated();
  }

  fetch(endpoint) { // the host takes what an endpoint holds, one buffer or two
    const at = this.register(endpoint, false), value = this.words.getUint32(at, true), from = this.buffer(endpoint, false);
    const packets = [this.memory.slice(from, from + (value & LENGTH))];
    if (endpoint && (this.control(endpoint, false) >>> 30) & 1 && (value >>> 16) & AVAILABLE) {
      packets.push(this.memory.slice(from + PACKET, from + PACKET + ((value >>> 16) & LENGTH)));
    }
    this.words.setUint32(at, value & ~((AVAILABLE | FULL) * BOTH), true);
    this.done(endpoint, false);
    for (const packet of packets) {
      if (endpoint === 0) this.controlCame(packet);
      else if (packet.length) this.fromBoard.push(Buffer.from(packet));
    }
  }

  put(endpoint, bytes) { // the host fills an endpoint's buffer
    this.memory.set(bytes, this.buffer(endpoint, true));
    const at = this.register(endpoint, true), value = this.words.getUint32(at, true);
    this.words.setUint32(at, (value & ~(LENGTH | AVAILABLE)) | FULL | bytes.length, true);
    this.done(endpoint, true);
  }

  give() {
    this.put(this.outEndpoint, this.toBoard.splice(0, PACKET));
  }

  controlCame(packet) {
    if (!packet.length) {
      if (this.step === 1 || this.step === 3) this.nextStep.schedule(STEP_NS);
      return;
    }
    if (this.step !== 2) return;
    const bytes = this.configuration;
    bytes.push(...packet);
    if (bytes.length < (bytes[2] | (bytes[3] << 8))) return;
    for (let at = 0; at < bytes.length; at += bytes[at]) {
      const isEndpoint = bytes[at + 1] === 5, isBulk = (bytes[at + 3] & 3) === 2;
      if (!isEndpoint || !isBulk) continue;
      if (bytes[at + 2] & 0x80) this.inEndpoint = bytes[at + 2] & 15;
      else this.outEndpoint = bytes[at + 2];
    }
    this.nextStep.schedule(STEP_NS);
  }
}

module.exports = { UsbHost };
