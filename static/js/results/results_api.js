// Requests about the results of a session.

import { address, request } from "../net/api.js";

const placeOf = ({ id }) => (id ? `/api/artifacts/${id}` : "/api/files");
const queryOf = ({ id, session, path }) => (id ? {} : { session, path });

export const resultsApi = {
  all: (session) => request("GET", "/api/artifacts", { query: { session } }),
  one: (id) => request("GET", `/api/artifacts/${id}`),
  add: (session, path) => request("POST", "/api/artifacts", { body: { session, path } }),
  remove: (id) => request("DELETE", `/api/artifacts/${id}`),
  /** *result* is one, or `{session, path}` of any document of the project. */
  preview: (result) => request("GET", `${placeOf(result)}/preview`, { query: queryOf(result) }),
  regenerate: (id, text) =>
    request("POST", `/api/artifacts/${id}/regenerate`, { body: { text, cmd: crypto.randomUUID() } }),
  /** With when it was modified: a browser keeps what it has seen at an address. */
  pageAddress: (result, page) =>
    address(`${placeOf(result)}/preview/${page}`, { ...queryOf(result), stamp: result.modified }),
  downloadAddress: (id, version) => address(`/api/artifacts/${id}/download`, { version }),
};
