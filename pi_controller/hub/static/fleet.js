// The fleet's page: sends a test message to the webhook, and shows whether it was accepted.
// @ts-check
import { post } from "./boards.js";

const line = /** @type {HTMLElement} */ (document.getElementById("said"));

document.getElementById("test")?.addEventListener("click", async (event) => {
  const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
  button.disabled = true;
  line.textContent = "";
  line.textContent = (await post("/director/fleet/test", "{}")).said;
  button.disabled = false;
});
