"""Proves that Firefox, as Debian has it, takes its Web Push from Borealis: nothing in it is replaced, its push service is another
one. pywebpush sends, and the server is killed in between.

    python3 autopush_firefox.py --binary .build/debug/borealis

BOREALIS_PUSHES and BOREALIS_KILLS make it longer.
"""

import asyncio
import http.server
import json
import os
import pathlib
import signal
import sys
import threading
import time
from typing import Any

from autopush import insist, new_key
from firefox import Firefox
from stage import DEADLINE, Failed, Server, expect, main
from web_push import CONTACT, encode, point

PUSHES = int(os.environ.get("BOREALIS_PUSHES", "100"))
KILLS = int(os.environ.get("BOREALIS_KILLS", "3"))
PAGE = """<!doctype html><title>Site</title><button id="on">Subscribe</button><script>
async function subscribe(key) {
  await navigator.serviceWorker.register('/worker.js');
  const registration = await navigator.serviceWorker.ready;
  return JSON.stringify(await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }));
}
document.getElementById('on').addEventListener('click', async (event) => {
  document.title = await subscribe(event.target.dataset.key).catch(String);
});
</script>"""
WORKER = """self.addEventListener('push', (event) => event.waitUntil(
  fetch('/got', { method: 'POST', body: event.data.text() })));"""


class Site(http.server.ThreadingHTTPServer):
    """A page that subscribes, and what its worker gets."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), SiteHandler)
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        self.got: list[str] = []


class SiteHandler(http.server.BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        kind, text = ("text/javascript", WORKER) if self.path == "/worker.js" else ("text/html", PAGE)
        self._answer(kind, text.encode())

    def do_POST(self) -> None:
        self.server.got.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self._answer("text/plain", b"")

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


async def scenario(server: Server, site: Site, firefox: Firefox) -> None:
    key = new_key()
    await firefox.go(f"{site.origin}/")
    button = "document.getElementById('on')"
    await firefox.run(f"{button}.dataset.key = '{encode(point(key.public_key))}'; {button}.click()")
    await firefox.until("document.title !== 'Site'")
    title = await firefox.run("return document.title")
    expect(title.startswith("{"), f"no subscription: {title}")
    subscription = json.loads(title)
    expect(subscription["endpoint"].startswith(f"http://{server.http}/wpush/v2/"), subscription["endpoint"])
    print("ok - Firefox subscribes at Borealis")
    fields = key.sign({"sub": CONTACT, "aud": f"http://{server.http}", "exp": int(time.time()) + 43_200})
    texts = [f"message {number}" for number in range(PUSHES)]
    sending = asyncio.create_task(asyncio.to_thread(insist, subscription, texts, fields))
    for kill in range(KILLS):
        await arrived(site, PUSHES * (kill + 1) // (KILLS + 1))
        await server.stop(signal.SIGKILL)
        await server.start()
    await sending
    await arrived(site, PUSHES)
    await asyncio.to_thread(insist, subscription, ["the end"], fields)
    await arrived(site, PUSHES + 1)
    # The worker's requests overtake each other.
    expect(sorted(site.got) == sorted([*texts, "the end"]), f"{len(site.got)} came, lost are {set(texts) - set(site.got)}")
    print(f"ok - its worker gets {PUSHES} messages over {KILLS} kills, each once")


async def arrived(site: Site, count: int) -> None:
    try:
        async with asyncio.timeout(4 * DEADLINE):
            while len(site.got) < count:
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise Failed(f"{len(site.got)} of {count} messages came") from None


async def play(binary: str, folder: pathlib.Path) -> None:
    site = Site()
    threading.Thread(target=site.serve_forever, daemon=True).start()
    server = Server(binary, folder)
    firefox = Firefox(folder / "firefox", {
        "dom.push.serverURL": f"ws://{server.http}/autopush", "dom.push.testing.allowInsecureServerURL": True,
        "dom.push.connection.enabled": True, "dom.push.retryBaseInterval": 200, "dom.push.maxQuotaPerSubscription": 100_000,
    })  # fmt: skip
    try:
        app, _ = await server.create_app("browsers")
        server.add("--autopush-app", app, "--public-url", f"http://{server.http}")
        await server.start()
        await firefox.start()
        await scenario(server, site, firefox)
    except Failed:
        print(server.log()[-2000:], file=sys.stderr)
        raise
    finally:
        await firefox.stop()
        await server.stop(signal.SIGKILL)
        site.shutdown()


if __name__ == "__main__":
    main(__doc__ or "", play)
