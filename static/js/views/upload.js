// Files from the person's computer into the project.

import { api } from "../net/api.js";
import { visible } from "../lib/format.js";
import { t } from "../lib/words.js";
import { confirmed } from "./dialog.js";

/**
 * @param {import("../app.js").App} app
 * @param {string} folder
 * @param {File[]} files
 * @returns {Promise<string[]>} where they stand now
 */
export async function upload(app, folder, files) {
  const paths = [];
  for (const file of files) {
    const done = await app.attempt(() => put(folder, file));
    if (done) paths.push(done.path);
  }
  if (paths.length)
    app.notice(
      paths.length === 1
        ? t("{path} is in the project now.", { path: visible(paths[0]) })
        : t("{n} files are in the project now.", { n: paths.length }),
    );
  return paths;
}

async function put(folder, file) {
  try {
    return await api.upload(folder, file);
  } catch (refusal) {
    const question = t("{name} is there already. Replace it?", { name: visible(file.name) });
    if (refusal.code !== "exists" || !(await confirmed(question, t("Replace")))) throw refusal;
    return api.upload(folder, file, 1);
  }
}
