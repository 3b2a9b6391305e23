// The sheet of /phone: a code that pairs a phone, the devices that are paired, notifications.

import { button, h } from "../lib/dom.js";
import { confirmed, openDialog } from "../dialogs/dialog.js";
import { language, t } from "../i18n/translate.js";
import { request } from "../net/api.js";
import { canNotify, notifies, switchNotify } from "../notices/notifications.js";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 4; // modules of light around a code, as readers want it

/** @param {import("../app.js").App} app */
export async function openPhoneSheet(app) {
  const place = h("div", { class: "phone-place" });
  const dialog = openDialog(t("Phone"), "sheet phone-sheet", [place, alerts(app)]);
  if (!app.state.status?.remote) {
    place.replaceChildren(
      h("p", { text: t("Only this computer can open this page. To use it on a phone, start it like this:") }),
      h("pre", {}, h("code", { text: "onefold web --allow-remote" })),
    );
    return;
  }
  const socket = await app.connection.socket();
  const paired = h("p", { role: "status" });
  const heard = ({ paired: name }) => {
    if (name) paired.textContent = t("Paired: {name}", { name });
    void draw(false);
  };
  socket.on("devices", heard);
  dialog.addEventListener("close", () => socket.off("devices", heard));
  const code = h("div", {});
  const devices = h("div", {});
  place.replaceChildren(code, paired, devices);
  await draw(true);

  /** @param {boolean} isNew whether a new code is shown too */
  async function draw(isNew) {
    const told = await app.attempt(() => request("GET", "/api/devices"));
    if (!told) return;
    devices.replaceChildren(...listed(told));
    if (!told.pairs) code.replaceChildren(h("p", { text: t("Devices are paired and removed at the computer itself.") }));
    else if (isNew) await drawCode(told.fingerprint);
  }

  async function drawCode(fingerprint) {
    const ticket = await app.attempt(() => request("POST", "/api/devices", { body: {} }));
    if (!ticket) return;
    paired.textContent = "";
    const minutes = Math.floor(ticket.seconds / 60);
    const again = button({ class: "small", on: { click: () => drawCode(fingerprint) } }, t("New code"));
    code.replaceChildren(
      h("p", { text: t("Scan this code with the phone. It works once, within {minutes} minutes.", { minutes }) }),
      picture(ticket.code),
      h("p", {}, again),
      h("details", {}, h("summary", { text: t("Open the link instead") }), h("code", { class: "address", text: ticket.url })),
      h("p", {
        text: t(
          "The phone will warn you, because this computer made the certificate itself. Only continue if the certificate has this SHA-256 fingerprint:",
        ),
      }),
      h("code", { class: "fingerprint", text: fingerprint }),
    );
  }

  function listed({ devices: rows, pairs }) {
    const link = h("a", { href: "/api/certificate", download: "onefold.crt", text: t("the certificate") });
    const [before, after] = t(
      "To install the page as an app and be notified on a phone, open {link} there and have the phone trust it.",
      { link: "\u0000" },
    ).split("\u0000");
    return [
      h("h3", { text: t("Paired devices") }),
      rows.length ? h("ul", {}, ...rows.map((row) => device(row, pairs))) : h("p", { class: "muted", text: t("None yet.") }),
      h("p", { class: "muted" }, before, link, after),
    ];
  }

  function device({ id, name, paired: seconds, this: isThis }, pairs) {
    const since = new Date(seconds * 1000).toLocaleDateString(language);
    const remove = button({ class: "quiet small", on: { click: () => removed(id, name) } }, t("Remove"));
    remove.setAttribute("aria-label", t("Remove {name}", { name }));
    return h(
      "li",
      {},
      h("span", { text: name }),
      h("span", { class: "muted", text: isThis ? t("this device") : t("paired on {date}", { date: since }) }),
      pairs && remove,
    );
  }

  async function removed(id, name) {
    if (!(await confirmed(t("Remove {name}? It is logged out at once.", { name }), t("Remove")))) return;
    await app.attempt(() => request("DELETE", `/api/devices/${id}`));
    await draw(false);
  }
}

/** The button of the top bar that a phone has no room for. */
function alerts(app) {
  if (!canNotify()) return null;
  const words = () => (notifies() ? t("Notifications: on") : t("Notify me when I am away"));
  const bell = button({ on: { click: turn } }, words());
  bell.setAttribute("aria-pressed", String(notifies()));
  return h("p", {}, bell);

  async function turn() {
    bell.setAttribute("aria-pressed", String(await switchNotify()));
    bell.textContent = words();
    if (Notification.permission === "denied")
      app.notice(t("This browser does not allow notifications for this page."), true);
  }
}

/** @param {string[]} lines of "1" for dark and "0" for light */
function picture(lines) {
  const size = lines.length + 2 * MARGIN;
  const dark = lines.flatMap((line, y) =>
    [...line.matchAll(/1+/g)].map((run) => `M${run.index + MARGIN} ${y + MARGIN}h${run[0].length}v1h-${run[0].length}z`),
  );
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  for (const [name, value] of Object.entries({
    viewBox: `0 0 ${size} ${size}`,
    class: "qr",
    role: "img",
    "aria-label": t("QR code of the link"),
    "shape-rendering": "crispEdges",
  }))
    svg.setAttribute(name, value);
  path.setAttribute("d", dark.join(""));
  svg.append(path);
  return svg;
}
