// The sign-in page: a name and a PIN, typed, pasted, filled in by a password manager, or touched on the keypad.
// @ts-check
import { goBack } from "./go_back.js";
import { by, fill, say, set, words } from "./judge_page.js";
import { ask, sentence } from "./request.js";

const home = document.body.dataset.home ?? "/judge";

/** Initialise the page. */
function signIn() {
  const form = /** @type {HTMLFormElement} */ (by("sign-in"));
  const name = /** @type {HTMLInputElement} */ (by("name"));
  const pin = /** @type {HTMLInputElement} */ (by("pin"));
  const send = /** @type {HTMLButtonElement} */ (form.querySelector("[type=submit]"));
  const problem = by("problem");
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let waiting;
  // the keypad is on the page: a phone's own keyboard would cover it
  const keyboard = matchMedia("(hover: hover) and (pointer: fine)").matches;

  const names = [...form.querySelectorAll("[data-name]")];
  const mark = () => names.forEach((one) => set(one, "aria-pressed", String(one.getAttribute("data-name") === name.value)));
  for (const one of names) {
    one.addEventListener("click", () => {
      name.value = one.getAttribute("data-name") ?? "";
      mark();
      if (keyboard) pin.focus();
    });
  }
  name.addEventListener("input", mark);
  for (const key of form.querySelectorAll("[data-digit]")) {
    key.addEventListener("click", () => {
      pin.value += key.getAttribute("data-digit");
    });
  }
  by("erase").addEventListener("click", () => {
    pin.value = pin.value.slice(0, -1);
  });
  by("show").addEventListener("click", () => {
    const isHidden = pin.type === "password";
    pin.type = isHidden ? "text" : "password";
    by("show").setAttribute("aria-pressed", String(isHidden));
    say(by("show"), isHidden ? words.hide : words.show);
  });

  function wait(/** @type {string} */ what, /** @type {number} */ seconds) {
    const until = performance.now() + seconds * 1000;
    clearInterval(waiting);
    const tell = () => {
      const left = Math.ceil((until - performance.now()) / 1000);
      send.setAttribute("aria-disabled", String(left > 0));
      if (left <= 0) clearInterval(waiting);
      say(send, left > 0 ? `${left} s` : words.send);
    };
    say(problem, `${what} ${fill(words.wait, { n: seconds })}`);
    waiting = setInterval(tell, 500);
    tell();
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (send.getAttribute("aria-disabled") === "true") return;
    if (!name.value.trim() || !pin.value) return say(problem, words.both);
    say(problem, "");
    say(send, words.sending);
    const { error } = await ask(`${home}/sign-in`, { name: name.value.trim(), pin: pin.value });
    // the page that asked for the sign-in, such as the choice of a card
    if (!error) return location.replace(location.pathname.endsWith("/sign-in") ? home : location.pathname);
    say(send, words.send);
    if (error.code !== "away") {
      pin.value = "";
      if (keyboard) pin.focus();
    }
    if (error.wait_s) wait(sentence({ ...error, hint: "" }), error.wait_s);
    else say(problem, sentence(error));
  });
  goBack(Number(document.body.dataset.back ?? 0));
  mark();
  if (keyboard) (name.value ? pin : name).focus();
}

signIn();
