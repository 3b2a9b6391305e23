// Keeps nothing: no page, no file, no answer. It tells that the computer is away when the app is opened,
// and shows notifications, which a phone leaves to a service worker.

const AWAY = `<!doctype html>
<html lang="en" style="background: Canvas">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Onefold</title>
<main><h1>Onefold</h1>
<p>The computer does not answer. Check that Onefold runs and that both are in the same network.</p>
<p lang="zh">电脑没有应答。请确认 Onefold 正在运行，并且两台设备在同一网络中。</p>
<p><a href="/">Try again · <span lang="zh">重试</span></a></p></main>
</html>`;

addEventListener("install", () => self.skipWaiting());
addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

// Only where the app begins: all else the browser asks for itself, and says of what site it is asked.
addEventListener("fetch", (event) => {
  if (event.request.mode !== "navigate" || new URL(event.request.url).pathname !== "/") return;
  const away = () => new Response(AWAY, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } });
  event.respondWith(fetch(event.request).catch(away));
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data.path));
});

/** Brings the page at *path* to the front, or opens it. */
async function show(path) {
  const pages = await self.clients.matchAll({ type: "window" });
  const page = pages.find(({ url }) => new URL(url).pathname === path) ?? pages[0];
  return page ? page.focus() : self.clients.openWindow(path);
}
