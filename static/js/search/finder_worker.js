// The other side of finder.js: asks for the names of all files once and searches them.

import { matching } from "./matching.js";
import { ApiError, api } from "../net/api.js";

/** @type {Promise<{files: string[]}> | null} */
let listing = null;

self.addEventListener("message", async ({ data: { id, wanted, most, forget } }) => {
  if (forget) {
    listing = null;
    return;
  }
  try {
    listing ??= api.files();
    const { files } = await listing;
    self.postMessage({ id, paths: wanted.trim() ? matching(files, wanted, most) : files.slice(0, most) });
  } catch (refusal) {
    if (!(refusal instanceof ApiError)) throw refusal;
    listing = null;
    self.postMessage({ id, refusal: { status: refusal.status, body: refusal.body } });
  }
});
