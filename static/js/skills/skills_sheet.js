// The skills: switched, looked at, installed from a folder or an archive, and removed.

import { button, h } from "../lib/dom.js";
import { count, visible } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { lineOf } from "../store/declared.js";
import { confirmed, openDialog } from "../dialogs/dialog.js";
import { skillsApi } from "./skills_api.js";

const SOURCES = { project: () => t("project"), own: () => t("yours"), "built-in": () => t("built in") };

/** @param {import("../app.js").App} app */
export async function openSkillsSheet(app) {
  const session = await app.sessionIsThere();
  const first = await app.attempt(() => skillsApi.skills(session));
  if (!first) return;
  const list = h("ul", { class: "kept-list" });
  const total = h("p", { class: "muted", role: "status" });
  const path = h("input", {
    "aria-label": t("Folder or archive on this machine"),
    placeholder: t("Folder or archive on this machine"),
    spellcheck: "false",
  });
  const form = h(
    "form",
    { class: "buttons", on: { submit: (event) => (event.preventDefault(), installPath()) } },
    path,
    h("button", { type: "submit", class: "small" }, t("Install")),
  );
  const file = h("input", { type: "file", accept: ".zip,.tar,.gz,.tgz,.xz,.bz2", hidden: true, on: { change: upload } });
  const choose = button({ class: "small", on: { click: () => file.click() } }, t("Upload an archive …"));
  openDialog(t("Skills"), "sheet tools-sheet skills-sheet", [
    total,
    list,
    h("div", { class: "buttons" }, choose, file),
    form,
    h("p", { class: "muted", text: t("Changes take effect with the next task.") }),
  ]);
  let lastChange = 0; // an answer that comes after a later one's is out of date
  draw(first.skills);

  function draw(skills) {
    const on = skills.filter((skill) => skill.on);
    total.textContent = t("{n} of {all} are on.", { n: on.length, all: skills.length });
    list.replaceChildren(...skills.map(row));
  }

  function row(skill) {
    const box = h("input", { type: "checkbox", id: `skill-${skill.name}`, checked: skill.on, disabled: Boolean(skill.problem) });
    box.addEventListener("change", () => change(`${skill.name} ${box.checked ? "on" : "off"}`, box.id));
    const text = h("pre", { hidden: true, tabIndex: 0, "aria-label": t("What the model reads of {name}", { name: skill.name }) });
    const facts = [SOURCES[skill.source]?.() ?? skill.source, visible(skill.folder), t("{n:,} tokens", { n: count(skill.tokens) })];
    const show = button(
      { class: "quiet small", "aria-expanded": "false", "aria-label": t("Show {what}", { what: skill.name }), disabled: Boolean(skill.problem), on: { click: () => toggle(skill.name, text, show) } },
      t("Show"),
    );
    const remove = button(
      { class: "quiet small", "aria-label": t("Remove {name}", { name: skill.name }), on: { click: () => removeSkill(skill.name) } },
      t("Remove"),
    );
    return h(
      "li",
      { data: { skill: skill.name } },
      h(
        "span",
        { class: "what" },
        h("label", { for: box.id }, box, " ", h("code", { text: skill.name })),
        " ",
        skill.problem ? h("span", { class: "problem", text: t("Cannot be used: {why}.", { why: say(skill.problem) }) }) : skill.description,
        h("span", { class: "muted", text: facts.join(" · ") }),
      ),
      show,
      skill.installed && remove,
      text,
    );
  }

  async function toggle(name, text, opener) {
    if (text.hidden) {
      const told = await app.attempt(() => skillsApi.skill(session, name));
      if (!told) return;
      const files = told.files.length ? `${t("Files: {files}", { files: told.files.join(", ") })}\n\n` : "";
      text.textContent = visible(`${files}${told.text}`);
    }
    text.hidden = !text.hidden;
    opener.setAttribute("aria-expanded", String(!text.hidden));
  }

  /** Says *words* to the command, and draws what the server then says, also where it refused. */
  async function change(words, id = "") {
    const asked = ++lastChange;
    const ack = await app.aside(lineOf("skills", words));
    if (ack?.done && ack.card) app.notice([ack.card.title, ack.card.body].filter(Boolean).map(say).join(" "));
    await drawAgain(asked);
    if (id) document.getElementById(id)?.focus();
    return ack?.done;
  }

  async function drawAgain(asked) {
    const now = await app.attempt(() => skillsApi.skills(session));
    if (now && asked === lastChange) draw(now.skills);
  }

  async function removeSkill(name) {
    if (await confirmed(t("Delete the skill {name} and its files?", { name }), t("Remove"))) await change(`remove ${name}`);
  }

  async function installPath() {
    const wanted = path.value.trim();
    if (!wanted) return path.focus();
    if (await change(`install ${wanted}`)) path.value = "";
  }

  async function upload() {
    const [archive] = file.files;
    file.value = "";
    if (!archive) return;
    const asked = ++lastChange;
    const told = await app.attempt(() => skillsApi.install(session, archive));
    if (told) app.notice(t("Installed: {names}", { names: told.names.join(", ") }));
    await drawAgain(asked);
  }
}
