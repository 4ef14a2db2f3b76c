// The page where the head judge chooses what a card is for: shows the fields of the choice, and sends it.
// @ts-check
import { ask, sentence } from "./request.js";

const by = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const text = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (by(id));
const form = /** @type {HTMLFormElement} */ (by("choose"));
const { network = "", name = "" } = document.body.dataset;
let playing = false; // a game in progress may be interrupted

const chosen = (/** @type {string} */ group) => String(new FormData(form).get(group) ?? "");

/** True if the card moves to another network, where the hub of a gathering is. */
const moves = () => chosen("network") !== network || (network === "join" && text("name").value.trim() !== name);

function update() {
  const [use, kind] = [chosen("use"), chosen("network")];
  const gathering = use === "gathering";
  const shown = {
    "own-row": kind === "own" && network === "own",
    "name-row": kind === "join",
    "password-row": kind === "join",
    "country-row": kind === "own" || kind === "join",
    "code-row": gathering && !moves(),
    later: gathering && moves(),
  };
  for (const [id, on] of Object.entries(shown)) document.getElementById(id)?.toggleAttribute("hidden", !on);
}

/** Choose the country of the browser's language if none is chosen yet. */
function guessCountry() {
  const select = /** @type {HTMLSelectElement} */ (by("country"));
  const region = new Intl.Locale(navigator.language).region ?? "";
  if (!select.value && [...select.options].some((one) => one.value === region)) select.value = region;
}

function finish(/** @type {{ restarts: string, code_later: boolean, network: string, password: string }} */ done) {
  form.hidden = true;
  by("done").hidden = false;
  const soon = done.restarts === "machine" ? "This card starts again. That takes about a minute." : "The table starts again. That takes some seconds.";
  const next = done.code_later
    ? "Then join the new Wi-Fi with your phone, scan the code on the screen, and enter the code of the hub."
    : done.restarts === "machine" ? "Then scan the codes on its screen." : "";
  by("told").textContent = `Saved. ${soon} ${next}`.trim();
  by("own-told").hidden = !done.network;
  by("own-name").textContent = done.network;
  by("own-password").textContent = done.password;
  by("told").dataset.restarts = done.restarts;
}

async function send() {
  const [use, kind] = [chosen("use"), chosen("network")];
  /** @type {Record<string, unknown>} */
  const body = { use, network: kind, country: kind === "cable" ? "" : text("country").value };
  if (kind === "join") Object.assign(body, { name: text("name").value.trim(), password: text("password").value });
  if (use === "gathering" && !moves()) body.code = text("code").value.trim();
  if (playing) body.playing = true;
  by("save").setAttribute("aria-disabled", "true");
  by("trouble").textContent = "";
  const said = await ask("/judge/start/choose", body);
  if (said.ok) return finish(said);
  playing = said.error.code === "playing"; // the next touch confirms it
  by("trouble").textContent = sentence(said.error);
  by("save").setAttribute("aria-disabled", "false");
}

form.addEventListener("input", (event) => {
  // the hub is in another network than the card's own
  const join = /** @type {HTMLInputElement} */ (form.querySelector("[name=network][value=join]"));
  if (/** @type {HTMLInputElement} */ (event.target).value === "gathering" && chosen("network") === "own") join.checked = true;
  update();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (by("save").getAttribute("aria-disabled") !== "true") send();
});
guessCountry();
update();
by("save").setAttribute("aria-disabled", "false");
