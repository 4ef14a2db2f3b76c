// A MicroPython prompt on standard input and output, as a board's USB port gives it: node repl.mjs MODULE FOLDER BOARD
//
// FOLDER is the flash: its files are the file system's, read when the interpreter starts and written after every
// command. BOARD is JSON: what the interpreter says it is, and how many blocks its file system has. Ctrl-D at the raw
// prompt starts the interpreter anew; machine.reset() ends the process with status 75.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { loadMicroPython } = await import(pathToFileURL(process.argv[2]).href);
const folder = process.argv[3];
const board = JSON.parse(process.argv[4]);
const RAW_PASTE = "\x05A\x01";

// what the WebAssembly build lacks, or says of itself, that a board has: put in the place of the built-in modules
const BOARD = `
import sys, os
def _board(sys, os, js):
    class Implementation:
        name = ${JSON.stringify(board.name)}
        version = (${board.version.join(", ")}, "")
        _machine = ${JSON.stringify(board.machine)}
    class Sys:
        implementation = Implementation
        platform = "rp2"
        def __getattr__(self, name):
            return getattr(sys, name)
    class Os:
        def __getattr__(self, name):
            return getattr(os, name)
        def stat(self, path):
            try:
                return os.stat(path)
            except OSError:
                raise OSError(2)  # a board's number of ENOENT; this build has another
        def statvfs(self, path):
            used = sum(-(-max(os.stat("/" + e[0])[6], 1) // 4096) for e in os.ilistdir("/") if e[1] == 0x8000)
            free = max(${board.blocks} - used, 0)
            return (4096, 4096, ${board.blocks}, free, free, 0, 0, 0, 0, 255)
    class Machine:
        def reset(self):
            js.boardReset()
    sys.modules.update({"sys": Sys(), "os": Os(), "machine": Machine()})
import js
_board(sys, os, js)
del _board, js, sys, os
`;

globalThis.boardReset = () => {
  keep();
  process.exit(75);
};

let micropython;
const kept = new Map();

async function start() {
  micropython = await loadMicroPython({
    heapsize: 2 * 1024 * 1024,
    stdout: (data) => process.stdout.write(data),
    linebuffer: false,
  });
  kept.clear();
  for (const name of readdirSync(folder)) {
    const data = readFileSync(join(folder, name));
    micropython.FS.writeFile("/" + name, data);
    kept.set(name, data);
  }
  micropython.runPython(BOARD);
}

function keep() {
  mkdirSync(folder, { recursive: true });
  const there = new Set();
  for (const name of micropython.FS.readdir("/")) {
    if (!micropython.FS.isFile(micropython.FS.stat("/" + name).mode)) continue;
    const data = Buffer.from(micropython.FS.readFile("/" + name));
    there.add(name);
    if (!kept.get(name)?.equals(data)) writeFileSync(join(folder, name), data);
    kept.set(name, data);
  }
  for (const name of [...kept.keys()].filter((name) => !there.has(name))) {
    rmSync(join(folder, name), { force: true });
    kept.delete(name);
  }
}

let raw = false;
let held = ""; // what was sent since the raw prompt, while it may still become the wish for raw paste; null after that

async function hear(byte) {
  if (!raw || held === null) return put(byte);
  held += String.fromCharCode(byte);
  if (held === RAW_PASTE) {
    // this build reads a raw paste without giving node the time to hear it; saying so, mpremote sends it plainly
    held = "";
    process.stdout.write("R\0");
  } else if (!RAW_PASTE.startsWith(held)) {
    const plain = held;
    held = null;
    for (const each of plain) await put(each.charCodeAt(0));
  }
}

async function put(byte) {
  const result = micropython.replProcessChar(byte);
  if (byte === 1) raw = true;
  if (byte === 2) raw = false;
  if (byte === 4) keep();
  if (byte === 1 || byte === 3 || byte === 4) held = "";
  if (result) {
    process.stdout.write("MPY: soft reboot\r\n");
    await start();
    await prompt();
  }
}

async function prompt() {
  micropython.replInit();
  if (raw) micropython.replProcessChar(1);
}

await start();
await prompt();
for await (const data of process.stdin) {
  for (const byte of data) await hear(byte);
}
