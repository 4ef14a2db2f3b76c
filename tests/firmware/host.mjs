// Runs one program under MicroPython's WebAssembly build: node host.mjs MODULE, the job as JSON on standard input.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { loadMicroPython } = await import(pathToFileURL(process.argv[2]).href);
const job = JSON.parse(readFileSync(0, "utf-8"));
const micropython = await loadMicroPython({
  heapsize: 16 * 1024 * 1024,
  stdout: (line) => process.stdout.write(line + "\n"),
  linebuffer: true,
});
for (const [name, hex] of Object.entries(job.files)) {
  micropython.FS.writeFile(name, Buffer.from(hex, "hex"));
}
try {
  micropython.runPython(job.code);
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
}
