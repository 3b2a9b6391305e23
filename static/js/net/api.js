// The HTTP part of docs/protocol.md: JSON in and out, failures as one kind of error.

import { keyHeaders } from "./key.js";

/** A refusal of the server, or no server; `phrase` is for people. */
export class ApiError extends Error {
  /**
   * @param {number} status 0 when there was no answer at all
   * @param {any} body
   */
  constructor(status, body) {
    super(body.error ?? `HTTP ${status}`);
    this.status = status;
    this.code = body.code ?? "";
    this.phrase = body.phrase ?? this.message;
    this.body = body;
  }
}

/** The error where there is no server. @param {string} why for the log */
export const unanswered = (why) =>
  new ApiError(0, { error: why, code: "offline", phrase: { template: "The server does not answer." } });

/** What *loading* brings of the page's own modules. @template T @param {Promise<T>} loading @returns {Promise<T>} */
export const fromServer = (loading) =>
  loading.catch((problem) => {
    throw unanswered(problem.message);
  });

/**
 * @param {string} method
 * @param {string} path
 * @param {{query?: Record<string, any>, body?: any, bytes?: Blob}} [options]
 * @returns {Promise<any>} the answer's JSON, null when it has none
 */
export async function request(method, path, { query = {}, body, bytes } = {}) {
  const kind = bytes ? "application/octet-stream" : body === undefined ? "" : "application/json";
  const answer = await fetch(address(path, query), {
    method,
    headers: { ...keyHeaders(), ...(kind && { "Content-Type": kind }) },
    body: bytes ?? (body === undefined ? undefined : JSON.stringify(body)),
  }).catch((problem) => {
    throw unanswered(problem.message);
  });
  if (answer.status === 204) return null;
  const plain = await answer.json().catch((problem) => {
    if (answer.ok) throw unanswered(problem.message); // it broke off
    return {};
  });
  if (!answer.ok) throw new ApiError(answer.status, plain);
  return plain;
}

/**
 * @param {string} path
 * @param {Record<string, any>} [query] undefined values are left out
 */
export function address(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** Counts the changes of files: a browser shows the picture at an address that it has seen again. */
let round = 0;
export const filesChanged = () => (round += 1);

export const api = {
  status: () => request("GET", "/api/status"),
  commands: () => request("GET", "/api/commands"),
  settings: () => request("GET", "/api/settings"),
  keepSetting: (name, value) => request("PATCH", "/api/settings", { body: { name, value } }),
  loginLink: () => request("POST", "/api/login-links", { body: {} }),

  sessions: (archived = 0) => request("GET", "/api/sessions", { query: { archived } }),
  newSession: () => request("POST", "/api/sessions", { body: {} }),
  session: (id) => request("GET", `/api/sessions/${id}`),
  changeSession: (id, change) => request("PATCH", `/api/sessions/${id}`, { body: change }),
  deleteSession: (id) => request("DELETE", `/api/sessions/${id}`),
  forkSession: (id, turn) => request("POST", `/api/sessions/${id}/fork`, { body: { turn } }),
  completions: (id, line) => request("GET", `/api/sessions/${id}/completions`, { query: { line } }),
  mentions: (text) => request("GET", "/api/mentions", { query: { text } }),
  earlier: (id, before) => request("GET", `/api/sessions/${id}/transcript`, { query: { before } }),
  exportAddress: (id, format) => address(`/api/sessions/${id}/export`, { format }),
  givePicture: (id, file) =>
    request("POST", `/api/sessions/${id}/pictures`, { query: { name: file.name }, bytes: file }),
  pictureAddress: (id, digest) => `/api/sessions/${id}/pictures/${digest}`,
  model: (id) => request("GET", `/api/sessions/${id}/model`),
  models: (id) => request("GET", `/api/sessions/${id}/models`),
  changeModel: (id, change) => request("PATCH", `/api/sessions/${id}/model`, { body: change }),
  forgetProfile: (id) => request("DELETE", `/api/sessions/${id}/model/profile`),
  search: (text) => request("GET", "/api/search", { query: { text, limit: 40 } }),

  folder: (path, session, part = {}) =>
    request("GET", "/api/files", { query: { path, session: session || undefined, ...part } }),
  files: () => request("GET", "/api/files/list"),
  text: (path) => request("GET", "/api/files/text", { query: { path } }),
  part: (path, number) => request("GET", "/api/files/part", { query: { path, number } }),
  why: (path) => request("GET", "/api/files/why", { query: { path } }),
  save: (path, text, base) => request("PUT", "/api/files/text", { body: { path, text, base } }),
  upload: (folder, file, replace = 0) =>
    request("POST", "/api/files/upload", { query: { folder, name: file.name, replace }, bytes: file }),
  /** What is another once the bytes of a file that is shown raw are; null where there is none. */
  tag: (path) =>
    fetch(address("/api/files/raw", { path }), { method: "HEAD" }).then(
      (answer) => (answer.ok ? answer.headers.get("ETag") : null),
      () => null,
    ),
  rawAddress: (path) => address("/api/files/raw", { path, round: round || undefined }),
  downloadAddress: (path) => address("/api/files/download", { path }),
  makeFolder: (path) => request("POST", "/api/files/folder", { body: { path } }),
  rename: (path, new_path) => request("POST", "/api/files/rename", { body: { path, new_path } }),
  note: (path, note, lines = {}) => request("PUT", "/api/files/note", { body: { path, note, ...lines } }),
  changes: (id, turn) => request("GET", `/api/sessions/${id}/changes`, { query: { turn } }),
  changedFile: (id, turn, seen, path) =>
    request("GET", `/api/sessions/${id}/changes/file`, { query: { turn, seen, path } }),
  changedCalls: (id, since) => request("GET", `/api/sessions/${id}/changes/calls`, { query: { since } }),
  accept: (id, part) => request("POST", `/api/sessions/${id}/changes/accept`, { body: part }),
  showAccepted: (id) => request("DELETE", `/api/sessions/${id}/changes/accepted`),
  takeBack: (id, part) => request("POST", `/api/sessions/${id}/changes/take-back`, { body: part }),
  undo: (id, what, number, again) =>
    request("POST", `/api/sessions/${id}/changes/undo`, { body: { what, number, again, cmd: crypto.randomUUID() } }),

  focus: (session, path, on) => request("POST", "/api/files/focus", { body: { session, path, on } }),
};
