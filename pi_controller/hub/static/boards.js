// Keeps a page of the hub current: each event has the HTML of the regions that it shows.
// @ts-check
import { noteDrawn } from "./drawn.js";
import { draw, setClock } from "./regions.js";
import { follow } from "./stream.js";

/** Whether the stream stays open while the page is hidden: a team's page that rings does. */
export const staying = { on: false };

follow(
  document.body.dataset.events ?? "/events",
  {
    regions(data, id) {
      draw(JSON.parse(data));
      noteDrawn(id);
    },
    beat: setClock,
  },
  { stays: () => staying.on },
);
