// Keeps the calibration's page current: each event brings the whole walk as it is to be shown.
// @ts-check
import { noteDrawn } from "./drawn.js";
import { follow } from "./stream.js";

const walk = /** @type {HTMLElement} */ (document.getElementById("walk"));
const instruction = /** @type {HTMLElement} */ (document.getElementById("said"));

const stream = follow("/events", {
  walk(data, id) {
    const news = JSON.parse(data);
    walk.innerHTML = news.html; // the server has escaped every text in it
    if (instruction.textContent !== news.said) instruction.textContent = news.said;
    noteDrawn(id);
    if (news.over) stream.end(); // the walk is at its end, and soon the server is
  },
});
