// Returns to the public page after a while without input: the device may be shared by visitors.
// @ts-check
const LOOK_MS = 1_000;

/** Go to "/" after `seconds` without a touch or a key, 0 for never, and only if the server answers; call `first` before. */
export function goBack(/** @type {number} */ seconds, /** @type {() => Promise<unknown>} */ first = async () => {}) {
  if (!seconds) return;
  let touched = performance.now();
  let going = false;
  for (const kind of ["pointerdown", "keydown", "input"]) addEventListener(kind, () => (touched = performance.now()));
  setInterval(async () => {
    if (going || performance.now() - touched < seconds * 1000) return;
    going = true;
    try {
      await first();
      const answer = await fetch("/", { method: "HEAD" });
      if (answer.ok) location.replace("/");
    } catch {
      // the next timer tries again
    }
    going = false;
  }, LOOK_MS);
}
