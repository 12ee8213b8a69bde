"""What pushes say stands in no file of the server when their app has its contents sealed.

    python3 sealing.py --binary .build/debug/borealis

Markers go into every text that an app server can hand over as content; then all files of the data folder, and the log, are
searched for them. An app that does not ask for it is the counter-check: its markers must be found.
"""

import asyncio
import datetime
import json
import pathlib
import random
import signal
import urllib.request
from typing import Any

import push_api
from stage import Phone, Server, expect, expect_equal, main

KEY_LINE = "borealis-secret-key-1 "


class App:
    """An app with a phone, and markers of its own."""

    def __init__(self, server: Server, folder: pathlib.Path, name: str):
        self._server, self._folder, self._name = server, folder, name
        self._markers: list[str] = []
        # Those that callbacks tell, whenever something becomes of their push.
        self._told: set[str] = set()

    async def open(self, seals: bool) -> "App":
        self.key, self._secret = await self._server.create_app(self._name)
        if seals:
            answer = await self._server.command("app", "seal", self.key, "on")
            expect_equal(answer["seal_contents"], True, "sealing")
            expect("from now on" in answer["applies_to"], "what it applies to is not said")
        # What waits for this phone lies in the database.
        self.phone = await Phone(
            self._name, self._server.plain, self.key, self._folder / f"{self._name}.json").start()  # fmt: skip
        self.id = self.phone.device.registration_id
        return self

    def marker(self) -> str:
        """A text that nobody else writes; half of them in Chinese characters, which JSON may write in two ways."""
        text = f"marker{random.getrandbits(64):016x}"
        if random.random() < 0.5:
            text = "".join(chr(0x4E00 + random.randrange(0x4000)) for _ in range(8)) + text
        self._markers.append(text)
        return text

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        api = push_api.PlainAPI(f"http://{self._server.http}", self.key, self._secret)
        return await asyncio.to_thread(api.request, method, path, body)

    def push(self, **more: Any) -> dict:
        """A push with a marker in every text of its content."""
        mark = self.marker
        ios = {"alert": {"title": mark(), "subtitle": mark(), "body": mark()}, "extras": {mark(): mark()}, "sound": "default"}
        android = {"alert": mark(), "title": mark(), "extras": {"deep": {"deeper": [mark()]}}, "big_text": mark()}
        return {"platform": "all", "audience": {"registration_id": [self.id]},
                "notification": {"alert": mark(), "ios": ios, "android": android},
                "message": {"title": mark(), "msg_content": mark(), "content_type": mark(), "extras": {"k": mark()}},
                "options": {"time_to_live": 600}, **more}  # fmt: skip

    async def fill(self) -> int:
        """Puts markers wherever an app server can; returns how many pushes the phone is to get."""
        params = {self.marker(): self.marker()}
        self._told.update(params.keys(), params.values())
        dead = {"url": "http://127.0.0.1:9/nobody", "params": params}
        await self.call("POST", "/v3/push", self.push(callback=dead))
        await self.call("POST", "/v3/push", self.push())
        everyone = {**self.push(), "audience": "all"}
        await self.call("POST", "/v3/push", everyone)
        (cid,) = (await self.call("GET", "/v3/push/cid?count=1&type=push"))["cidlist"]
        batch = {cid: {**self.push(), "target": self.id}}
        batch[cid].pop("audience")
        answer = await self.call("POST", "/v3/push/batch/regid/single", {"pushlist": batch})
        expect("msg_id" in answer[cid], f"a batch: {answer}")
        soon = datetime.date.today() + datetime.timedelta(days=30)
        await self.call("POST", "/v3/schedules", {
            "name": "s", "enabled": True, "trigger": {"single": {"time": f"{soon:%Y-%m-%d} 12:00:00"}},
            "push": self.push()})  # fmt: skip
        refused = {**self.push(), "audience": {"tag": ["nobody"]}}
        try:
            await self.call("POST", "/v3/push", refused)
        except push_api.Refused as refusal:
            expect_equal(refusal.code, 1011, "a push for nobody")
        await self.upload()
        return 4

    async def upload(self) -> None:
        """A file of aliases, whose names may say something of people."""
        boundary = "boundary"
        body = (f"--{boundary}\r\nContent-Disposition: form-data; name=\"filename\"; filename=\"a.txt\"\r\n"
                f"Content-Type: text/plain\r\n\r\n{self.marker()[-22:]}\n\r\n--{boundary}--\r\n").encode()  # fmt: skip
        api = push_api.PlainAPI(f"http://{self._server.http}", self.key, self._secret)
        headers = {"Authorization": api._authorization, "Content-Type": f"multipart/form-data; boundary={boundary}"}
        request = urllib.request.Request(f"http://{self._server.http}/v3/files/alias", body, headers, method="POST")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        await asyncio.to_thread(lambda: opener.open(request, timeout=30).read())

    async def gets(self, count: int, what: str) -> None:
        """Waits for the phone to show as many pushes; their texts must be among the markers."""
        await self.phone.until(lambda: len(self.phone.pushes) >= count, what)
        for push in self.phone.pushes:
            expect(push.content["message"]["msg_content"] in self._markers, f"{what}: a text that nobody sent")

    def found(self, folder: pathlib.Path) -> set[str]:
        """The markers that stand in any file, in whatever way JSON may have written them."""
        found = set()
        for file in folder.rglob("*"):
            # The phone's own file is not the server's.
            if not file.is_file() or file.name == f"{self._name}.json":
                continue
            content = file.read_bytes()
            for marker in self._markers:
                ways = {marker.encode(), json.dumps(marker)[1:-1].encode(), marker[-22:].encode(),
                        marker.encode("utf-16-le")}  # fmt: skip
                if any(way in content for way in ways):
                    found.add(f"{file.name}: {marker}")
        return found


async def play(binary: str, folder: pathlib.Path) -> None:
    server = Server(binary, folder)
    apps: list[App] = []
    try:
        await server.start()
        for name, seals in (("sealed", True), ("plain", False)):
            apps.append(await App(server, folder, name).open(seals))
        sealed, plain = apps
        count = 0
        for app in apps:
            count = await app.fill()
            await app.gets(count, "pushes while it is there")
            await app.phone.stop()
            count += await app.fill()
        expect_equal(sealed.found(folder), set(), "markers in the files of a running server")
        expect(len(plain.found(folder)) > 20, "the search finds nothing where there is something")

        # Killed, with what waits in the log of the database; then sealed anew with another key.
        await server.stop(signal.SIGKILL)
        expect_equal(sealed.found(folder), set(), "markers in the files of a killed server")
        await server.start()
        file = folder / "data" / "secret-key"
        file.write_text(KEY_LINE + random.randbytes(32).hex() + "\n" + file.read_text())
        answer = await server.command("reseal")
        expect(answer["contents"] > 10 and answer["damaged"] == 0, f"resealed: {answer}")
        # The running server seals with the new key from here on, so that the old one can go.
        first = await sealed.call("POST", "/v3/push", sealed.push())
        expect(first["msg_id"], "a push while the key is replaced")
        file.write_text(next(line for line in file.read_text().splitlines() if line.startswith(KEY_LINE)) + "\n")
        await server.stop(signal.SIGTERM)
        expect_equal(sealed.found(folder), set(), "markers in the files of a server that has ended")
        await server.start()
        await sealed.phone.start()
        await sealed.gets(count + 1, "pushes that waited for it")
        expect_equal(len(sealed.phone.pushes), count + 1, "pushes shown")
        history = await sealed.call("GET", f"/v1/pushes/{first['msg_id']}")
        expect_equal(history["msg_id"], first["msg_id"], "the report of a sealed push")

        # Over the API: what is stored from now on is plain, and what was stored stays as it is.
        answer = await sealed.call("GET", "/v1/sealing")
        expect_equal(answer["seal_contents"], True, "what the API says")
        answer = await sealed.call("PUT", "/v1/sealing", {"seal_contents": False})
        expect_equal((answer["seal_contents"], answer["applies_to"]), (False, "what is stored from now on"), "the change")
        before = len(sealed._markers)
        await sealed.call("POST", "/v3/push", sealed.push())
        found = sealed.found(folder)
        expect(found, "turned off, but still sealed")
        stored = set(sealed._markers[:before]) - sealed._told
        opened = [one for one in found if any(marker in one for marker in stored)]
        expect_equal(opened, [], "what was sealed lies open")

        # The check of the database compares contents with targets: it reads what is sealed as well.
        expect_equal((await server.command("check"))["problems"], [], "what the check finds")

        # Without its key the server does not start, and says which is missing.
        await server.stop(signal.SIGTERM)
        hidden = file.with_name("hidden")
        file.rename(hidden)
        try:
            await server.start()
        except Exception:  # it ended at its start
            expect("secret key file" in server.log(), "the log does not say why")
        else:
            expect(False, "it started without the key that contents are sealed with")
        hidden.rename(file)
        await server.start()
        print("ok - no file of the server shows what a sealed push says")
    finally:
        for app in apps:
            await app.phone.stop()
        await server.stop(signal.SIGKILL)


if __name__ == "__main__":
    main(__doc__, play)
