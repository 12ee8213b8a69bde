"""A device of Borealis in plain Python 3.11, written from Docs/protocol.md alone.

As a library, `Device` is the client (the frames are in borealis_wire.py). As a program it stays connected
and prints one line of JSON for everything that happens:

    python3 borealis_device.py --server 127.0.0.1:7900 --app-key KEY --state device.json --alias anna
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import ssl
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import borealis_wire as wire
from borealis_wire import ProtocolError, require

NO_ANSWER, REGISTER_ANEW = 6002, (1011, 6016)
ANSWER_SECONDS, GOOD_SESSION_SECONDS = 10, 60
REMEMBERED_PUSHES = 1000
NEVER, BACK_OFF, AT_ONCE = 0, 1, 2
RECONNECT_AFTER = {1: AT_ONCE, 2: NEVER, 4: AT_ONCE, 6: NEVER, 7: NEVER}
DRAIN = 1
WITH_AGES, UNKNOWN_AGE = 3, 2**32 - 1
NEWEST = 7  # the version with receipts of in-app messages


class Ending(NamedTuple):
    """How a connection ended and what that means for the next one."""

    reconnect: int
    reason: str
    retry_after: float = 0  # seconds
    host: str = ""


class Ended(Exception):
    """The server has said that it ends the connection, and how."""

    def __init__(self, ending: Ending):
        self.ending = ending


class Result(NamedTuple):
    code: int
    value: Any = None


class Push(NamedTuple):
    msg_id: int
    offline: bool
    content: dict


class State:
    """What has to outlive the process: the registration and the pushes handled last."""

    def __init__(self, path: str):
        self._path = path
        stored = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                stored = json.load(file)
        self.fingerprint: str = stored.get("fingerprint") or os.urandom(16).hex()
        self.registration_id: str | None = stored.get("registration_id")
        self.secret: str = stored.get("secret", "")
        self.handled: dict[int, None] = dict.fromkeys(stored.get("handled", []))

    def remember(self, msg_id: int) -> None:
        self.handled[msg_id] = None
        while len(self.handled) > REMEMBERED_PUSHES:
            del self.handled[next(iter(self.handled))]

    def save(self) -> None:
        values = {"fingerprint": self.fingerprint, "registration_id": self.registration_id,
                  "secret": self.secret, "handled": list(self.handled)}  # fmt: skip
        folder = os.path.dirname(os.path.abspath(self._path))
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
            json.dump(values, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, self._path)


class Device:
    """One device: `run` keeps it connected until the server says "never again" or the task is cancelled.

    `on_push` is called once for each push; when it returns, the push is acknowledged, and when it raises, the
    push is not and comes again. `on_event` hears of everything else as a name and its details.
    """

    def __init__(self, server: str, app_key: str, state_file: str, *, on_push: Callable[[Push], None],
                 on_event: Callable[..., None] = lambda name, **details: None,
                 tls: ssl.SSLContext | None = None, platform: int = 2, heartbeat: int = 0):  # fmt: skip
        self._server, self._app_key, self._tls = server, app_key, tls
        self._platform, self._heartbeat_wish = platform, heartbeat
        self._on_push_callback, self._on_event = on_push, on_event
        self.state = State(state_file)
        self.online = asyncio.Event()
        self._sequence = itertools.count(1)
        self._waiting: dict[int, tuple[str, asyncio.Future]] = {}
        self._failures = 0
        self._begin(None)

    @property
    def registration_id(self) -> str | None:
        return self.state.registration_id

    def _begin(self, writer: asyncio.StreamWriter | None) -> None:
        self._writer, self._buffer = writer, wire.FrameBuffer()
        self._ending: Ending | None = None  # as soon as the server has announced it, while it is still open
        self._version = 1
        self._unacknowledged: list[tuple[int, float | None]] = []  # with when it came
        self._logged_in_at: float | None = None
        self._interval = self._last_sent = self._pinged = 0.0

    # Connections

    async def run(self) -> Ending:
        server = self._server
        while True:
            ending = await self._connect(server)
            self._on_event("disconnected", reason=ending.reason)
            if ending.reconnect == NEVER:
                return ending
            await asyncio.sleep(self._delay(ending))
            server = ending.host or self._server

    def _delay(self, ending: Ending) -> float:
        lasted = time.monotonic() - self._logged_in_at if self._logged_in_at else 0
        self._failures = 1 if lasted >= GOOD_SESSION_SECONDS else self._failures + 1
        if ending.reconnect == AT_ONCE and (self._logged_in_at or self._failures == 1):
            return ending.retry_after * random.uniform(1, 2)
        return ending.retry_after + random.uniform(0, min(300, 2 ** min(self._failures, 9)))

    async def _connect(self, server: str) -> Ending:
        self._begin(None)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                reader, writer = await self._open(server)
                self._begin(writer)
                self._send("HELLO", magic=b"BRLS", versions=(1, NEWEST), client_name="borealis_device.py/1")
                self._log_in_or_register()
                while not self._logged_in_at:
                    await self._converse(reader)
            while True:
                await self._converse(reader)
        except Ended as ended:
            return ended.ending
        except (OSError, ProtocolError, ValueError) as error:  # OSError: a timeout too; ValueError: bad host
            return self._ending or Ending(BACK_OFF, f"{type(error).__name__}: {error}")
        finally:
            self._disconnect()

    async def _open(self, server: str) -> tuple[Any, Any]:
        """Opens a connection: something to read from, and something to write to and to close."""
        host, _, port = server.rpartition(":")
        return await asyncio.open_connection(host.strip("[]"), int(port), ssl=self._tls)

    def _disconnect(self) -> None:
        self.online.clear()
        for _, answer in self._waiting.values():
            if not answer.done():
                answer.set_result(Result(NO_ANSWER))
        if self._writer:
            self._writer.close()

    async def _converse(self, reader: asyncio.StreamReader) -> None:
        """Takes what has arrived, frame by frame, and then acknowledges all pushes among it."""
        data = await self._read(reader)
        if not data:
            raise Ended(self._ending or Ending(BACK_OFF, "closed by the server"))
        self._buffer.feed(data)
        while payload := self._buffer.next():
            frame = wire.decode(wire.FROM_SERVER, payload)
            getattr(self, "_on_" + frame.name.lower())(**frame.fields)
        self._acknowledge()

    async def _read(self, reader: asyncio.StreamReader) -> bytes:
        """The next bytes, with PING sent whenever this side has been silent for the interval."""
        while True:
            next_ping = self._last_sent + self._interval
            if self._interval and time.monotonic() >= next_ping:
                self._send("PING")
                self._pinged = self._pinged or self._last_sent
                continue
            due = self._pinged + ANSWER_SECONDS if self._pinged else next_ping
            try:
                async with asyncio.timeout(due - time.monotonic() if self._interval else None):
                    data = await reader.read(wire.MAX_LENGTH)
                self._pinged = 0.0
                return data
            except TimeoutError:
                require(not self._pinged, "no answer to PING")

    def _send(self, name: str, **fields) -> None:
        assert self._writer, "frames are sent on a connection only"
        self._writer.write(wire.encode(wire.FROM_CLIENT, name, **fields))
        self._last_sent = time.monotonic()

    # Frames of the server

    def _log_in_or_register(self) -> None:
        state = self.state
        if state.registration_id:
            self._send("LOGIN", app_key=self._app_key, registration_id=state.registration_id,
                       secret=bytes.fromhex(state.secret), heartbeat=self._heartbeat_wish,
                       app_state=1)  # fmt: skip
        else:
            state.save()  # the fingerprint must be the same if this attempt has to be repeated
            self._send("REGISTER", app_key=self._app_key, platform=self._platform, environment=0, token=b"",
                       fingerprint=bytes.fromhex(state.fingerprint), app_version="1")  # fmt: skip

    def _on_pong(self) -> None:
        pass

    def _on_hello_ok(self, version: int, server_time: int, max_frame: int) -> None:
        require(1 <= version <= NEWEST, f"version {version} was not offered")
        self._version = version

    def _on_register_ok(self, registration_id: str, secret: bytes) -> None:
        self.state.registration_id, self.state.secret = registration_id, secret.hex()
        self.state.save()
        self._on_event("registered", registration_id=registration_id)
        self._log_in_or_register()

    def _on_login_ok(self, heartbeat: int, ack_delay: int, server_time: int, pending: int) -> None:
        self._interval, self._logged_in_at = heartbeat, time.monotonic()
        self.online.set()
        self._on_event("online", heartbeat=heartbeat, pending=pending)

    def _on_push(self, msg_id: int, flags: int, content: bytes) -> None:
        came: float | None = time.monotonic()
        if msg_id in self.state.handled:
            came = None  # it came before, and when is forgotten
            self._on_event("duplicate", msg_id=msg_id)
        else:
            try:
                self._on_push_callback(Push(msg_id, flags == 1, json.loads(content)))
            except Exception as error:  # whatever the app could not do, the push is not handled
                self._on_event("failed", msg_id=msg_id, reason=repr(error))
                return
            self.state.remember(msg_id)
        self._unacknowledged.append((msg_id, came))

    def _on_facts_wanted(self, facts: int) -> None:
        """This device reports nothing by itself."""

    def _on_recall(self, msg_id: int) -> None:
        self.state.remember(msg_id)
        self.state.save()
        self._on_event("recall", msg_id=msg_id)

    def _on_result(self, seq: int, code: int, payload: bytes) -> None:
        name, answer = self._waiting.get(seq, ("", None))
        if answer and not answer.done():
            layout = wire.PAYLOADS.get(name, {}) if code == 0 else {}
            answer.set_result(Result(code, wire.read_fields(layout, payload).get("value")))
        if name == "LOGOUT" and code == 0:
            self._ending = Ending(NEVER, "logged out")

    def _on_go_away(self, reason: int, retry_after: int, host: str) -> None:
        ending = Ending(RECONNECT_AFTER.get(reason, BACK_OFF), f"GO_AWAY {reason}", retry_after / 1000, host)
        if reason != DRAIN:
            raise Ended(ending)
        self._ending = ending  # pushes may be under way until the server closes

    def _on_error(self, code: int, reconnect: int, message: str) -> None:
        if code in REGISTER_ANEW:
            self.state.registration_id = None
            self.state.save()
            reconnect = AT_ONCE
        raise Ended(Ending(reconnect, f"ERROR {code}: {message}"))

    def _acknowledge(self) -> None:
        if self._unacknowledged:
            self.state.save()
        for group in (self._unacknowledged[at : at + 512] for at in range(0, len(self._unacknowledged), 512)):
            if self._version < WITH_AGES:
                self._send("ACK", msg_ids=[msg_id for msg_id, _ in group])
            else:
                self._send("ACK_AGE", entries=[(msg_id, self._age(came)) for msg_id, came in group])
        self._unacknowledged = []

    @staticmethod
    def _age(came: float | None) -> int:
        return UNKNOWN_AGE if came is None else min(int((time.monotonic() - came) * 1000), UNKNOWN_AGE)

    # What the app can do while the device is online

    async def _operate(self, name: str, **fields) -> Result:
        if not self.online.is_set():
            return Result(NO_ANSWER)
        seq, answer = next(self._sequence), asyncio.get_running_loop().create_future()
        self._waiting[seq] = name, answer
        try:
            self._send(name, seq=seq, **fields)
            async with asyncio.timeout(ANSWER_SECONDS):
                return await answer
        except TimeoutError:
            return Result(NO_ANSWER)
        finally:
            del self._waiting[seq]

    async def set_alias(self, alias: str) -> Result:
        return await self._operate("SET_ALIAS", alias=alias)

    async def delete_alias(self) -> Result:
        return await self._operate("DELETE_ALIAS")

    async def get_alias(self) -> Result:
        return await self._operate("GET_ALIAS")

    async def set_tags(self, tags: list[str]) -> Result:
        return await self._operate("SET_TAGS", tags=tags)

    async def add_tags(self, tags: list[str]) -> Result:
        return await self._operate("ADD_TAGS", tags=tags)

    async def delete_tags(self, tags: list[str]) -> Result:
        return await self._operate("DELETE_TAGS", tags=tags)

    async def clean_tags(self) -> Result:
        return await self._operate("CLEAN_TAGS")

    async def get_tags(self) -> Result:
        return await self._operate("GET_TAGS")

    async def check_tag(self, tag: str) -> Result:
        return await self._operate("CHECK_TAG", tag=tag)

    async def set_badge(self, badge: int) -> Result:
        return await self._operate("SET_BADGE", badge=badge)

    async def set_token(self, environment: int, token: bytes) -> Result:
        return await self._operate("SET_TOKEN", environment=environment, token=token)

    async def set_channel_token(self, channel: str, token: str, kind: str = "", token_name: str = "",
                                service: str = "") -> Result:  # fmt: skip
        return await self._operate("SET_CHANNEL_TOKEN", channel=channel, kind=kind, token_name=token_name,
                                   service=service, token=token)  # fmt: skip

    async def set_app_state(self, foreground: bool) -> Result:
        return await self._operate("APP_STATE", app_state=int(foreground))

    async def log_out(self) -> Result:
        return await self._operate("LOGOUT")

    def receipt(self, kind: int, *msg_ids: int) -> None:
        """Reports up to 256 notifications as shown (kind 1) or tapped (kind 2)."""
        if self.online.is_set():
            self._send("RECEIPT", entries=[(kind, msg_id) for msg_id in msg_ids])


# ---- The program ----


def show(event: str, **details) -> None:
    print(json.dumps({"event": event, **details}, ensure_ascii=False), flush=True)


async def stay_connected(arguments: argparse.Namespace) -> None:
    enough, pushes = asyncio.Event(), itertools.count(1)

    def on_push(push: Push) -> None:
        show("push", **push._asdict())
        if "notification" in push.content:
            device.receipt(1, push.msg_id)
        if next(pushes) == arguments.expect:
            enough.set()

    tls = ssl.create_default_context(cafile=arguments.ca) if arguments.tls or arguments.ca else None
    device = Device(arguments.server, arguments.app_key, arguments.state, on_push=on_push, on_event=show,
                    tls=tls)  # fmt: skip

    async def set_up() -> None:
        await device.online.wait()
        if arguments.alias is not None:
            show("result", operation="set_alias", **(await device.set_alias(arguments.alias))._asdict())
        if arguments.tag:
            show("result", operation="add_tags", **(await device.add_tags(arguments.tag))._asdict())
        await enough.wait()

    running, waiting = asyncio.create_task(device.run()), asyncio.create_task(set_up())
    done, _ = await asyncio.wait((running, waiting), return_when=asyncio.FIRST_COMPLETED)
    running.cancel()
    waiting.cancel()
    if running in done:
        sys.exit(f"disconnected for good: {running.result().reason}")
    waiting.result()


def main() -> None:
    parser = argparse.ArgumentParser(description="A device of Borealis that prints what happens.")
    parser.add_argument("--server", required=True, metavar="HOST:PORT")
    parser.add_argument("--app-key", required=True, help="24 hexadecimal digits")
    parser.add_argument("--state", required=True, metavar="FILE", help="keeps the registration between runs")
    parser.add_argument("--tls", action="store_true", help="the port speaks TLS")
    parser.add_argument("--ca", metavar="FILE", help="trust these certificates only; implies --tls")
    parser.add_argument("--alias")
    parser.add_argument("--tag", action="append", help="may be given several times")
    parser.add_argument("--expect", type=int, metavar="N", help="end after this many pushes")
    try:
        asyncio.run(stay_connected(parser.parse_args()))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
