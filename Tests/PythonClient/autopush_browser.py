"""A browser that takes its Web Push from Borealis by the autopush protocol, through the package `websockets`, and reads messages
with http-ece. Like Firefox it knows the latest ten messages again."""

import asyncio
import base64
import collections
import contextlib
import json
import os
import uuid
from typing import Any

import http_ece
import websockets
from cryptography.hazmat.primitives.asymmetric import ec
from stage import DEADLINE, expect, expect_equal
from web_push import encode, point
from websockets.asyncio.client import ClientConnection, connect


class Browser:
    """Comes back whenever its connection ends, until `stop`."""

    def __init__(self, server: str, news: asyncio.Event | None = None):
        """`news` is set with everything that comes: browsers may share one."""
        self.address = f"ws://{server}/autopush"
        self.uaid = ""
        self.read: list[bytes] = []
        self.repeated = 0
        self.hellos = 0
        self._subscriptions: dict[str, tuple[ec.EllipticCurvePrivateKey, bytes]] = {}
        self._recent: dict[str, collections.deque[str]] = {}
        self._answers: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._socket: ClientConnection
        self.news = news or asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> "Browser":
        self._running = asyncio.create_task(self._run())
        await self.until(lambda: self.hellos > 0)
        return self

    async def stop(self) -> None:
        if self._running:
            self._running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._running

    async def drop(self) -> None:
        """Ends the connection once what was said is sent, and comes back."""
        await self._socket.close()

    async def until(self, condition: Any) -> None:
        async with asyncio.timeout(4 * DEADLINE):
            while not condition():
                self.news.clear()
                await self.news.wait()

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(OSError, websockets.WebSocketException):
                async with connect(self.address, subprotocols=["push-notification"]) as socket:  # type: ignore[list-item]
                    expect_equal(socket.subprotocol, "push-notification", "the subprotocol")
                    self._socket = socket
                    hello = {"messageType": "hello", "use_webpush": True, "broadcasts": {}}
                    await socket.send(json.dumps(hello | ({"uaid": self.uaid} if self.uaid else {})))
                    async for text in socket:
                        await self._take(json.loads(text))
            await asyncio.sleep(0.05)

    async def _take(self, message: dict[str, Any]) -> None:
        match message.get("messageType"):
            case "hello":
                expect(self.uaid in ("", message["uaid"]), "another UAID: the subscriptions are gone")
                self.uaid = message["uaid"]
                self.hellos += 1
            case "register" | "unregister":
                self._answers.pop(message["channelID"]).set_result(message)
            case "notification":
                await self._notify(message)
        self.news.set()

    async def _notify(self, message: dict[str, Any]) -> None:
        channel, version = message["channelID"], message["version"]
        recent = self._recent[channel]
        if version in recent:
            self.repeated += 1
        else:
            recent.append(version)
            self.read.append(self._decrypt(channel, message))
        update = {"channelID": channel, "version": version, "code": 100}
        await self._socket.send(json.dumps({"messageType": "ack", "updates": [update]}))

    def _decrypt(self, channel: str, message: dict[str, Any]) -> bytes:
        if "data" not in message:
            return b""
        expect_equal(message["headers"]["encoding"], "aes128gcm", "the encoding")
        key, secret = self._subscriptions[channel]
        body = base64.urlsafe_b64decode(message["data"] + "==")
        return http_ece.decrypt(body, private_key=key, auth_secret=secret, version="aes128gcm")

    async def _ask(self, kind: str, channel: str, **members: Any) -> dict[str, Any]:
        self._answers[channel] = asyncio.get_running_loop().create_future()
        await self._socket.send(json.dumps({"messageType": kind, "channelID": channel, **members}))
        async with asyncio.timeout(DEADLINE):
            answer = await self._answers[channel]
        expect_equal(answer["status"], 200, f"the status of {kind}")
        return answer

    async def subscribe(self, key: bytes | None = None) -> dict[str, Any]:
        """What JSON.stringify says of a new subscription, at which only the owner of a key may send if one is named."""
        channel, own, secret = str(uuid.uuid4()), ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        self._subscriptions[channel] = (own, secret)
        self._recent[channel] = collections.deque(maxlen=10)
        answer = await self._ask("register", channel, **({"key": encode(key)} if key else {}))
        keys = {"p256dh": encode(point(own.public_key())), "auth": encode(secret)}
        return {"endpoint": answer["pushEndpoint"], "channel": channel, "keys": keys}

    async def unsubscribe(self, subscription: dict[str, Any]) -> None:
        await self._ask("unregister", subscription["channel"])
