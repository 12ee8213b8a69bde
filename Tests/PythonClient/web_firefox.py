"""Proves in Firefox, as Debian has it, that the page of Docs/web.md gets pushes while it is open and while it is closed.

    python3 web_firefox.py --binary .build/debug/borealis

Nothing in the browser is replaced. It subscribes at a push service of this file, which speaks to browsers as Mozilla's does (the
messages of autopush), and takes messages as RFC 8030 says. Firefox itself decrypts what Borealis has encrypted.
"""

import asyncio
import base64
import functools
import http.server
import json
import pathlib
import re
import secrets
import signal
import sys
import threading
from typing import Any

from encryption import AppServer
from firefox import Firefox
from stage import DEADLINE, Failed, Server, expect, expect_equal, main
from web_push import CONTACT
from web_push_device import Site, online
from websockets.asyncio.server import Server as SocketServer
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

PUSHES = 20


class PushService:
    """Browsers on a WebSocket, app servers over HTTP. What a browser has not acknowledged is sent again when it comes back."""

    def __init__(self) -> None:
        self.hellos = 0
        self._subscribers: dict[str, tuple[str, str]] = {}
        self._waiting: dict[str, dict[str, Any]] = {}
        self._sockets: dict[str, ServerConnection] = {}
        self._loop = asyncio.get_running_loop()
        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(PushHandler, self))
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._server: SocketServer

    async def start(self) -> "PushService":
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self._server = await serve(self._browser, "127.0.0.1", 0, subprotocols=["push-notification"])  # type: ignore[list-item]
        return self

    @property
    def address(self) -> str:
        return f"ws://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/"

    async def stop(self) -> None:
        self._server.close()
        await self._server.wait_closed()
        self._http.shutdown()

    async def cut(self) -> None:
        """Ends all connections of browsers."""
        for socket in list(self._sockets.values()):
            await socket.close()

    async def _browser(self, socket: ServerConnection) -> None:
        name = ""
        try:
            async for text in socket:
                message = json.loads(text or "{}")
                match message.get("messageType"):
                    case "hello":
                        self.hellos += 1
                        known = message.get("uaid")
                        name = known if known in self._waiting else secrets.token_hex(16)
                        self._sockets[name] = socket
                        waiting = self._waiting.setdefault(name, {})
                        hello = {"messageType": "hello", "uaid": name, "status": 200, "use_webpush": True, "broadcasts": {}}
                        for answer in (hello, *list(waiting.values())):
                            await socket.send(json.dumps(answer))
                    case "register":
                        token, channel = secrets.token_urlsafe(32), message["channelID"]
                        self._subscribers[token] = (name, channel)
                        await socket.send(json.dumps({
                            "messageType": "register", "channelID": channel, "status": 200,
                            "pushEndpoint": f"{self.url}/wpush/v2/{token}"}))  # fmt: skip
                    case "unregister":
                        await socket.send(json.dumps(
                            {"messageType": "unregister", "channelID": message["channelID"], "status": 200}))  # fmt: skip
                    case "ack":
                        for update in message["updates"]:
                            self._waiting[name].pop(update["version"], None)
                    case None:
                        await socket.send("{}")
        except ConnectionClosed:
            pass
        finally:
            if self._sockets.get(name) is socket:
                del self._sockets[name]

    def take(self, token: str, body: bytes) -> int:
        """A message of an app server, on its thread; gives the status."""
        return asyncio.run_coroutine_threadsafe(self._take(token, body), self._loop).result(DEADLINE)

    async def _take(self, token: str, body: bytes) -> int:
        if token not in self._subscribers:
            return 404
        name, channel = self._subscribers[token]
        version = secrets.token_urlsafe(12)
        message = {
            "messageType": "notification", "channelID": channel, "version": version,
            "data": base64.urlsafe_b64encode(body).rstrip(b"=").decode(), "headers": {"encoding": "aes128gcm"},
        }  # fmt: skip
        self._waiting[name][version] = message
        if socket := self._sockets.get(name):
            try:
                await socket.send(json.dumps(message))
            except ConnectionClosed:
                pass
        return 201


class PushHandler(http.server.BaseHTTPRequestHandler):
    def __init__(self, service: PushService, *arguments: Any):
        self._service = service
        super().__init__(*arguments)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        isWebPush = self.headers["Content-Encoding"] == "aes128gcm" and self.headers["TTL"] is not None
        self.send_response(self._service.take(self.path.rsplit("/", 1)[-1], body) if isWebPush else 400)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


class Scene:
    """A server with an app, its site, and Firefox."""

    def __init__(self, server: Server, api: AppServer, site: Site, service: PushService, firefox: Firefox):
        self.server, self.api, self.site, self.service, self.firefox = server, api, site, service, firefox
        self.device = ""

    async def push(self, alert: str) -> str:
        body = {"platform": ["android"], "audience": {"registration_id": [self.device]},
                "notification": {"android": {"alert": alert}}, "options": {"time_to_live": 3600}}  # fmt: skip
        return (await self.api.call("POST", "/v3/push", body))["msg_id"]

    async def shown(self, *pushes: str) -> None:
        """Waits until the device has reported each of them, once."""
        async with asyncio.timeout(DEADLINE):
            for push in pushes:
                while (await self.api.call("GET", f"/v1/pushes/{push}"))["shown"] != 1:
                    await asyncio.sleep(0.05)

    async def shows(self, *alerts: str) -> None:
        """Waits until the page has these lines, each once, in any order."""
        lines = "[...document.querySelectorAll('#news li')].map((line) => line.textContent)"
        found: list[str] = []
        try:
            async with asyncio.timeout(DEADLINE):
                while sorted(found) != sorted(alerts):
                    await asyncio.sleep(0.05)
                    found = await self.firefox.run(f"return {lines}")
        except TimeoutError:
            raise Failed(f"the page shows {found} instead of {alerts}") from None

    async def open(self) -> None:
        await self.firefox.go(f"{self.site.origin}/")
        self.device = await self.firefox.until("document.getElementById('device')?.textContent")

    async def leave(self) -> None:
        """Closes the page; waits until the server knows that the device is gone."""
        await self.firefox.go("about:blank")
        async with asyncio.timeout(DEADLINE):
            while await asyncio.to_thread(online, self.server) > 0:
                await asyncio.sleep(0.05)


async def scenario(scene: Scene) -> None:
    firefox = scene.firefox
    await scene.open()
    expect(re.fullmatch("[0-9a-f]{19}", scene.device), f"the registration ID {scene.device}")
    await firefox.until("document.getElementById('status').textContent.startsWith('Notifications: off')")
    await firefox.run("document.getElementById('on').click()")
    await firefox.until("document.getElementById('status').textContent.startsWith('Notifications: on')")
    print("ok - Firefox subscribes at the push service")
    alias = await scene.api.call("GET", f"/v3/devices/{scene.device}")
    expect_equal(alias["alias"], "anna", "the alias that the page has set")
    opened = await scene.push("while open")
    await scene.shows("while open")
    await scene.shown(opened)
    print("ok - the open page shows a push")
    await scene.leave()
    alerts, pushes = [f"closed {number}" for number in range(PUSHES)], []
    for alert in alerts[: PUSHES // 2]:
        pushes.append(await scene.push(alert))
    await scene.shown(*pushes)
    # What comes while the browser's connection is gone, it gets when it is back.
    before = scene.service.hellos
    await scene.service.cut()
    for alert in alerts[PUSHES // 2 :]:
        pushes.append(await scene.push(alert))
    await scene.shown(*pushes)
    expect(scene.service.hellos > before, "the browser came back")
    print(f"ok - the worker shows {PUSHES} pushes of a closed page")
    await scene.open()
    await scene.shows(*alerts)
    later = await scene.push("open again")
    await scene.shows(*alerts, "open again")
    await scene.shown(later)
    print("ok - the page shows what the worker had, once")


async def play(binary: str, folder: pathlib.Path) -> None:
    service, site = await PushService().start(), Site()
    threading.Thread(target=site.serve_forever, daemon=True).start()
    server = Server(binary, folder, ("--web-push-url", service.url, "--device-origins", site.origin))
    firefox = Firefox(folder / "firefox", {
        "dom.push.serverURL": service.address, "dom.push.testing.allowInsecureServerURL": True,
        "dom.push.connection.enabled": True, "dom.push.retryBaseInterval": 200, "dom.push.maxQuotaPerSubscription": 100_000,
    })  # fmt: skip
    try:
        await server.start()
        app, secret = await server.create_app("pages")
        made = await server.command("app", "channel", "set", app, "webpush", "--contact", CONTACT)
        site.fill(f"http://{server.http}", app, made["key_id"])
        await firefox.start()
        await scenario(Scene(server, AppServer(server, app, secret), site, service, firefox))
    except Failed:
        print(server.log()[-2000:], file=sys.stderr)
        raise
    finally:
        await firefox.stop()
        await server.stop(signal.SIGKILL)
        await service.stop()
        site.shutdown()


if __name__ == "__main__":
    main(__doc__ or "", play)
