// A form of the arguments of a call, for the person to change them before it runs.

import { button, h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";

const ROWS = 14;

/**
 * @param {Record<string, any>} given
 * @param {{run: (changed: Record<string, any>) => void, leave: () => void}} work
 * @returns {HTMLFormElement}
 */
export function argumentsForm(given, { run, leave }) {
  const fields = Object.entries(given).map(([name, value]) => field(name, value));
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const form = h(
    "form",
    {
      class: "revision",
      "aria-label": t("Edit what is run"),
      on: {
        submit: (event) => {
          event.preventDefault();
          submit();
        },
      },
    },
    ...fields.map((each) => each.element),
    problem,
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "submit", class: "primary" }, t("Do this instead")),
      button({ on: { click: leave } }, t("Cancel")),
      h("span", { class: "muted", text: t("The model will see what you changed.") }),
    ),
  );
  form.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Escape") leave();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  function submit() {
    const changed = {};
    for (const each of fields) {
      try {
        changed[each.name] = each.read();
      } catch {
        problem.textContent = t("{name} is not valid JSON.", { name: each.name });
        problem.hidden = false;
        each.area.focus();
        return;
      }
    }
    run(changed);
  }
  return form;
}

/** A text is edited as it is, anything else as JSON. */
function field(name, value) {
  const isText = typeof value === "string";
  const text = isText ? value : JSON.stringify(value);
  const area = h("textarea", {
    value: text,
    rows: Math.min(ROWS, text.split("\n").length),
    "aria-label": name,
    spellcheck: "false",
  });
  return {
    name,
    area,
    element: h("label", {}, h("span", { class: "muted", text: name }), area),
    read: () => (isText ? area.value : JSON.parse(area.value)),
  };
}
