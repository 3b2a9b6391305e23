// A first visit without a key: where it is entered, and what works without one.

import { button, h } from "../lib/dom.js";
import { say, t } from "../i18n/translate.js";
import { ApiError, api, request } from "../net/api.js";
import { welcome } from "../conversation/welcome.js";

const KEY = "deepseek_api_key";
const KEY_PAGE = "https://platform.deepseek.com/api_keys";

/**
 * Shows in *place* how to choose a model, and the usual welcome once one is chosen.
 * @param {import("../app.js").App} app
 * @param {HTMLElement} place
 */
export function firstVisit(app, place) {
  const key = h("input", { type: "password", id: "first-key", autocomplete: "new-password", spellcheck: "false", required: true });
  const save = button({ class: "primary", type: "submit" }, t("Save and start"));
  const told = h("p", { role: "status", class: "muted" });
  const onward = button({ class: "quiet", hidden: true, on: { click: done } }, t("Continue anyway"));
  const others = h("ul", { class: "ideas" });
  place.replaceChildren(
    h("img", { src: "/static/mark.svg", alt: "", width: 40, height: 40 }),
    h("h2", { text: t("Choose a model to start") }),
    h(
      "form",
      { class: "first-visit", on: { submit: enter } },
      h("label", { for: "first-key", text: t("Your key from platform.deepseek.com") }),
      h("div", { class: "row" }, key, save),
      told,
      onward,
    ),
    h("p", { class: "muted" }, h("a", { href: KEY_PAGE, target: "_blank", rel: "noreferrer", text: t("Get a key") }), " · ", t("It is saved on this computer, readable only by you.")),
    others,
  );
  others.append(
    choice(t("Enter a key for another provider"), () => app.emit("settings", "api_key")),
    choice(t("Try the practice model: no key, no network, no AI"), practise),
  );
  void offerServers();

  function choice(words, work) {
    return h("li", {}, button({ on: { click: work } }, words));
  }

  async function offerServers() {
    const { servers } = await request("GET", "/api/settings/servers");
    others.prepend(
      ...servers.map((server) =>
        choice(t("Use {name} on this computer, model {model}", server), () => use(server)),
      ),
    );
  }

  async function enter(event) {
    event.preventDefault();
    save.disabled = true;
    const kept = await app.attempt(() => api.keepSetting(KEY, key.value.trim()));
    if (kept) {
      key.value = "";
      await tryOut(KEY);
    }
    save.disabled = false;
  }

  async function use(server) {
    const isKept = await app.attempt(() => request("POST", "/api/settings/servers", { body: server }));
    if (isKept) await tryOut("model");
  }

  async function practise() {
    if (await app.attempt(() => request("POST", "/api/settings/practice"))) await done();
  }

  /** Goes on where what was saved works; else it is said why not. */
  async function tryOut(name) {
    told.textContent = t("Testing …");
    onward.hidden = true;
    try {
      await request("POST", "/api/settings/test", { body: { name } });
      await done();
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      told.textContent = say(refusal.phrase);
      onward.hidden = false;
      key.focus();
    }
  }

  async function done() {
    app.setState({ status: await api.status() });
    if (!app.state.status.needs_key) place.replaceWith(welcome(app));
  }
}
