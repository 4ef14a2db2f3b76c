// Tells the installation that this page is there: on its own screen a page that does not is started anew.
// @ts-check
const HERE_MS = 10_000;

export function tellHere() {
  const tell = () => fetch("/here", { cache: "no-store" }).catch(() => {});
  setInterval(tell, HERE_MS);
  tell();
}
