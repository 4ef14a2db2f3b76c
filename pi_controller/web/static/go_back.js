// Goes back to the page everybody sees when nobody touches this one any more: it may stand on a screen of visitors.
// @ts-check
const LOOK_MS = 1_000;

/** Go to "/" after `seconds` without a touch or a key, 0 for never, and only to a page that answers; `first` is done before. */
export function goBack(/** @type {number} */ seconds, /** @type {() => Promise<unknown>} */ first = async () => {}) {
  if (!seconds) return;
  let touched = performance.now();
  let going = false;
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => (touched = performance.now()));
  setInterval(async () => {
    if (going || performance.now() - touched < seconds * 1000) return;
    going = true;
    try {
      await first();
      const answer = await fetch("/", { method: "HEAD" });
      if (answer.ok) location.replace("/");
    } catch {
      // it is tried again
    }
    going = false;
  }, LOOK_MS);
}
