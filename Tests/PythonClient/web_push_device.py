"""Proves in Chromium that pages and their service worker show what comes over Web Push: on the console's virtual device, and on the
page of another site, which is the one in Docs/web.md.

    python3 web_push_device.py --binary .build/debug/borealis [--pictures FOLDER]

The push service is Python's: it opens with http-ece what the server sends. Chromium's own is Google's, so the page's `subscribe` gives a
subscription of that service, and what it opened is handed to the service worker by the DevTools protocol, byte for byte.
"""

import argparse
import asyncio
import contextlib
import functools
import http.server
import json
import pathlib
import re
import signal
import sys
import tempfile
import threading
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

from borealis_encryption import DeviceKey
from console import CHROMIUM, FLAGS, PASSWORD, Walk, set_up
from encryption import AppServer
from playwright.async_api import BrowserContext, Page, Worker, async_playwright
from stage import DEADLINE, Failed, Server, expect, expect_equal, told
from web_push import CONTACT, PushService

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "Docs" / "protocol-vectors.txt"
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "Docs" / "web.md"

# A name that is no loopback address: a page from there over HTTP is not secure.
INSECURE = "borealis.test"

# The browser's subscription, as `subscriptionOfTest` gives it and as it outlives a reload.
SUBSCRIBE = """(() => {
  const NAME = "subscription of the test";
  const encode = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
  const decode = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
  const stored = () => {
    const { json, key } = JSON.parse(localStorage.getItem(NAME)) ?? {};
    return json ? {
      toJSON: () => JSON.parse(json), options: { applicationServerKey: decode(key) },
      unsubscribe: async () => { localStorage.removeItem(NAME); return true; },
    } : null;
  };
  PushManager.prototype.getSubscription = async () => stored();
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    const key = encode(applicationServerKey);
    const json = await subscriptionOfTest(userVisibleOnly, key);
    if (json.startsWith("!")) throw new DOMException(json.slice(1), "AbortError");
    if (!stored()) localStorage.setItem(NAME, JSON.stringify({ json, key }));
    return stored();
  };
})()"""

SHOWN = """async () => (await registration.getNotifications()).map(({ title, body, tag, data, silent }) =>
  ({ title, body, tag, url: data.url, silent }))"""

# Where no system keeps notifications, Chromium closes those of pages after 20 seconds, unless they ask to stay until they are tapped.
# Notes what is shown: Chromium forgets a notification that somebody asks for with `getNotifications` while it is being shown.
KEEP = """() => {
  const { showNotification } = ServiceWorkerRegistration.prototype;
  self.shown ??= new Map();
  registration.showNotification = async (title, options) => {
    await showNotification.call(registration, title, { ...options, requireInteraction: true });
    self.shown.set(options.tag, options.body);
  };
}"""

SHOWS = "([tag, body]) => self.shown.get(tag) === body"

TAP = """async (tag) => {
  const [notification] = await registration.getNotifications({ tag });
  self.opened = [];
  clients.openWindow = async (url) => { self.opened.push(url); };
  const event = new NotificationEvent("notificationclick", { notification });
  const work = [];
  event.waitUntil = (promise) => work.push(promise);
  self.dispatchEvent(event);
  await Promise.all(work);
  return self.opened;
}"""

RENEW = """async (json) => {
  const event = new ExtendableEvent("pushsubscriptionchange");
  event.newSubscription = { toJSON: () => JSON.parse(json) };
  const work = [];
  event.waitUntil = (promise) => work.push(promise);
  self.dispatchEvent(event);
  await Promise.all(work);
}"""


# Notes what a page reads, stores or sends by itself.
WATCH = """(() => {
  self.touched = [];
  const method = (owner, ...names) => {
    for (const name of names) {
      const real = owner[name];
      owner[name] = function (...values) { touched.push(name); return real.apply(this, values); };
    }
  };
  const value = (owner, ...names) => {
    for (const name of names) {
      const real = Object.getOwnPropertyDescriptor(owner, name);
      Object.defineProperty(owner, name, { ...real, get() { touched.push(name); return real.get.call(this); } });
    }
  };
  method(Storage.prototype, "getItem", "setItem", "removeItem", "clear", "key");
  method(IDBFactory.prototype, "open", "deleteDatabase", "databases");
  method(CacheStorage.prototype, "open", "keys", "match");
  method(ServiceWorkerContainer.prototype, "register", "getRegistration", "getRegistrations");
  method(PushManager.prototype, "getSubscription", "subscribe");
  method(Permissions.prototype, "query");
  method(Notification, "requestPermission");
  method(Navigator.prototype, "sendBeacon");
  method(XMLHttpRequest.prototype, "open");
  method(self, "fetch");
  value(Notification, "permission");
  value(Document.prototype, "cookie", "referrer", "visibilityState");
  value(Navigator.prototype, "userAgent", "language", "languages", "platform");
  value(ServiceWorkerContainer.prototype, "controller", "ready");
  self.WebSocket = class extends WebSocket {
    constructor(...values) { touched.push("WebSocket"); super(...values); }
  };
})()"""

WITHOUT_CONSENT = """async ([server, appKey, publicKey]) => {
  const { Borealis } = await import(`${server}/sdk/web/index.js`);
  const note = () => touched.push("listener");
  self.borealis = new Borealis({ server, appKey, publicKey, worker: "/worker.js" },
    { registered: note, connected: note, push: note, notifications: note });
  await borealis.start({ consent: false });
  const found = [
    borealis.registrationId, borealis.isConnected, borealis.notificationStatus, (await borealis.setAlias("anna")).code,
    (await borealis.getTags()).code, await borealis.turnOnNotifications(), await borealis.turnOffNotifications(),
    await borealis.rotateKey(),
  ];
  borealis.reportTapped({ id: "1" });
  borealis.stop();
  return found;
}"""

STORED = """async () => [
  localStorage.length + sessionStorage.length, (await indexedDB.databases()).length, (await caches.keys()).length,
  (await navigator.serviceWorker.getRegistrations()).length, document.cookie.length,
]"""


class Site(http.server.ThreadingHTTPServer):
    """Another site: the page and the worker of the documentation."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, str]] = {}
        super().__init__(("127.0.0.1", 0), functools.partial(SiteHandler))
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"

    def fill(self, server: str, app_key: str, public_key: str) -> None:
        text = DOCUMENT.read_text().replace("https://push.example.com", server)
        text = text.replace("0123456789abcdef00112233", app_key).replace("BCVxsr7N…", public_key)
        (worker,) = re.findall(r"```js\n(.*?)```", text, re.DOTALL)
        (page,) = re.findall(r"```html\n(.*?)```", text, re.DOTALL)
        self.files = {
            "/": ("text/html; charset=utf-8", page), "/worker.js": ("text/javascript", worker),
            "/empty": ("text/html; charset=utf-8", "<!doctype html><title>Shop</title>"),
        }  # fmt: skip


class SiteHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        kind, text = self.server.files.get(self.path, ("", ""))  # type: ignore[attr-defined]
        self.send_response(200 if kind else 204)
        body = text.encode()
        if kind:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


def online(server: Server) -> float:
    """Devices that the server knows to be connected."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://{server.http}/metrics", timeout=DEADLINE) as answer:
        found = re.search(r"^borealis_devices_online (\S+)$", answer.read().decode(), re.MULTILINE)
    assert found, "the number of connected devices is among the metrics"
    return float(found[1])


class Stage:
    """A browser context with the push service in the place of Google's, and an app's server."""

    def __init__(self, api: AppServer, service: PushService, server: Server):
        self.api, self.service = api, service
        self.server = server
        self.refusal = ""
        self.subscribed: list[tuple[bool, str]] = []
        self.context: BrowserContext
        self.page: Page
        self._seen = 0

    async def use(self, page: Page) -> None:
        self.page, self.context = page, page.context
        await self.context.expose_function("subscriptionOfTest", self._subscribe)
        await self.context.add_init_script(SUBSCRIBE)

    def _subscribe(self, user_visible_only: bool, key: str) -> str:
        self.subscribed.append((user_visible_only, key))
        return "!" + self.refusal if self.refusal else self.service.subscription()

    async def worker(self, scope: str) -> Worker:
        """The service worker of a scope, which may have to start."""
        async with asyncio.timeout(DEADLINE):
            while True:
                for worker in self.context.service_workers:
                    if await worker.evaluate("registration.scope") == scope:
                        return worker
                await asyncio.sleep(0.05)


    @contextlib.asynccontextmanager
    async def leaving(self) -> AsyncIterator[None]:
        """A connection is ended; waits until the server knows it. What is pushed before goes to the connection alone."""
        before = await asyncio.to_thread(online, self.server)
        yield
        async with asyncio.timeout(DEADLINE):
            while await asyncio.to_thread(online, self.server) >= before:
                await asyncio.sleep(0.05)

    async def push(self, device: str, notification: dict[str, Any], **options: Any) -> str:
        body = {"platform": ["android"], "audience": {"registration_id": [device]},
                "notification": {"android": notification}, "options": {"time_to_live": 3600} | options}  # fmt: skip
        return (await self.api.call("POST", "/v3/push", body))["msg_id"]

    async def arrived(self, msg_id: str) -> tuple[str, bytes]:
        """Waits for the request that brings a push; gives its path and what the browser reads."""
        async with asyncio.timeout(DEADLINE):
            while True:
                for fields, body in self.service.requests:
                    plain = self.service.open(body)
                    if json.loads(plain)["msg_id"] == msg_id:
                        return fields[":path"], plain
                await asyncio.sleep(0.05)

    async def deliver(self, scope: str, plain: bytes) -> None:
        """Hands a message to the worker of a scope, as a push service does. What it shows stays."""
        await (await self.worker(scope)).evaluate(KEEP)
        session = await self.context.new_cdp_session(self.page)
        found: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def note(event: dict[str, Any]) -> None:
            for registration in event["registrations"]:
                if registration["scopeURL"] == scope and not registration["isDeleted"] and not found.done():
                    found.set_result(registration["registrationId"])

        session.on("ServiceWorker.workerRegistrationUpdated", note)
        await session.send("ServiceWorker.enable")
        async with asyncio.timeout(DEADLINE):
            number = await found
        origin = re.match(r"https?://[^/]+", scope)
        assert origin, "a scope has an origin"
        await session.send(
            "ServiceWorker.deliverPushMessage",
            {"origin": origin[0], "registrationId": number, "data": plain.decode()})  # fmt: skip
        await session.detach()

    async def shows(self, scope: str, tag: str, body: str) -> list[dict[str, Any]]:
        """Waits until the worker of a scope has shown a notification; gives all that the system shows."""
        worker = await self.worker(scope)
        async with asyncio.timeout(DEADLINE):
            while not await worker.evaluate(SHOWS, [tag, body]):
                await asyncio.sleep(0.05)
        return await worker.evaluate(SHOWN)

    async def counts(self, msg_id: str, shown: int, tapped: int) -> None:
        """Waits until the server knows of so many receipts."""
        async with asyncio.timeout(DEADLINE):
            while True:
                report = await self.api.call("GET", f"/v1/pushes/{msg_id}")
                found = (report["shown"], report["tapped"])
                if found == (shown, tapped):
                    return
                await asyncio.sleep(0.05)


async def virtual_device(walk: Walk, server: Server, stage: Stage, app: str) -> str:
    """On the console's page: from an app without a key to a notification that was tapped while no page was open."""
    base = f"http://{server.http}/console/apps/{app}"
    scope, page, api = f"{base}/", stage.page, stage.api
    status, state = page.locator("[data-device-status]"), page.locator("[data-device-webpush-state]")
    shade = page.locator("[data-device-shade]")
    turn_on = page.get_by_role("button", name="Turn on in this browser")
    await page.goto(f"{base}/virtual")
    await page.get_by_role("button", name="Start device").click()
    await status.get_by_text("Online").wait_for()
    await state.get_by_text("This app has no key for Web Push.").wait_for()
    expect_equal(await turn_on.is_visible(), False, "a button without a key")
    await walk.look("webpush-no-key")
    await page.get_by_role("link", name="Set up a key").click()
    await page.get_by_label("Contact").fill(CONTACT)
    await page.get_by_role("button", name="Save key").click()
    await page.get_by_text("The credential is now in use.").wait_for()
    key = await page.locator("dd code").first.inner_text()

    await page.goto(f"{base}/virtual")
    await status.get_by_text("Online").wait_for()
    device = await page.locator("[data-device-id]").inner_text()
    await state.get_by_text("Off.").wait_for()
    await walk.look("webpush-off")
    # The browser's push service cannot be reached: what it says is shown, and the button tries again.
    stage.refusal = "Registration failed - push service error"
    await turn_on.click()
    await page.get_by_text("The browser answers: Registration failed - push service error").wait_for()
    await walk.look("webpush-problem")
    stage.refusal = ""
    await turn_on.click()
    await state.get_by_text("On.").wait_for()
    await page.locator("[data-device-log]").get_by_text("SET_CHANNEL_TOKEN: done").wait_for()
    expect_equal(stage.subscribed[-1][0], True, "userVisibleOnly")
    expect_equal(await turn_on.is_visible(), False, "a button that has no effect")
    await walk.look("webpush-on")

    # While the device is connected, pushes come on the connection; later over Web Push, each once.
    online = await stage.push(device, {"alert": "over the connection"})
    await shade.get_by_text("over the connection").wait_for()
    await stage.deliver(scope, json.dumps({"msg_id": online, "notification": {"alert": "twice"}}).encode())
    async with stage.leaving():
        await page.get_by_role("button", name="Disconnect").click()
    await page.get_by_label("Title").fill("Aurora")
    await page.get_by_label("Text", exact=True).fill("The sky is green")
    await page.get_by_role("button", name="Send a push to it").click()
    link = page.get_by_role("link", name="Delivery status")
    msg_id = (await link.get_attribute("href") or "").rsplit("/", 1)[-1]
    _, plain = await stage.arrived(msg_id)
    await stage.deliver(scope, plain)
    await shade.get_by_role("button", name="The sky is green").wait_for()
    found = await stage.shows(scope, msg_id, "The sky is green")
    expect_equal(
        found, [{"title": "Aurora", "body": "The sky is green", "tag": msg_id, "url": f"{base}/virtual", "silent": False}],
        "the system's notifications")  # fmt: skip
    await stage.counts(msg_id, 1, 0)
    await walk.look("webpush-shown")
    await stage.deliver(scope, plain)

    # What the worker has shown is not shown again when the connection brings it. A receipt would say that it has come already.
    worker = await stage.worker(scope)
    await worker.evaluate("() => { self.kept = fetch; self.fetch = async () => { throw new TypeError('no network'); }; }")
    both = await stage.push(device, {"alert": "by both"}, strategy=3)
    await stage.deliver(scope, json.dumps({"msg_id": both, "notification": {"alert": "by both"}}).encode())
    await shade.get_by_text("by both").wait_for()
    await page.get_by_role("button", name="Start device").click()
    await page.locator("[data-device-log] .ours", has_text=f"acknowledges {both}").wait_for()
    expect_equal(await shade.get_by_text("by both").count(), 1, "notifications of a push that came twice")
    expect_equal(len(await stage.shows(scope, both, "by both")), 2, "notifications of two pushes")
    await worker.evaluate("() => { self.fetch = self.kept; }")

    # Contents for this device alone, and a push in the place of another.
    (told,) = (await api.call("GET", f"/v1/devices/keys?registration_id={device}"))["keys"]
    async with stage.leaving():
        await page.close()
    stage.page = walk.page = page = await stage.context.new_page()
    hidden = DeviceKey.of(told).encryption(notification={"alert": "for you alone"})
    sealed = await stage.push(device, {"alert": "neutral"}, encryption=hidden)
    _, plain = await stage.arrived(sealed)
    await stage.deliver(scope, plain)
    expect_equal(len(await stage.shows(scope, sealed, "for you alone")), 3, "notifications, one of them encrypted")
    newer = await stage.push(device, {"alert": "newer"}, override_msg_id=int(sealed))
    _, plain = await stage.arrived(newer)
    await stage.deliver(scope, plain)
    found = {one["tag"]: one["body"] for one in await stage.shows(scope, sealed, "newer")}
    expect_equal((len(found), found[sealed]), (3, "newer"), "a notification in the place of another")

    # A tap while no page is open opens one, which knows of it.
    worker = await stage.worker(scope)
    expect_equal(await worker.evaluate(TAP, msg_id), [f"{base}/virtual"], "the page that a tap opens")
    await stage.counts(msg_id, 1, 1)
    expect_equal(await worker.evaluate(TAP, sealed), [f"{base}/virtual"], "the page that a tap opens")
    await stage.counts(newer, 1, 1)
    await page.goto(f"{base}/virtual")
    shade = page.locator("[data-device-shade]")
    for name in ("newer", "The sky is green"):
        await shade.get_by_role("button", name=name).get_by_text("Opened").wait_for()
    expect_equal(await shade.get_by_text("for you alone").count(), 0, "a notification that was replaced")
    await walk.look("webpush-tapped")

    # The browser ends a subscription and gives another one.
    await page.locator("[data-device-status]").get_by_text("Online").wait_for()
    async with stage.leaving():
        await page.goto("about:blank")
    await worker.evaluate(RENEW, stage.service.subscription("another"))
    path, _ = await stage.arrived(await stage.push(device, {"alert": "to the new one"}))
    expect_equal(path, "/wpush/v2/another", "the subscription after a change")

    # A test of the channel from the page of its key.
    await page.goto(f"{base}/settings/credentials/webpush")
    await page.get_by_role("link", name="Send a test notification").click()
    await walk.look("webpush-test")
    await page.get_by_label("Text", exact=True).fill("only a test")
    await page.get_by_role("button", name="Send a test notification").click()
    await page.get_by_text("only a test").first.wait_for()
    async with asyncio.timeout(DEADLINE):
        while b"only a test" not in service_texts(stage):
            await asyncio.sleep(0.05)
    await page.locator("tr", has_text="Web Push").first.wait_for()
    await walk.look("webpush-test-sent")
    return key


def service_texts(stage: Stage) -> bytes:
    """All that the browser can read of what came."""
    return b"".join(stage.service.open(body) for _, body in stage.service.requests)


async def turn_off(walk: Walk, server: Server, stage: Stage, app: str) -> None:
    """Turned off, pushes wait for the connection; a browser that blocks notifications and a page over plain HTTP say so."""
    base = f"http://{server.http}/console/apps/{app}"
    page = stage.page
    await page.goto(f"{base}/virtual")
    status, state = page.locator("[data-device-status]"), page.locator("[data-device-webpush-state]")
    await status.get_by_text("Online").wait_for()
    await state.get_by_text("On.").wait_for()
    await page.get_by_role("button", name="Turn off").click()
    await state.get_by_text("Off.").wait_for()
    device = await page.locator("[data-device-id]").inner_text()
    async with stage.leaving():
        await page.get_by_role("button", name="Disconnect").click()
    late = await stage.push(device, {"alert": "waits"})
    report = await stage.api.call("GET", f"/v1/pushes/{late}")
    expect_equal(report.get("webpush", {}).get("targets", 0), 0, "targets over Web Push")
    await page.get_by_role("button", name="Start device").click()
    await page.locator("[data-device-shade]").get_by_text("waits").wait_for()
    # The browser forbids it while the page is open.
    session = await stage.context.new_cdp_session(page)
    context = (await session.send("Target.getTargetInfo"))["targetInfo"]["browserContextId"]
    await session.send("Browser.setPermission", {
        "permission": {"name": "notifications"}, "setting": "denied", "origin": f"http://{server.http}",
        "browserContextId": context})  # fmt: skip
    await state.get_by_text("This browser blocks notifications").wait_for()
    expect_equal(await page.get_by_role("button", name="Turn on in this browser").is_visible(), False, "a dead button")
    await walk.look("webpush-denied")
    await session.detach()

    # A page over plain HTTP from another machine.
    await page.goto(f"http://{INSECURE}:{server.http.rsplit(':', 1)[-1]}/console/apps/{app}/virtual")
    await page.get_by_label("Email address").fill("zoe@example.com")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Log in").click()
    await page.get_by_role("button", name="Start device").click()
    await state.get_by_text("Web Push needs a page over HTTPS.").wait_for()
    await walk.look("webpush-insecure")


async def another_site(stage: Stage, site: Site, server: Server) -> None:
    """The page of the documentation on another origin: subscribes, shows, reports."""
    page, scope = stage.page, f"{site.origin}/"
    await page.goto(scope)
    await page.get_by_text("Notifications: off").wait_for()
    device = await page.locator("#device", has_text=re.compile("^[0-9a-f]{19}$")).inner_text()
    await page.get_by_role("button", name="Notify me").click()
    await page.get_by_text("Notifications: on").wait_for()
    await stage.push(device, {"alert": "while open"})
    await page.get_by_text("while open").wait_for()
    async with stage.leaving():
        await page.goto("about:blank")
    msg_id = await stage.push(device, {"alert": "while closed", "alert_type": 0})
    _, plain = await stage.arrived(msg_id)
    await stage.deliver(scope, plain)
    found = await stage.shows(scope, msg_id, "while closed")
    expect_equal(
        found, [{"title": "Shop", "body": "while closed", "tag": msg_id, "url": scope, "silent": True}],
        "the site's notifications")  # fmt: skip
    await stage.counts(msg_id, 1, 0)
    # The server is away: the receipt is repeated when the page starts.
    worker = await stage.worker(scope)
    await server.stop(signal.SIGTERM)
    expect_equal(await worker.evaluate(TAP, msg_id), [scope], "the page that a tap opens")
    await server.start()
    await page.goto(scope)
    await page.get_by_text("while closed").wait_for()
    await stage.counts(msg_id, 1, 1)


async def consent(page: Page, site: Site, server: Server, app: str, key: str) -> None:
    """Before the person agrees the library reads, stores and sends nothing, whatever the page calls."""
    await page.context.add_init_script(WATCH)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.on("websocket", lambda socket: sent.append(socket.url))
    base = f"http://{server.http}"
    await page.goto(f"{site.origin}/empty")
    found = await page.evaluate(WITHOUT_CONSENT, [base, app, key])
    expect_equal(found, [None, False, "off", 6012, 6012, "off", "off", 6012], "answers without consent")
    expect_equal(await page.evaluate("touched"), [], "what the library uses without consent")
    expect_equal(await page.evaluate(STORED), [0, 0, 0, 0, 0], "what is stored without consent")
    others = [url for url in sent if not url.startswith((f"{site.origin}/", f"{base}/sdk/web/"))]
    expect_equal(others, [], "requests without consent")
    # All of that is noticed: with consent it happens.
    await page.evaluate("async () => { touched.length = 0; await borealis.start({ consent: true }); }")
    await page.wait_for_function("borealis.isConnected")
    touched = set(await page.evaluate("touched"))
    expect(touched >= {"getItem", "setItem", "WebSocket", "listener", "permission"}, f"with consent: {sorted(touched)}")
    expect(any(url.startswith("ws") for url in sent), "a connection with consent")
    expect((await page.evaluate(STORED))[0] > 0, "nothing is stored with consent")
    # Who takes it back leaves nothing behind.
    await page.evaluate("borealis.forget()")
    expect_equal((await page.evaluate(STORED))[0], 0, "what is stored after `forget`")


async def deleted_data(stage: Stage, server: str) -> None:
    """Somebody deletes what a site has stored while its page is open: the page goes on with a new database."""
    page = stage.page
    await page.evaluate(
        "async (url) => { self.kept = new (await import(url)).Store('kept'); await kept.setFact('name', 'value'); }",
        f"{server}/sdk/web/store.js")  # fmt: skip
    expect_equal(await page.evaluate("kept.fact('name')"), "value", "what is stored")
    session = await stage.context.new_cdp_session(page)
    origin = await page.evaluate("origin")
    await session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "indexeddb"})
    await session.detach()
    expect_equal(await page.evaluate("kept.fact('name')"), None, "what was deleted")
    await page.evaluate("kept.setFact('name', 'again')")
    expect_equal(await page.evaluate("kept.fact('name')"), "again", "what is stored afterwards")


async def vectors(stage: Stage, server: str) -> None:
    """The library decodes what servers send, as the protocol's page has it."""
    lines = [line.split() for line in VECTORS.read_text().splitlines()]
    frames = {name: data for direction, name, data in (line for line in lines if len(line) == 3) if direction == "s"}
    expect(len(frames) > 10, f"{len(frames)} server frames")
    found = await stage.page.evaluate(
        """async ([url, all]) => {
          const { decode } = await import(url);
          const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
          return Object.entries(all).map(([name, hex]) => [name, decode(bytes(hex)).map((frame) => frame.name)]);
        }""",
        [f"{server}/sdk/web/device.js", frames])  # fmt: skip
    for name, names in found:
        expect_equal(len(names), 1, f"frames of {name}")
        expect(name.upper().replace("-", "_").startswith(names[0]), f"{name} is decoded as {names[0]}")


async def play(binary: str, folder: pathlib.Path, pictures: pathlib.Path | None) -> None:
    service, site = PushService(), Site()
    for each in (service, site):
        threading.Thread(target=each.serve_forever, daemon=True).start()
    server = Server(binary, folder, ("--web-push-url", service.url, "--device-origins", site.origin))
    try:
        await server.start()
        async with async_playwright() as playwright:
            resolve = f"--host-resolver-rules=MAP {INSECURE} 127.0.0.1"
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, resolve])
            walk = Walk(browser, pictures)
            await set_up(walk, await server.setup_link())
            app, secret = await server.create_app("pages")
            api = AppServer(server, app, secret)
            stage = Stage(api, service, server)
            await stage.use(walk.page)
            await stage.context.grant_permissions(["notifications"], origin=f"http://{server.http}")
            key = await virtual_device(walk, server, stage, app)
            print("ok - the console's device shows what comes over Web Push")
            await turn_off(walk, server, stage, app)
            print("ok - the page says why there is no Web Push")
            expect_equal(walk.complaints, [], "complaints of the browser")
            site.fill(f"http://{server.http}", app, key)
            other = Stage(api, service, server)
            await other.use(await (await browser.new_context()).new_page())
            await other.context.grant_permissions(["notifications"], origin=site.origin)
            await another_site(other, site, server)
            await deleted_data(other, f"http://{server.http}")
            await vectors(other, f"http://{server.http}")
            print("ok - so does the page of another site")
            fresh = await (await browser.new_context()).new_page()
            await consent(fresh, site, server, app, key)
            print("ok - nothing happens before consent")
            await browser.close()
    except Failed:
        print(server.log()[-2000:], file=sys.stderr)
        raise
    finally:
        await server.stop(signal.SIGKILL)
        service.shutdown()
        site.shutdown()


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help="the built program")
    parser.add_argument("--pictures", type=pathlib.Path, help="a folder for pictures of all pages")
    arguments = parser.parse_args()
    binary = str(pathlib.Path(arguments.binary).resolve())
    with tempfile.TemporaryDirectory(prefix="borealis-") as folder:
        try:
            asyncio.run(play(binary, pathlib.Path(folder), arguments.pictures))
        except (Failed, OSError) as failure:
            sys.exit(f"FAILED {told(failure)}")


if __name__ == "__main__":
    main()
