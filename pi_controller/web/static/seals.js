// The commitments that this device saw before they were opened, stored only here: its own evidence for the check page.
// @ts-check

const KEY = "moccasin-mat seals";
const KEPT = 99; // more hides than a game has

/** Return the seals seen, newest last, with their times (ms since 1970); empty if the device cannot store them. */
function all() {
  try {
    /** @type {[string, number][]} */
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** Store the unopened `seal` if it is new. */
export function remember(/** @type {string} */ seal) {
  const kept = all();
  if (kept.some(([one]) => one === seal)) return;
  try {
    localStorage.setItem(KEY, JSON.stringify([...kept, [seal, Date.now()]].slice(-KEPT)));
  } catch {
    // private windows may refuse: then the check page shows that this device has no evidence
  }
}

/** Return when this device first saw `seal` unopened (milliseconds since 1970), or undefined. */
export function seen(/** @type {string} */ seal) {
  return all().find(([one]) => one === seal)?.[1];
}
