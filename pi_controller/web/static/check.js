// Checks an opened commitment: the place and the nonce must give the hash that was shown before the hit.
// @ts-check
import { seen } from "./seals.js";
import { sha256 } from "./sha256.js";

const DOMAIN = "moccasin-mat/bead/2";

/** Return the commitment (64 hex digits) to these values; `nonce` is 64 hex digits. */
export function commitment(
  /** @type {{table: string, epoch: string, event: string}} */ { table, epoch, event },
  /** @type {string} */ game,
  /** @type {string} */ hide,
  /** @type {string} */ pad,
  /** @type {string} */ nonce,
) {
  const head = new TextEncoder().encode(`${DOMAIN}|${table}|${epoch}|${event}|${game}|${hide}|${pad}|`);
  const raw = (nonce.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  return sha256(Uint8Array.from([...head, ...raw]));
}

const HEX = /^[0-9a-f]{64}$/;
const EPOCH = /^[0-9a-f]{32}$/;
const NUMBER = /^[1-9][0-9]{0,8}$/;

/** Return the value of a field as it is hashed: without spaces (often copied by mistake) and in lower case; names unchanged. */
function value(/** @type {string} */ name) {
  const field = /** @type {HTMLInputElement | HTMLSelectElement} */ (document.getElementById(name));
  return name === "table" ? field.value : field.value.replace(/\s+/g, "").toLowerCase();
}

/** Show one of the page's verdicts: match, differ, or the field that is not filled in. */
function tell(/** @type {string} */ which) {
  const place = /** @type {HTMLElement} */ (document.getElementById("verdict"));
  place.dataset.value = which;
  for (const one of place.children) one.toggleAttribute("hidden", one.getAttribute("data-verdict") !== which);
}

/** Show whether this device saw `seal` before it was opened; only for one that matches. */
function witness(/** @type {string} */ seal) {
  const place = /** @type {HTMLElement} */ (document.getElementById("witness"));
  const since = seal && seen(seal);
  for (const one of place.children) {
    one.toggleAttribute("hidden", !seal || (one.getAttribute("data-witness") === "seen") !== Boolean(since));
    const time = one.querySelector("time");
    if (time && since) time.textContent = new Date(since).toLocaleString(document.documentElement.lang);
  }
}

/** Check the values; `asked` by the visitor, who is led to the answer or to the field that is wrong. */
function check(asked = true) {
  witness("");
  const wrong = [
    ["epoch", EPOCH],
    ["event", NUMBER],
    ["hide", NUMBER],
    ["pad", NUMBER],
    ["nonce", HEX],
    ["hash", HEX],
  ].find(([name, form]) => !(/** @type {RegExp} */ (form).test(value(/** @type {string} */ (name)))));
  for (const name of ["epoch", "event", "hide", "pad", "nonce", "hash"]) {
    document.getElementById(name)?.setAttribute("aria-invalid", String(wrong?.[0] === name));
  }
  if (wrong) {
    tell(`bad_${wrong[0]}`);
    return asked ? document.getElementById(/** @type {string} */ (wrong[0]))?.focus() : undefined;
  }
  const bound = { table: value("table"), epoch: value("epoch"), event: value("event") };
  const made = commitment(bound, value("game"), value("hide"), value("pad"), value("nonce"));
  tell(made === value("hash") ? "match" : "differ");
  if (made === value("hash")) witness(made);
  if (asked) document.getElementById("verdict")?.scrollIntoView({ block: "nearest" });
}

const button = document.getElementById("check");
if (button instanceof HTMLButtonElement) {
  button.addEventListener("click", () => check());
  addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement) check();
  });
  button.disabled = false;
  if (value("nonce")) check(false); // the last opened seal: the answer is there at once
}
