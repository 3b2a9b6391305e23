// An HTML file with its scripts, in a frame on an origin of its own: it shares nothing with our page.

import { h } from "../lib/dom.js";
import { nameOf, visible } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { request } from "../net/api.js";
import { guardFocus } from "../previews/focus_guard.js";

/** What the page may do: it is never to lead ours elsewhere, nor open windows. */
const ALLOWED = "allow-scripts allow-forms allow-same-origin allow-downloads";

/**
 * Returns a place with *path* run in it; null where that cannot be, which the person is told.
 * @param {import("../app.js").App} app
 * @param {string} path
 */
export async function runPage(app, path) {
  let url = "";
  try {
    ({ url } = await request("POST", "/api/files/run", { body: { path } }));
  } catch (refusal) {
    app.notice(say(refusal.phrase), true);
    return null;
  }
  const frame = h("iframe", {
    class: "previewed",
    title: visible(nameOf(path)),
    sandbox: ALLOWED,
    referrerpolicy: "no-referrer",
    src: url,
  });
  const close = () => place.replaceChildren(h("p", { class: "pane-empty", text: t("This page kept taking the keyboard focus and was closed.") }));
  const guard = guardFocus(() => (frame.isConnected ? frame : null), close);
  const place = h("div", { class: "preview-place" }, frame, guard.shield);
  whenGone(place, guard.leave);
  return place;
}

/** Calls *leave* once *place* is no longer part of the page. */
function whenGone(place, leave) {
  let wasThere = false;
  const watch = new MutationObserver(() => {
    wasThere ||= place.isConnected;
    if (!wasThere || place.isConnected) return;
    watch.disconnect();
    leave();
  });
  watch.observe(document.body, { childList: true, subtree: true });
}
