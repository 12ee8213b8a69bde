"""Proves with a real server, and an app server in Python, that callbacks come: signed, again and again until they are
taken, to allowed addresses only, and also when the server is killed.

    python3 callbacks.py --binary .build/debug/borealis

What Docs/api/callbacks.md says is all that this file knows of the server's signatures.
"""

import asyncio
import hashlib
import hmac
import http.server
import json
import pathlib
import random
import signal
import ssl
import subprocess
import threading
from collections.abc import Callable
from typing import Any

import push_api
from stage import DEADLINE, Failed, Phone, Server, expect, expect_equal, main, play_each

DELIVERED, CLICKED, NOT_DELIVERED, HANDED_OVER = 1, 2, 4, 8


def verify(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Whether a request is from the server that knows the secret."""
    signed = headers["x-borealis-timestamp"].encode() + b"." + body
    expected = "v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    given = headers.get("x-borealis-signature", "").split(",")
    return any(hmac.compare_digest(expected, one) for one in given)


class Receiver:
    """An app server: answers with what `answer` says for the number of the request, and keeps what it got."""

    def __init__(self, answer: Callable[[int], int] = lambda number: 200, tls: ssl.SSLContext | None = None):
        self.requests: list[tuple[dict[str, str], bytes]] = []
        lock = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with lock:
                    receiver.requests.append(({k.lower(): v for k, v in self.headers.items()}, body))
                    number = len(receiver.requests)
                self.send_response(answer(number))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        scheme = "https" if tls else "http"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}/callbacks"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for _, body in list(self.requests) for event in json.loads(body)]

    async def until(self, condition: Callable[[], Any], what: str) -> None:
        try:
            async with asyncio.timeout(DEADLINE):
                while not condition():
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise Failed(f"waited {DEADLINE} s for {what}; got {self.events}") from None

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Scene:
    """A server and an app of its own on it, with one phone."""

    def __init__(self, server: Server, folder: pathlib.Path, tls: ssl.SSLContext):
        self.server, self._folder, self.tls = server, folder, tls

    async def open(self, name: str) -> "Scene":
        self.key, secret = await self.server.create_app(name)
        self.api = push_api.PlainAPI(f"http://{self.server.http}", self.key, secret)
        self.phone = await Phone(
            name, self.server.plain, self.key, self._folder / f"{name}.json").start()  # fmt: skip
        return self

    async def end(self) -> None:
        await self.phone.stop()

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        return await asyncio.to_thread(self.api.request, method, path, body)

    async def push(self, alert: str, **callback: Any) -> str:
        body: dict[str, Any] = {"platform": "all", "audience": "all", "notification": {"alert": alert}}
        if callback:
            body["callback"] = callback
        return (await self.call("POST", "/v3/push", body))["msg_id"]


async def signed(scene: Scene) -> None:
    """A delivery is told, signed with the secret that was shown once, and with both while it is replaced"""
    receiver = Receiver()
    setting = await scene.call("PUT", "/v1/callback", {"url": receiver.url})
    secret = setting["secret"]
    expect("secret" not in await scene.call("GET", "/v1/callback"), "the secret is shown only once")
    msg_id = await scene.push("hello", params={"trace": "x1"})
    await receiver.until(lambda: len(receiver.events) >= 2, "the delivery to be told")
    headers, body = receiver.requests[0]
    expect(verify(secret, headers, body), "the signature fits")
    expect(not verify("whsec_other", headers, body), "another secret does not")
    expect(not verify(secret, headers, body + b" "), "another body does not")
    event = next(event for event in receiver.events if event["type"] == DELIVERED)
    expect_equal(
        {key: event[key] for key in event if key not in ("time", "event_id")},
        {"type": DELIVERED, "event": "delivered", "msg_id": msg_id, "sendno": "0", "platform": "android",
         "registration_id": scene.phone.device.registration_id, "channel": "connection",
         "params": {"trace": "x1"}},
        "the event")  # fmt: skip
    newer = (await scene.server.command("app", "callback", "rotate", scene.key))["secret"]
    answer = await scene.call("POST", "/v1/callback/test")
    expect_equal((answer["ok"], answer["status"]), (True, 200), "the test's answer")
    headers, body = receiver.requests[-1]
    expect(verify(secret, headers, body) and verify(newer, headers, body), "both secrets sign")
    receiver.close()


async def again(scene: Scene) -> None:
    """What fails is sent again, byte for byte, until it is taken; and once more when somebody asks for it"""
    receiver = Receiver(lambda number: 500 if number == 1 else 200)
    await scene.call("PUT", "/v1/callback", {"url": receiver.url, "types": DELIVERED})
    await scene.push("again")
    await receiver.until(lambda: len(receiver.requests) == 2, "a second attempt")
    done: list[dict[str, Any]] = []
    async with asyncio.timeout(DEADLINE):
        while not done:
            done = (await scene.call("GET", "/v1/callbacks?state=done"))["callbacks"]
            await asyncio.sleep(0.05)
    batch = await scene.call("GET", f"/v1/callbacks/{done[0]['id']}")
    expect_equal([result["status"] for result in batch["results"]], [500, 200], "results of the attempts")
    expect_equal(batch["body"], json.loads(receiver.requests[0][1]), "the body that is shown")
    await scene.call("POST", f"/v1/callbacks/{batch['id']}/resend")
    await receiver.until(lambda: len(receiver.requests) == 3, "the batch that was asked for")
    expect_equal(len({body for _, body in receiver.requests}), 1, "different bodies")
    receiver.close()


async def recalled(scene: Scene) -> None:
    """That a push was recalled is told for those who will not get it"""
    receiver = Receiver()
    await scene.server.command("app", "callback", "set", scene.key, "--url", receiver.url)
    await scene.phone.stop()
    offline = await scene.push("never", url=receiver.url, type=NOT_DELIVERED)
    await scene.call("DELETE", f"/v3/push/{offline}")
    await receiver.until(lambda: receiver.events, "the recall to be told")
    event = receiver.events[0]
    expect_equal((event["type"], event["reason"], event["msg_id"]), (NOT_DELIVERED, "Recalled", offline), "the event")
    receiver.close()


async def killed(scene: Scene) -> None:
    """What is stored of deliveries is told at least once, under one ID, however often the server is killed"""
    receiver = Receiver(lambda number: 503 if number in (2, 7, 12) else 200)
    await scene.call("PUT", "/v1/callback", {"url": receiver.url, "types": DELIVERED})
    sent = 0
    for _ in range(8):
        for _ in range(20):
            await scene.push(f"push {sent}")
            sent += 1
        # The moment of the kill is what is random here; nothing waits for this.
        await asyncio.sleep(random.uniform(0, 1.5))
        await scene.server.stop(signal.SIGKILL)
        await scene.server.start()
        # At once, where a device would wait longer and longer.
        await scene.phone.stop()
        await scene.phone.start()
        await scene.phone.until(lambda: len(scene.phone.pushes) >= sent, "all pushes")
    # Acknowledgements are stored within a second or two; then everything is stored that was delivered.
    async with asyncio.timeout(DEADLINE):
        while len(scene.server.delivered(scene.key)) < sent:
            await asyncio.sleep(0.05)
    stored = scene.server.delivered(scene.key)

    def told() -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for event in receiver.events:
            found.setdefault(event["msg_id"], set()).add(event["event_id"])
        return found

    await receiver.until(lambda: stored <= told().keys(), "every stored delivery to be told")
    expect(all(len(ids) == 1 for ids in told().values()), "a delivery has one event ID, however often it is told")
    receiver.close()


async def tls(scene: Scene) -> None:
    """Callbacks go over TLS to a receiver whose authority the operator has named"""
    receiver = Receiver(tls=scene.tls)
    await scene.call("PUT", "/v1/callback", {"url": receiver.url})
    answer = await scene.call("POST", "/v1/callback/test")
    expect(answer["ok"], f"the test over TLS: {answer}")
    receiver.close()


async def guarded(scene: Scene) -> None:
    """Nothing connects to this machine for a push that names it, unless the operator allows it"""
    receiver = Receiver()
    port = receiver.url.split(":")[2].split("/")[0]
    for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"):
        await scene.push("x", url=f"http://{host}:{port}/", type=DELIVERED)
    failed: list[dict[str, Any]] = []
    async with asyncio.timeout(DEADLINE):
        while len(failed) < 6:
            batches = (await scene.call("GET", "/v1/callbacks?state=pending"))["callbacks"]
            failed = [batch for batch in batches if batch["attempts"]]
            await asyncio.sleep(0.05)
    expect_equal({batch["error"] for batch in failed}, {"the address is not allowed"}, "why nothing was sent")
    expect_equal(receiver.requests, [], "requests that came in spite of it")
    receiver.close()


def make_identity(folder: pathlib.Path) -> tuple[ssl.SSLContext, str]:
    """A certificate for 127.0.0.1 that is its own authority."""
    certificate, key = folder / "receiver.pem", folder / "receiver-key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
         "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True)  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, str(certificate)


async def play_all(binary: str, folder: pathlib.Path) -> None:
    context, authority = make_identity(folder)
    open_to_us = ("--callback-networks", "127.0.0.0/8", "--callback-ca", authority)
    for scenarios, arguments in [((signed, again, recalled, tls, killed), open_to_us), ((guarded,), ())]:
        place = folder / scenarios[0].__name__
        place.mkdir()
        server = Server(binary, place, arguments)

        async def open_scene(name: str, server: Server = server, place: pathlib.Path = place) -> Scene:
            return await Scene(server, place, context).open(name)

        await play_each(server, scenarios, open_scene)


if __name__ == "__main__":
    main("Proves the callbacks of a built server.", play_all)
