"""Servers that tests of the preview have a job run: one reloads its page, the other is hostile."""

HOT_RELOAD = '''
import base64, hashlib, os, socketserver, time
from http.server import BaseHTTPRequestHandler

PAGE = """<!doctype html><meta charset=utf-8><h1>%s</h1><p id=who>%s</p>
<form method=post action=/login><button>Log in</button></form>
<script>
const socket = new WebSocket(`ws://${location.host}/changes`);
socket.onmessage = () => location.reload();
socket.onopen = () => document.body.append("watching");
</script>"""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.headers.get("Upgrade") == "websocket":
            return self.watch()
        who = "known" if "session=known" in self.headers.get("Cookie", "") else "nobody"
        self.answer(200, (PAGE % (open("title").read(), who)).encode())

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Origin"] != f"http://{self.headers['Host']}":
            return self.answer(403, b"another origin")
        self.answer(303, b"", ("Location", f"http://{self.headers['Host']}/"),
                    ("Set-Cookie", "session=known; HttpOnly; SameSite=Lax; Path=/"))

    def answer(self, status, body, *headers):
        self.send_response(status)
        for name, value in (("X-Frame-Options", "DENY"), *headers):
            self.send_header(name, value)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def watch(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Accept: {accept}", "", ""]
        self.wfile.write("\\r\\n".join(lines).encode())
        seen = open("title").read()
        while open("title").read() == seen:
            time.sleep(0.05)
        self.wfile.write(b"\\x81\\x06reload")
        self.close_connection = True


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


Server(("127.0.0.1", 8000), Handler).serve_forever()
'''

HOSTILE = '''
import socketserver
from http.server import BaseHTTPRequestHandler

PAGE = """<!doctype html><h1>Hostile</h1><input id=trap><pre id=told></pre>
<script>
const OURS = "OUR_ORIGIN", OTHER = "OTHER_ORIGIN", told = {};
const failed = (problem) => `refused: ${problem.name || problem.type}`;
const attempt = async (name, work) => {
  try { told[name] = String(await work()); } catch (problem) { told[name] = failed(problem); }
};
(async () => {
  await attempt("cookie", () => document.cookie);
  await attempt("opener", () => window.opener);
  await attempt("parent", () => parent.document.title);
  await attempt("storage", () => parent.localStorage.length);
  await attempt("top", () => { top.location = "/stolen"; return "set"; });
  await attempt("open", () => open(OURS));
  await attempt("api", async () =>
    (await fetch(OURS + "/api/status", {credentials: "include"})).status);
  await attempt("blind", async () => (await fetch(OURS + "/api/sessions",
    {method: "POST", mode: "no-cors", credentials: "include", body: "{}"})).type);
  await attempt("elsewhere", async () => (await fetch(OTHER, {mode: "no-cors"})).type);
  await attempt("picture", () => new Promise((done, fail) => {
    const image = new Image(); image.onload = () => done("loaded"); image.onerror = fail;
    image.src = OURS + "/static/favicon.svg";
  }));
  await attempt("frame", () => new Promise((done) => {
    const frame = document.createElement("iframe"); frame.src = OURS;
    frame.onload = () => done(frame.contentDocument ? "read" : "opaque");
    document.body.append(frame);
  }));
  parent.postMessage({type: "session", session: "stolen"}, "*");
  navigator.serviceWorker?.register("/worker.js").catch(() => 0);
  document.querySelector("pre").textContent = JSON.stringify(told);
})();
</script>"""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        is_worker = self.path == "/worker.js"
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if is_worker else "text/html")
        self.send_header("Set-Cookie", "onefold_pane=mine; Path=/")
        self.send_header("Set-Cookie", "tossed=1; Domain=localhost; Path=/")
        self.end_headers()
        self.wfile.write(b"self.onfetch = () => 0" if is_worker else PAGE.encode())


socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer(("", 8000), Handler).serve_forever()
'''
