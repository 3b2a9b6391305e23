// The settings: what holds, where it comes from, and what config.toml keeps for the next start.

import { button, h } from "../lib/dom.js";
import { language, say, switchLanguage, t } from "../i18n/translate.js";
import { ApiError, api, request } from "../net/api.js";
import { openDialog } from "../dialogs/dialog.js";
import { canNotify } from "../notices/notifications.js";
import { KEYS } from "../keyboard/shortcuts.js";
import { takeTheme } from "./theme.js";

/**
 * @param {import("../app.js").App} app
 * @param {string} [name] of the setting that is looked for at first
 * @returns {HTMLInputElement} the field that looks for settings
 */
export function openSettings(app, name = "") {
  const wanted = h("input", {
    type: "search",
    "aria-label": t("Find a setting"),
    placeholder: t("Find a setting"),
    value: name,
    on: { input: find },
  });
  const place = h("p", { class: "muted" });
  const groups = h("div", { class: "groups" });
  const none = h("p", { class: "muted", hidden: true, text: t("No matching settings.") });
  openDialog(t("Settings"), "sheet settings-sheet", [wanted, place, groups, none]);
  wanted.focus();
  void app.attempt(async () => {
    const { path, settings } = await api.settings();
    place.textContent = t("Changes are saved in {path}. Each says when it takes effect, if not at once.", { path });
    groups.replaceChildren(...grouped(settings).map(group));
    find();
  });
  return wanted;

  function find() {
    const words = wanted.value.toLowerCase().split(/\s+/);
    for (const section of groups.children) {
      const rows = [...section.querySelectorAll("li")];
      for (const row of rows) {
        const text = row.querySelector("label").textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      section.hidden = rows.every((row) => row.hidden);
    }
    none.hidden = !groups.children.length || [...groups.children].some((section) => !section.hidden);
  }

  function group([name, settings]) {
    return h("section", {}, h("h3", { text: name }), h("ul", {}, ...settings.map(row)));
  }

  function row(setting) {
    const id = `setting-${setting.name}`;
    const control = controlOf(setting);
    control.id = id;
    control.addEventListener("change", () => keep(setting.name, control.value));
    const reset = button({ class: "quiet small", on: { click: () => keep(setting.name, null) } }, t("Default"));
    reset.setAttribute("aria-label", t("Restore the default of {name}", { name: setting.name }));
    reset.hidden = setting.kept === null || setting.table;
    const told = h("p", { class: "muted", id: `${id}-said`, role: "status" });
    const test = button({ class: "quiet small", on: { click: () => tryOut(setting.name, test, told) } }, t("Test"));
    test.setAttribute("aria-label", t("Test {name}", { name: setting.name }));
    test.hidden = !setting.testable;
    return h(
      "li",
      { data: { setting: setting.name }, class: setting.kept === null ? "" : "changed" },
      h("label", { for: id }, say(setting.meaning), h("code", { text: setting.name })),
      h("div", { class: "value" }, control, reset, test, h("span", { class: "muted", text: originOf(setting) })),
      told,
    );
  }

  /** Says in words what comes of the test: with what was saved, also if that holds after a restart only. */
  async function tryOut(name, test, told) {
    test.disabled = true;
    told.textContent = t("Testing …");
    try {
      told.textContent = name === "notify" ? await notified() : say((await request("POST", "/api/settings/test", { body: { name } })).said);
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      told.textContent = say(refusal.phrase);
    } finally {
      test.disabled = false;
    }
  }

  /** Keeps *value*, null for the default; a refused one stays in its field, with the reason below it. */
  async function keep(name, value) {
    const [control, told] = [...groups.querySelectorAll(`[data-setting="${name}"] :is(input, select, textarea, [role=status])`)];
    try {
      const { setting } = await api.keepSetting(name, value);
      redraw(setting);
      await app.attempt(() => takeOver(app, setting));
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      control.setAttribute("aria-invalid", String(refusal.status > 0)); // else the server has not seen it
      control.setAttribute("aria-describedby", told.id);
      told.textContent = say(refusal.phrase);
      if (!told.isConnected) app.notice(told.textContent, true); // the settings were closed meanwhile
      told.scrollIntoView({ block: "nearest" });
    }
  }

  function redraw(setting) {
    const old = groups.querySelector(`[data-setting="${setting.name}"]`);
    if (!old) return;
    const hadFocus = old.contains(document.activeElement);
    const fresh = row(setting);
    old.replaceWith(fresh);
    if (hadFocus) fresh.querySelector("input, select, textarea").focus();
  }
}

/** Notifies as the browser does, and says how that went: the terminal's own is tried there. */
async function notified() {
  if (!canNotify() || (await Notification.requestPermission()) !== "granted")
    return t("This browser does not allow notifications for this page.");
  const { showNotification } = await import("../notices/system_notification.js");
  await showNotification("Onefold", t("A test of the notifications"));
  return t("Sent a notification to this browser. In a terminal, test with /settings test notify");
}

/** Has the page itself take over what was saved, where that concerns it. */
async function takeOver(app, { name, value }) {
  if (name === "theme") await takeTheme(app);
  if (name === "shortcuts") Object.assign(KEYS, (await request("GET", "/api/settings/shortcuts")).page);
  if (name === "lang" && value && value !== language) switchLanguage(value);
  if (/_(api_key|base_url)$|^model$/.test(name)) app.setState({ status: await api.status() });
}

/** @returns {[string, any[]][]} the settings by the name of their group, in their order */
function grouped(settings) {
  const groups = new Map();
  for (const setting of settings) {
    const name = say(setting.group);
    groups.set(name, [...(groups.get(name) ?? []), setting]);
  }
  return [...groups];
}

function controlOf(setting) {
  const { choices, secret, table, kept, value, allowed } = setting;
  const now = kept ?? value;
  if (choices.length) {
    const words = { "": t("not set"), true: t("yes"), false: t("no") };
    const select = h("select", {}, ...choices.map((one) => h("option", { value: one, text: words[one] ?? one })));
    select.value = now;
    return select;
  }
  if (setting.has_lines) return h("textarea", { rows: 2, value: now, title: say(allowed) });
  return h("input", {
    type: secret ? "password" : "text",
    autocomplete: secret ? "new-password" : "off",
    spellcheck: "false",
    value: now,
    title: say(allowed),
    disabled: table,
    placeholder: secret ? (setting.set || kept !== null ? t("set") : t("not set")) : "",
  });
}

/** Where the value comes from, and what wins over the file. */
function originOf({ source, overruled, kept, value, secret, table, effect }) {
  if (table) return t("Edit it in the file.");
  if (overruled) return t("{source} overrides the file: {value}", { source: say(source), value: secret ? "…" : value });
  if (kept === null) return "";
  if (effect === "restart" && (secret || kept !== value)) return t("after a restart");
  return effect === "new sessions" ? t("in new sessions") : t("from the file");
}
