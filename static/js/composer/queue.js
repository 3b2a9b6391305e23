// The messages that wait until the task is over: moved, sent at once, taken back.

import { button, h, keyed } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { visible } from "../lib/format.js";
import { t } from "../i18n/translate.js";

/** Takes the message *id* back into the composer. @param {import("../app.js").App} app @param {string} id */
export async function takeBack(app, id) {
  const { session } = app.state;
  const ack = await app.queue("drop", id);
  if (ack) app.giveBack(session, ack.text, ack.pictures);
}

/** @param {import("../app.js").App} app */
export function queueView(app) {
  const element = h("ol", { class: "queue", "aria-label": t("Queue") });
  const place = (id) => app.state.sessionState.queue.findIndex((item) => item.id === id);
  const move = (id, by) => app.queue("move", id, Math.max(0, place(id) + by));
  const chips = keyed(
    element,
    ({ id }) => id,
    ({ id, text, pictures }) => {
      const chip = h(
        "li",
        { class: "chip", draggable: true },
        pictures && icon("image"),
        h("span", { class: "words", text: visible(text) || pictures?.map(({ name }) => name).join(", ") }),
        act("up", t("Earlier"), text, () => move(id, -1)),
        act("send", t("Do this now"), text, () => app.queue("now", id)),
        act("close", t("Take back"), text, () => takeBack(app, id)),
      );
      chip.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/onefold-queue", id));
      for (const name of ["dragenter", "dragover"]) chip.addEventListener(name, (event) => event.preventDefault());
      chip.addEventListener("drop", (event) => {
        const moved = event.dataTransfer.getData("text/onefold-queue");
        if (!moved) return;
        event.preventDefault();
        app.queue("move", moved, place(id));
      });
      return { element: chip };
    },
  );
  app.subscribe(({ sessionState }) => {
    const queue = sessionState?.queue ?? [];
    chips(queue);
    element.hidden = !queue.length;
    element.classList.toggle("paused", Boolean(sessionState?.paused));
  });
  return element;
}

const act = (name, words, text, work) =>
  button(
    {
      class: "quiet tiny",
      title: words,
      "aria-label": `${words}: ${visible(text)}`,
      data: { act: name },
      on: { click: work },
    },
    icon(name),
  );
