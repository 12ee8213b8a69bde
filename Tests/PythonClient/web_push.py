"""Web Push with the reference libraries for Python on the other side.

    python3 web_push.py --binary .build/debug/borealis

First pywebpush sends to the simulator's browsers: the simulator takes what other senders make. Then a push service in Python takes
what Borealis sends: http-ece opens the message with the browser's key, and py-vapid checks the proof.
"""

import asyncio
import base64
import http.server
import json
import os
import pathlib
import signal
import threading
from typing import Any

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02
from pywebpush import WebPushException, webpush

import push_api
from channel_simulator import Simulator
from stage import DEADLINE, Phone, Server, expect, expect_equal, main

CONTACT = "mailto:push@example.com"
SHOWN = {"alert": "你好", "title": "Shop", "extras": {"order": 77}}


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


class PushService(http.server.ThreadingHTTPServer):
    """A push service with one browser behind it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.key, self.auth = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.arrived = threading.Event()

    def subscription(self, name: str = "gAAAA") -> str:
        """What JSON.stringify says of the browser's subscription, as browsers order it."""
        keys = {"p256dh": encode(point(self.key.public_key())), "auth": encode(self.auth)}
        value = {"endpoint": f"{self.url}/wpush/v2/{name}", "expirationTime": None, "keys": keys}
        return json.dumps(value, separators=(",", ":"))

    def open(self, body: bytes) -> bytes:
        """What the browser reads of a request's body."""
        return http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")


class Handler(http.server.BaseHTTPRequestHandler):
    server: PushService

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fields = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((fields | {":path": self.path}, body))
        self.server.arrived.set()
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


def send_by_pywebpush(simulator: Simulator) -> None:
    """The client's message arrives; with another key than the subscription's it is refused."""
    vapid, other = Vapid02(), Vapid02()
    vapid.generate_keys()
    other.generate_keys()
    made = simulator.order("subscriptions", {"application_server_key": encode(point(vapid.public_key))})
    browser = made["subscription"]
    answer = webpush(
        browser, json.dumps(SHOWN), vapid_private_key=vapid, vapid_claims={"sub": CONTACT}, ttl=60,
        headers={"Urgency": "high", "Topic": "a-topic"}, timeout=DEADLINE)  # fmt: skip
    expect_equal(answer.status_code, 201, "the status for pywebpush")
    entry = [entry for entry in simulator.entries() if entry["kind"] == "push"][-1]
    expect_equal(entry["message"], SHOWN, "the message of pywebpush")
    expect_equal((entry["ttl"], entry["urgency"], entry["topic"]), (60, "high", "a-topic"), "its fields")
    try:
        webpush(browser, "x", vapid_private_key=other, vapid_claims={"sub": CONTACT}, timeout=DEADLINE)
    except WebPushException as refusal:
        expect_equal(refusal.response.status_code, 403, "the status for another key")
    else:
        expect(False, "a message with another key was taken")


def check(service: PushService, fields: dict[str, str], body: bytes, public_key: str) -> dict[str, Any]:
    """What the browser reads of a request, if it is one of Web Push."""
    expect_equal(fields["content-encoding"], "aes128gcm", "the coding")
    expect(3500 < int(fields["ttl"]) <= 3600, f"a TTL of {fields['ttl']}")
    scheme, _, rest = fields["authorization"].partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    expect_equal((scheme, parts["k"]), ("vapid", public_key), "the proof")
    # py-vapid does not read the blank that RFC 8292 has in its example.
    expect(Vapid02.verify(fields["authorization"].replace(", ", ",")), "the signature is wrong")
    claims = json.loads(base64.urlsafe_b64decode(parts["t"].split(".")[1] + "=="))
    expect_equal((claims["aud"], claims["sub"]), (service.url, CONTACT), "the claims")
    return json.loads(service.open(body))


async def play(binary: str, folder: pathlib.Path) -> None:
    simulator = await Simulator().start(binary, folder / "google")
    service = PushService()
    threading.Thread(target=service.serve_forever, daemon=True).start()
    server = Server(binary, folder, ("--web-push-url", service.url))
    try:
        await asyncio.to_thread(send_by_pywebpush, simulator)
        print("ok - the simulator takes what pywebpush sends")
        await server.start()
        key, secret = await server.create_app("pages")
        made = await server.command("app", "channel", "set", key, "webpush", "--contact", CONTACT)
        phone = await Phone("page", server.plain, key, folder / "page.json").start()
        told = await phone.device.set_channel_token("webpush", service.subscription())
        expect_equal(told.code, 0, "the code for a subscription")
        await phone.stop()
        api = push_api.PlainAPI(f"http://{server.http}", key, secret)
        push = {
            "platform": ["android"], "audience": "all", "notification": {"android": SHOWN},
            "options": {"time_to_live": 3600},
        }  # fmt: skip
        # The key is in use within seconds.
        async with asyncio.timeout(DEADLINE):
            while not service.arrived.is_set():
                sent = await asyncio.to_thread(api.request, "POST", "/v3/push", push)
                await asyncio.to_thread(service.arrived.wait, 1)
        fields, body = service.requests[-1]
        read = check(service, fields, body, made["key_id"])
        expect_equal(read, {"msg_id": fields["topic"], "notification": SHOWN}, "what the browser reads")
        expect(sent["msg_id"], "a push has an ID")
        print("ok - http-ece and py-vapid read what Borealis sends")
    finally:
        await server.stop(signal.SIGKILL)
        await simulator.stop()
        service.shutdown()


if __name__ == "__main__":
    main(__doc__ or "", play)
