// The script of an exported session: draws its events, at once or one by one as they happened.
import { h } from "../lib/dom.js";
import { takePictures } from "../markdown/markdown.js";
import { translationsReady, t } from "../i18n/translate.js";
import { apply, emptyTranscript } from "../store/reducer.js";
import { grouped } from "../conversation/grouping.js";
import { chunkList, itemView } from "../conversation/items.js";
import { slices } from "./slices.js";

const [events, pictures] = ["events", "pictures"].map((id) =>
  JSON.parse(document.getElementById(id).textContent),
);
takePictures((path) => (Object.hasOwn(pictures, path) ? pictures[path] : ""));
const host = { openFile: () => {}, pictureAddress: (digest) => pictures[`sha256:${digest}`] ?? "" };

function draw(show, transcript) {
  show(grouped(transcript.items));
}

async function play(show, isOver) {
  let transcript = emptyTranscript();
  for (const event of slices(events)) {
    if (isOver()) return;
    transcript = apply(transcript, event);
    draw(show, transcript);
    document.scrollingElement.scrollTop = document.scrollingElement.scrollHeight;
    await new Promise((resolve) => setTimeout(resolve, event.type === "TextDelta" ? 30 : 250));
  }
}

await translationsReady();
const list = h("div", { class: "items" });
const place = document.getElementById("conversation");
let run = 0;
const fresh = () => {
  list.replaceChildren();
  return chunkList(list, (item) => itemView(item, host));
};
const whole = () => {
  run += 1;
  draw(fresh(), events.reduce(apply, emptyTranscript()));
};
const replay = () => {
  const mine = (run += 1);
  play(fresh(), () => mine !== run).then(() => {
    if (mine === run) run += 1;
  });
};
place.append(list);
document
  .getElementById("play")
  .append(
    h("button", { type: "button", class: "small primary", on: { click: replay } }, t("Replay")),
    h("button", { type: "button", class: "small", on: { click: whole } }, t("Show all")),
  );
whole();
