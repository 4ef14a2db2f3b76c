// The seals that this device saw before they were opened, kept on it alone: its own witness for the check of a seal.
// @ts-check

const KEY = "moccasin-mat seals";
const KEPT = 99; // more hides than a game has

/** Return the seals seen, newest last, with when (milliseconds since 1970). A device that keeps nothing has seen none. */
function all() {
  try {
    /** @type {[string, number][]} */
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** Keep `seal`, which is not yet opened, unless it is known already. */
export function remember(/** @type {string} */ seal) {
  const kept = all();
  if (kept.some(([one]) => one === seal)) return;
  try {
    localStorage.setItem(KEY, JSON.stringify([...kept, [seal, Date.now()]].slice(-KEPT)));
  } catch {
    // private windows may refuse: then this device is no witness, and the check says so
  }
}

/** Return when this device first saw `seal` unopened (milliseconds since 1970), or undefined. */
export function seen(/** @type {string} */ seal) {
  return all().find(([one]) => one === seal)?.[1];
}
