"""Proves that devices over WebSocket, Docs/protocol.md section 8, get what others get: the device of borealis_device.py
through the package `websockets`, over HTTP and HTTPS, with a restart of the server in between.

    python3 web_devices.py --binary .build/debug/borealis
"""

import argparse
import asyncio
import contextlib
import pathlib
import signal
import ssl
import sys
import tempfile
from typing import Any

import borealis_wire as wire
import websockets
from borealis_device import Device, Push
from push_api import EVERYONE, PlainAPI
from stage import DEADLINE, LOCAL, Server, alert, expect, expect_equal
from websockets.asyncio.client import ClientConnection, connect


class Line:
    """A WebSocket with the methods of a stream: what is written at once is one message."""

    def __init__(self, socket: ClientConnection):
        self.socket = socket
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        self._sender = asyncio.create_task(self._send())

    async def _send(self) -> None:
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                await self.socket.send(await self._outgoing.get())

    def write(self, data: bytes) -> None:
        self._outgoing.put_nowait(data)

    async def read(self, _: int) -> bytes:
        try:
            message = await self.socket.recv()
        except websockets.ConnectionClosed:
            return b""
        expect(isinstance(message, bytes), "a message is text")
        frames = wire.FrameBuffer()
        frames.feed(message)
        while frames.next():
            pass
        expect(frames.is_empty, "a message ends within a frame")
        return message

    def close(self) -> None:
        self._sender.cancel()
        self._closing = asyncio.create_task(self.socket.close())


class WebDevice(Device):
    """A device whose server is an address such as `ws://127.0.0.1:8080/device`."""

    async def _open(self, server: str) -> tuple[Any, Any]:
        self.line = Line(await connect(server, ssl=self._tls, ping_interval=None, max_size=None))
        return self.line, self.line


class Seen:
    """A device and what it has shown, with a way to wait for it."""

    def __init__(self, address: str, key: str, state: pathlib.Path, tls: ssl.SSLContext | None = None):
        self.shown: list[str] = []
        self.events: list[str] = []
        self._news = asyncio.Event()
        self.device = WebDevice(address, key, str(state), on_push=self._push, on_event=self._event, tls=tls)
        self.running = asyncio.create_task(self.device.run())

    def _push(self, push: Push) -> None:
        self.shown.append(alert(push))
        self._news.set()

    def _event(self, name: str, **details: Any) -> None:
        self.events.append(name)
        if name == "disconnected":
            self.events.append(details["reason"])
        self._news.set()

    async def until(self, condition: Any, what: str) -> None:
        async with asyncio.timeout(DEADLINE):
            while not condition():
                self._news.clear()
                await self._news.wait()


async def close_code(address: str, message: Any) -> int | None:
    """What the server closes with after a message of a outsider."""
    async with asyncio.timeout(DEADLINE), connect(address) as socket:
        await socket.send(message)
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                await socket.recv()
        return socket.close_code


async def scenario(server: Server, folder: pathlib.Path) -> None:
    await server.start()
    key, secret = await server.create_app("web")
    api = PlainAPI(f"http://{server.http}", key, secret)
    tls = ssl.create_default_context(cafile=server.certificate)
    tls.check_hostname = False
    plain_address, tls_address = f"ws://{server.http}/device", f"wss://{server.http_tls}/device"
    devices = [
        Seen(plain_address, key, folder / "plain.json"),
        Seen(tls_address, key, folder / "tls.json", tls),
    ]
    for seen in devices:
        await asyncio.wait_for(seen.device.online.wait(), DEADLINE)
        expect_equal((await seen.device.set_alias("web")).code, 0, "set_alias")
    expect_equal((await devices[1].device.get_alias()).value, "web", "the alias")
    for text in ("hello", "bye"):
        await asyncio.to_thread(api.push, EVERYONE, text)
    for seen in devices:
        await seen.until(lambda seen=seen: len(seen.shown) == 2, "two pushes")
        expect_equal(seen.shown, ["hello", "bye"], "pushes shown")

    expect_equal(await server.stop(signal.SIGTERM), 0, "the exit status")
    for seen in devices:
        await seen.until(lambda seen=seen: "disconnected" in seen.events, "the end")
        expect("GO_AWAY 1" in seen.events, f"the drain was not told: {seen.events}")
        expect_equal(seen.device.line.socket.close_code, 1001, "the code of the Close")
    await server.start()
    await asyncio.to_thread(api.push, EVERYONE, "after")
    for seen in devices:
        await seen.until(lambda seen=seen: len(seen.shown) == 3, "the push after the restart")
        expect_equal(seen.shown, ["hello", "bye", "after"], "pushes shown, none twice")

    expect_equal(await close_code(plain_address, "text"), 1003, "the code for a text")
    expect_equal(await close_code(plain_address, bytes(70000)), 1009, "the code for a message over the limit")
    expect_equal(await close_code(plain_address, b"\xff\xff\xff"), 1000, "the code behind an ERROR")
    try:
        async with connect(plain_address, origin=websockets.Origin("https://evil.example")):
            expect(False, "a page of another site may connect")
    except websockets.InvalidStatus as refusal:
        expect_equal(refusal.response.status_code, 403, "the status for another site")
    for seen in devices:
        seen.running.cancel()


async def run(binary: str) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = Server(binary, folder, http_tls=LOCAL)
        try:
            await scenario(server, folder)
        except Exception as problem:
            print(f"{type(problem).__name__}: {problem}\n{server.log()}", file=sys.stderr)
            return 1
        finally:
            await server.stop(signal.SIGTERM)
    print("ok - devices over WebSocket")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    sys.exit(asyncio.run(run(parser.parse_args().binary)))
