// Requests about the tools and the tool tester.

import { request } from "../net/api.js";

export const toolsApi = {
  tools: (session) => request("GET", `/api/sessions/${session}/tools`),
  text: (session, protocol, name) =>
    request("GET", `/api/sessions/${session}/tools/text`, { query: { protocol, name } }),
  run: (body) => request("POST", "/api/tool-runs", { body }),
  /** @param {string} id @param {"answer" | "stop" | "undo" | "case"} what */
  tell: (id, what, body = {}) => request("POST", `/api/tool-runs/${id}/${what}`, { body }),
  runCases: () => request("POST", "/api/tool-cases/run", { body: {} }),
};
