// Tells the installation that this page is there: on its own screen a page that does not is started anew.
// @ts-check
const HERE_MS = 10_000;
let sentMs = -Infinity;

/** Tell it, at most every ten seconds: by a timer, and when something came, as a browser that is too slow starves timers. */
export function tellHere() {
  if (performance.now() - sentMs < HERE_MS) return;
  sentMs = performance.now();
  fetch("/here", { cache: "no-store" }).catch(() => {});
}
setInterval(tellHere, HERE_MS / 2);
tellHere();
