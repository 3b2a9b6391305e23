// Requests about the skills.

import { request } from "../net/api.js";

export const skillsApi = {
  skills: (session) => request("GET", `/api/sessions/${session}/skills`),
  skill: (session, name) => request("GET", `/api/sessions/${session}/skills/${encodeURIComponent(name)}`),
  install: (session, file) =>
    request("POST", `/api/sessions/${session}/skills`, { query: { name: file.name }, bytes: file }),
};
