// What a call is called on screen: a picture, a verb, and what it is done to; all of it declared by
// the tools themselves.

import { say, t } from "../i18n/translate.js";
import { specOf } from "../store/declared.js";

/** Names of arguments that say what a call of an unknown tool is about, the best first. */
const TELLING = ["path", "pattern", "query", "url", "command", "code", "text", "message"];

/** What is asked about though no tool declares it: AGENTS.md. */
const ASKED = { follow: () => t("Follow") };

/** A tool from elsewhere is called by its name. @param {string} name */
export const verb = (name) => say(specOf(name)?.verb) || ASKED[name]?.() || name;

/** Whether it is a tool of ours, whose verb says what was done. @param {string} name */
export const isKnown = (name) => Boolean(specOf(name)?.verb);

/** Whether it puts a question of the model's own to the person. @param {string} name */
export const isAsking = (name) => Boolean(specOf(name)?.asks_person);

/** @param {string} name */
export const pictureOf = (name) => specOf(name)?.icon ?? "tool";

/**
 * What a call is done to, "" where nothing is to be said of it.
 * @param {string} name
 * @param {Record<string, any>} given
 */
export function target(name, given) {
  const template = specOf(name)?.subject;
  if (typeof template === "string") return filled(template, given);
  return firstLine(TELLING.map((key) => given[key]).find((value) => typeof value === "string") ?? "");
}

/** Parts that are empty or "." are left out, with what stands before them. */
function filled(template, given) {
  let text = "";
  for (const [, before, name] of template.matchAll(/([^{]*)\{(\w+)\}/g)) {
    const value = firstLine(String(given[name] ?? ""));
    if (value && value !== ".") text += text ? before + value : value;
  }
  return text;
}

function firstLine(text) {
  const [first, ...more] = text.trim().split("\n");
  return more.length ? `${first} …` : first;
}

/** The file a call is about, "" if it is about none. */
export const pathOf = (name, given) => given[specOf(name)?.opens ?? ""] ?? "";

/**
 * The program that a call runs, and its language; null if there is none.
 * @param {string} name
 * @param {Record<string, any>} given
 */
export function programOf(name, given) {
  const program = specOf(name)?.program;
  const code = given[program?.parameter ?? ""];
  return code ? { code: String(code), language: program.language } : null;
}
