// Puts the page together.

import { App } from "./app.js";
import { sessionOf } from "./lib/address.js";
import { h } from "./lib/dom.js";
import { wordsReady } from "./lib/words.js";
import { alerts } from "./views/alerts.js";
import { approval } from "./views/approval.js";
import { composer } from "./views/composer.js";
import { conversation } from "./views/conversation.js";
import { fileTree } from "./views/tree.js";
import { keys } from "./views/keys.js";
import { layout } from "./views/layout.js";
import { pane } from "./views/pane.js";
import { statusbar } from "./views/statusbar.js";
import { topbar } from "./views/topbar.js";

await wordsReady();
const app = new App();
const parts = {
  conversation: conversation(app),
  approval: approval(app),
  composer: composer(app),
  tree: fileTree(app),
  pane: pane(app),
};
const chat = h(
  "section",
  { class: "chat" },
  parts.conversation.element,
  h("div", { class: "below" }, parts.approval.element, parts.composer.element),
);
const page = layout(app, {
  topbar: topbar(app).element,
  side: parts.tree.element,
  chat,
  pane: parts.pane.element,
  status: statusbar(app).element,
});
document.body.replaceChildren(page.element, alerts(app).element);

parts.tree.start();
import("./net/marks.js").then(({ followMarks }) => followMarks(app));
import("./net/read_along.js").then(({ readAlong }) => readAlong(app));
import("./views/drops.js").then(({ drops }) => drops(app, (event) => parts.tree.folderAt(event)));
keys(app, { ...parts, layout: page });
app.on("asked", (question) => {
  const isWriting = document.activeElement?.closest?.("textarea, input, .editor");
  if (!isWriting || (document.activeElement === parts.composer.area && !parts.composer.area.value))
    question.element.focus({ preventScroll: true });
});
app.on("answered", () => {
  if (!document.activeElement || document.activeElement === document.body) parts.composer.focus();
});
addEventListener("popstate", () => {
  if (sessionOf(location.pathname)) app.openSession(sessionOf(location.pathname), true);
});
parts.composer.focus();
await app.start();
parts.pane.restore();

let isOffering = false;
let inFile = null;
/** Loads what can be done with selected text when some is selected for the first time. */
async function offer() {
  if (isOffering || (!inFile && document.getSelection()?.isCollapsed !== false)) return;
  isOffering = true;
  try {
    const { selection } = await import("./views/selection.js");
    selection(app, inFile);
  } catch (problem) {
    isOffering = false; // the next selection tries again
    throw problem;
  }
}
document.addEventListener("selectionchange", offer);
app.on("selected", (selected) => {
  inFile = selected;
  offer();
});
