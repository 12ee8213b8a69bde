"""An app server in Python enciphers, and devices of the library read it: whichever comes first, key or push."""

import asyncio
import base64
import collections
import json
import pathlib
import signal
import urllib.request

from borealis_encryption import ContentKey, DeviceKey, seal
from stage import DEADLINE, Server, expect, expect_equal, main

MARKER = "marker-7f3a91-of-the-plain-text"


class Phone:
    """`borealis device` with a key of its own.

    A device that is killed between showing a push and acknowledging it shows it once more. That one is passed over.
    """

    def __init__(self, binary: str, server: Server, app: str, state: pathlib.Path, kind: str):
        self._command = [binary, "device", "--server", server.plain, "--plain", "--app-key", app,
                         "--state", str(state), "--encryption", kind]  # fmt: skip
        self.registration_id = ""
        self._process: asyncio.subprocess.Process | None = None
        self._results: collections.deque[dict] = collections.deque()  # told while something else was awaited
        self._heard: collections.deque[str] = collections.deque(maxlen=20)
        self._last_push = self._may_repeat = ""

    async def start(self) -> None:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe)
        self.registration_id = (await self.event("logged_in"))["registration_id"]

    async def event(self, *names: str) -> dict:
        if "result" in names and self._results:
            return self._results.popleft()
        while True:
            try:
                line = await asyncio.wait_for(self._process.stdout.readline(), DEADLINE)
            except TimeoutError:
                expect(False, f"{names} did not come after {list(self._heard)}")
            expect(line, f"the device ended before {names}")
            self._heard.append(line.decode().strip())
            event = json.loads(line)
            if event["event"] == "push":
                repeated, self._may_repeat = event["msg_id"] == self._may_repeat, ""
                if repeated:
                    continue
                self._last_push = event["msg_id"]
            if event["event"] in names:
                return event
            if event["event"] == "result":
                self._results.append(event)

    async def rotate(self) -> None:
        self._process.stdin.write(b"rotate-key\n")
        expect_equal((await self.event("result"))["code"], 0, "rotation of the key")

    async def end(self, number: int) -> None:
        if self._process and self._process.returncode is None:
            self._process.send_signal(number)
            await self._process.wait()
            self._results.clear()
            self._may_repeat = self._last_push if number == signal.SIGKILL else ""


class AppServer:
    def __init__(self, server: Server, key: str, secret: str):
        self._base = f"http://{server.http}"
        self._login = "Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()

    async def call(self, method: str, path: str, body: dict | None = None) -> dict:
        return await asyncio.to_thread(self._call, method, path, body)

    def _call(self, method: str, path: str, body: dict | None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": self._login, "Content-Type": "application/json"}
        request = urllib.request.Request(self._base + path, data, headers, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=DEADLINE) as answer:
            return json.loads(answer.read())

    async def key(self, phone: Phone) -> DeviceKey:
        answer = await self.call("GET", f"/v1/devices/keys?registration_id={phone.registration_id}")
        expect_equal(len(answer["keys"]), 1, "keys of the device")
        return DeviceKey.of(answer["keys"][0])

    async def push(self, phone: Phone, encryption: dict, time_to_live: int = 86400) -> str:
        push = {"platform": "all", "audience": {"registration_id": [phone.registration_id]},
                "options": {"encryption": encryption, "time_to_live": time_to_live}}  # fmt: skip
        if "notification" in encryption:
            push["notification"] = {"alert": "You have news"}
        return (await self.call("POST", "/v3/push", push))["msg_id"]


async def expect_message(phone: Phone, msg_id: str, text: str, key: str) -> None:
    event = await phone.event("push")
    expect_equal(event["msg_id"], msg_id, "msg_id")
    expect_equal(event["content"]["message"]["msg_content"], text, "content")
    expect_equal(event["key"], key, "key")


async def play(binary: str, folder: pathlib.Path) -> None:
    server = Server(binary, folder)
    phones: list[Phone] = []
    try:
        await server.start()
        app, secret = await server.create_app("encryption")
        api = AppServer(server, app, secret)
        for kind in ("x25519", "p256"):
            phone = Phone(binary, server, app, folder / f"{kind}.state", kind)
            phones.append(phone)
            await phone.start()
            # The result of the rotation says that the server has the key.
            await phone.rotate()
            await play_phone(api, phone)
        await search(folder, server)
        print("ok - only the devices read what a server in Python enciphered")
    finally:
        for phone in phones:
            await phone.end(signal.SIGKILL)
        await server.stop(signal.SIGKILL)


async def play_phone(api: AppServer, phone: Phone) -> None:
    key = await api.key(phone)
    text = {"msg_content": MARKER, "title": MARKER}
    # For this device alone, with a notification beside it.
    msg_id = await api.push(phone, key.encryption(message=text, notification={"alert": MARKER}))
    event = await phone.event("push")
    expect_equal(event["content"], {"notification": {"alert": MARKER}, "message": text}, "both parts")
    expect_equal((event["msg_id"], event["key"]), (msg_id, key.id), "names")

    # The push is there before its key: it waits, also while the device is killed.
    shared = ContentKey()
    late = await api.push(phone, shared.encryption(message=text))
    missing = await phone.event("key_missing", "push")
    expect_equal((missing["event"], missing.get("key"), missing.get("code")),
                 ("key_missing", shared.id, 6040), "a push without its key")  # fmt: skip
    await phone.end(signal.SIGKILL)
    stored = await api.call(
        "PUT", f"/v1/keys/{shared.id}", {"devices": {phone.registration_id: shared.sealed_for(key)}})
    expect_equal(stored, {"stored": 1, "unknown": []}, "a shared key")
    await phone.start()
    await expect_message(phone, late, MARKER, shared.id)
    # The key is there before the push.
    await expect_message(phone, await api.push(phone, shared.encryption(message=text)), MARKER, shared.id)

    # Kept for a device that is away, for a key that it replaces when it is back: the old one opens it.
    await phone.end(signal.SIGKILL)
    kept = [await api.push(phone, key.encryption(message={"msg_content": f"{MARKER} {n}"})) for n in range(20)]
    await phone.start()
    for number, msg_id in enumerate(kept[:10]):
        await expect_message(phone, msg_id, f"{MARKER} {number}", key.id)
    phone._process.stdin.write(b"rotate-key\n")
    for number, msg_id in enumerate(kept[10:]):
        await expect_message(phone, msg_id, f"{MARKER} {number + 10}", key.id)
    expect_equal((await phone.event("result"))["code"], 0, "rotation while pushes come")
    new = await api.key(phone)
    expect(new.id != key.id, "the key was not replaced")
    await expect_message(phone, await api.push(phone, key.encryption(message=text)), MARKER, key.id)
    await expect_message(phone, await api.push(phone, new.encryption(message=text)), MARKER, new.id)

    # What cannot be read is told with a code, and neither shown nor kept.
    sound = new.encryption(message=text)
    data = bytearray(base64.b64decode(sound["message"]))
    changed = bytes(data[:-1]) + bytes([data[-1] ^ 1])
    other = ContentKey()
    no_json = seal(b"not JSON", shared.secret, bytes.fromhex(shared.id))
    for encryption, code in [
        (sound | {"message": base64.b64encode(changed).decode()}, 6042),
        (sound | {"message": base64.b64encode(data[:-1]).decode()}, 6042),
        (sound | {"key": key.id}, 6042),
        (sound | {"key": "0123456789abcdef"}, 6040),
        ({"alg": "aes128gcm", "key": shared.id, "message": base64.b64encode(no_json).decode()}, 6041),
        (other.encryption(message=text) | {
            "message": base64.b64encode(seal(b"{}", other.secret, bytes.fromhex(shared.id))).decode(),
            "key": shared.id}, 6042),
    ]:  # fmt: skip
        msg_id = await api.push(phone, encryption)
        event = await phone.event("unreadable", "push")
        expect_equal((event["event"], event["msg_id"], event.get("code")), ("unreadable", msg_id, code), "code")
    # A key that never comes: the push waits no longer than it is kept.
    never = ContentKey()
    msg_id = await api.push(phone, never.encryption(message=text), time_to_live=2)
    event = await phone.event("key_missing", "push")
    expect_equal((event["event"], event["key"]), ("key_missing", never.id), "a key that nobody publishes")
    event = await phone.event("unreadable", "push")
    expect_equal((event["event"], event["msg_id"], event.get("code")), ("unreadable", msg_id, 6040), "its end")
    # It goes on, and nothing of that comes again.
    await phone.end(signal.SIGTERM)
    await phone.start()
    await expect_message(phone, await api.push(phone, new.encryption(message=text)), MARKER, new.id)


async def search(folder: pathlib.Path, server: Server) -> None:
    """Nothing that the server has written holds the plain text, in whatever form it might."""
    needles = [MARKER.encode(), base64.b64encode(MARKER.encode())[:-4], MARKER.encode().hex().encode()]
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".state"]
    expect(any(path.name.endswith("-wal") for path in files), f"no WAL among {files}")
    for path in files:
        content = path.read_bytes()
        for needle in needles:
            expect(needle not in content, f"plain text in {path.name}")
    database = b"".join(path.read_bytes() for path in files)
    expect(b'"encrypted"' in database, "the search finds nothing at all")


if __name__ == "__main__":
    main(__doc__, play)
