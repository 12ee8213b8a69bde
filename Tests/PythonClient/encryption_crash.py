"""Devices replace their keys while enciphered pushes come and the server is killed: every accepted push is read once, and none is
shown as anything else than what was enciphered.

    python3 encryption_crash.py --binary .build/debug/borealis
"""

import asyncio
import contextlib
import json
import pathlib
import random
import signal

from borealis_encryption import ContentKey, DeviceKey
from encryption import AppServer, Phone
from stage import DEADLINE, Server, expect, expect_equal, main

KILLS = 10
# Below what a device keeps of old keys.
ROTATIONS = 12
MARKER = "marker-e5d2"


class Receiver(Phone):
    """A phone that notes what it is told, and replaces its key when it is asked to."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.texts: list[str] = []
        self.failures: list[dict] = []
        self.rotated = 0
        self._news = asyncio.Event()
        self._reader: asyncio.Task | None = None

    def listen(self) -> None:
        self._reader = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        while line := await self._process.stdout.readline():
            event = json.loads(line)
            if event["event"] == "push":
                self.texts.append(event["content"]["message"]["msg_content"])
            elif event["event"] == "unreadable":
                self.failures.append(event)
            elif event["event"] == "result" and event.get("code") == 0:
                self.rotated += 1
            self._news.set()

    def tell(self, *instructions: str) -> None:
        for instruction in instructions:
            self._process.stdin.write(f"{instruction}\n".encode())

    async def has(self, count: int) -> None:
        try:
            async with asyncio.timeout(2 * DEADLINE):
                while len(self.texts) < count:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            expect(False, f"{len(self.texts)} of {count} pushes came, and {self.failures}")

    async def end(self, number: int) -> None:
        await super().end(number)
        if self._reader:
            await self._reader


class Sender:
    """An app server that sends until it has an answer, each push under a name of its own."""

    def __init__(self, api: AppServer, phones: list[Receiver]):
        self._api, self._phones = api, phones
        self._keys: dict[str, DeviceKey] = {}
        self._shared = ContentKey()
        self.sent: dict[str, list[str]] = {phone.registration_id: [] for phone in phones}
        self.is_over = False

    async def _insist(self, method: str, path: str, body: dict | None = None) -> dict:
        """Asks again while the server is away."""
        async with asyncio.timeout(2 * DEADLINE):
            while True:
                with contextlib.suppress(OSError):
                    return await self._api.call(method, path, body)
                await asyncio.sleep(0.02)

    async def prepare(self) -> None:
        """Publishes a key that all have; what is enciphered for it opens whatever becomes of the devices' own."""
        for phone in self._phones:
            key = await self._key(phone, is_fresh=True)
            await self._insist("PUT", f"/v1/keys/{self._shared.id}",
                               {"devices": {phone.registration_id: self._shared.sealed_for(key)}})  # fmt: skip

    async def _key(self, phone: Receiver, is_fresh: bool) -> DeviceKey:
        # An app server asks only now and then: often it has the key before.
        if is_fresh or phone.registration_id not in self._keys:
            path = f"/v1/devices/keys?registration_id={phone.registration_id}"
            while not (keys := (await self._insist("GET", path))["keys"]):
                await asyncio.sleep(0.02)
            self._keys[phone.registration_id] = DeviceKey.of(keys[0])
        return self._keys[phone.registration_id]

    async def run(self) -> None:
        number, names = 0, []
        while not self.is_over:
            if not names:
                names = (await self._insist("GET", "/v3/push/cid?count=1000&type=push"))["cidlist"]
            phone = random.choice(self._phones)
            key = await self._key(phone, is_fresh=random.random() < 0.2)
            text = f"{MARKER} {number}"
            number += 1
            sealer = self._shared if random.random() < 0.2 else key
            await self._insist("POST", "/v3/push", {
                "platform": "all", "audience": {"registration_id": [phone.registration_id]}, "cid": names.pop(),
                "options": {"encryption": sealer.encryption(message={"msg_content": text})}})  # fmt: skip
            self.sent[phone.registration_id].append(text)


async def play(binary: str, folder: pathlib.Path) -> None:
    server = Server(binary, folder)
    phones: list[Receiver] = []
    try:
        await server.start()
        app, secret = await server.create_app("encryption")
        api = AppServer(server, app, secret)
        for name, kind in (("a", "x25519"), ("b", "p256"), ("c", "x25519")):
            phone = Receiver(binary, server, app, folder / f"{name}.state", kind)
            phones.append(phone)
            await phone.start()
            phone.listen()
        sender = Sender(api, phones)
        await sender.prepare()
        sending = asyncio.create_task(sender.run())
        rotations = 0
        for _ in range(KILLS):
            for phone in phones:
                if rotations < ROTATIONS * len(phones):
                    phone.tell("rotate-key")
                    rotations += 1
            # The moment of the kill is what is random here; nothing waits for this.
            await asyncio.sleep(random.uniform(0.05, 0.8))
            await server.stop(signal.SIGKILL)
            # While nobody answers, too.
            random.choice(phones).tell("rotate-key")
            await server.start()
            for phone in phones:
                phone.tell("stop", "start")
            expect(not sending.done(), f"the app server gave up: {sending}")
        sender.is_over = True
        await sending
        count = 0
        for phone in phones:
            sent = sender.sent[phone.registration_id]
            await phone.has(len(sent))
            expect_equal(sorted(phone.texts), sorted(sent), f"pushes that {phone.registration_id} showed")
            expect_equal(phone.failures, [], "contents that could not be read")
            expect(phone.rotated > 0, "no key was replaced")
            count += len(sent)
        expect(count > KILLS, "too few pushes to say anything")
        print(f"ok - {count} enciphered pushes were read once each, whatever became of server and keys")
    finally:
        for phone in phones:
            await phone.end(signal.SIGKILL)
        await server.stop(signal.SIGKILL)


if __name__ == "__main__":
    main(__doc__, play)
