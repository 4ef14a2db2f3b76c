// Keeps the calibration's page current: each event brings the whole walk as it is to be shown.
// @ts-check
import { noteDrawn } from "./drawn.js";
import { draw } from "./regions.js";
import { follow } from "./stream.js";

const stream = follow("/events", {
  walk(data, id) {
    const { regions, over } = JSON.parse(data);
    draw(regions);
    noteDrawn(id);
    if (over) stream.end(); // the walk is at its end, and soon the server is
  },
});
