"""Runs the examples of Docs/api/jpush.md on a real server and compares its answers with those that the page prints.

    python3 jpush_page.py --binary .build/debug/borealis [--update]

What may differ is said in page.py. With --update the answers on the page are replaced by those of this run.
"""

import asyncio
import datetime
import json
import pathlib
import re
import signal
import sys
from typing import Any

from page import TIME, Names, Page, main
from push_api import PlainAPI
from schedules import in_seconds
from stage import Failed, Phone, Server, expect, expect_equal

PATH = pathlib.Path(__file__).parents[2] / "Docs/api/jpush.md"
ANDROID, IOS = 2, 1
SHOWN, TAPPED = 1, 2
CHINA = datetime.timezone(datetime.timedelta(hours=8))
# Members that every run gives another value.
CHANGING = {
    "msg_id", "message_id", "group_msgid", "file_id", "schedule_id", "registration_id", "registration_ids", "cidlist", "app_key",
    "master_secret", "create_time", "expire_time", "created_at", "changed_at", "expires_at", "time", "start",
    "last_used_time", "last_online_date", "ts", "secret", "secret_end",
}  # fmt: skip
# Counts of what happened so far: only their members are compared.
COUNTS = "/v1/stats"
# What needs more than a server: a credential for Apple, and a certificate.
LEFT_OUT = ("/v1/apns", "/certificate")


class Stage:
    """The server, apps and devices that the page speaks of."""

    def __init__(self, server: Server, folder: pathlib.Path, page: str, names: Names):
        self.server, self._folder, self.names = server, folder, names
        self._page = page
        self._phones: list[Phone] = []
        self.environment: dict[str, str] = {}

    def _printed(self, pattern: str) -> str:
        match = re.search(pattern, self._page)
        expect(match, f"the page has nothing like {pattern}")
        return match.group(1) if match else ""

    async def set_up(self) -> None:
        key, secret = await self.server.create_app("My app")
        other, _ = await self.server.create_app("Other app")
        group, group_secret = await self.server.create_group("Both", key, other)
        account = await self.server.command("account", "create", "Anna")
        self.api = PlainAPI(f"http://{self.server.http}", key, secret)
        self.group_api = PlainAPI(f"http://{self.server.http}", f"group-{group}", group_secret)
        self.environment = {
            "API": f"http://{self.server.http}", "KEY": key, "SECRET": secret, "GROUP_KEY": group,
            "GROUP_SECRET": group_secret, "DEVKEY": account["dev_key"],
            "DEVSECRET": account["dev_secret"],
        }  # fmt: skip
        printed_key = self._printed(r'"cidlist":\["([0-9a-f]{24})')
        self.names.add(printed_key, key)
        group_answer = json.loads(self._printed(r'(\{"group_msgid":.*\})'))
        self.names.add(next(name for name in group_answer if name not in ("group_msgid", printed_key)), other)
        await self._devices(key)
        await self._reported()

    async def _devices(self, key: str) -> None:
        demo, second, away = [await self._phone(name, ANDROID, key) for name in ("demo", "second", "away")]
        self.phone = await self._phone("phone", IOS, key)
        self.demo, self.second = demo, second
        await away.stop()
        for phone, alias, tags in ((demo, "demo", ["a", "news"]), (second, "anna", []), (self.phone, "ben", [])):
            change = {"alias": alias, "tags": {"add": tags}}
            await self.call("POST", f"/v3/devices/{phone.device.registration_id}", change)
        change = {"mobile": "13800000000"}
        await self.call("POST", f"/v3/devices/{demo.device.registration_id}", change)
        self.names.add(self._printed(r"/v3/devices/([0-9a-f]{19})"), str(demo.device.registration_id))
        asked = re.search(r'"registration_ids": \["(\w{19})", "(\w{19})", "nobody"\]', self._page)
        expect(asked, "the page asks for no states of devices")
        if asked:
            self.names.add(asked.group(1), str(demo.device.registration_id))
            self.names.add(asked.group(2), str(away.device.registration_id))
        self.environment["DEVICE_SECRET"] = json.loads(demo.state_file.read_text())["secret"]

    async def _phone(self, name: str, platform: int, key: str) -> Phone:
        phone = Phone(name, self.server.plain, key, self._folder / f"{name}.json", platform=platform)
        self._phones.append(phone)
        return await phone.start()

    async def _reported(self) -> None:
        """The push of the page's reports: three of four devices have it and show it, one user has tapped it."""
        push = {"platform": "all", "audience": "all", "notification": {"alert": "Hello"}}
        msg_id = (await self.call("POST", "/v3/push", push))["msg_id"]
        self.names.add(self._printed(r"/v1/pushes/(\d+)"), msg_id)
        for phone in (self.demo, self.second, self.phone):
            await phone.shows("Hello")
            phone.device.receipt(SHOWN, int(msg_id))
        self.demo.device.receipt(TAPPED, int(msg_id))
        await self.until_true(lambda report: report["shown"] == 3 and report["tapped"] == 1, f"/v1/pushes/{msg_id}")
        today = str(datetime.datetime.now(CHINA).date())
        users = f"/v3/users?time_unit=DAY&start={today}&duration=1"
        # Users are counted once a minute, or when the server stops.
        await self.server.stop(signal.SIGTERM)
        await self.server.start()
        for phone in (self.demo, self.second, self.phone):
            await phone.until(lambda phone=phone: len(phone.heard("online")) == 2, "to be online again")
        await self.until_true(lambda found: found["items"][0].get("android", {}).get("new") == 3, users)

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        return await asyncio.to_thread(self.api.request, method, path, body)

    async def until_true(self, condition: Any, path: str, api: PlainAPI | None = None) -> None:
        for _ in range(600):
            if condition(await asyncio.to_thread((api or self.api).request, "GET", path)):
                return
            await asyncio.sleep(0.05)
        raise Failed(f"{path} never told what was expected")

    async def before(self, command: str) -> str:
        """What a command needs first; returns it with the names and times of this run."""
        today = str(datetime.datetime.now(CHINA).date())
        if '"single"' in command:
            return TIME.sub(in_seconds(2), command, count=1)
        command = self.names.translate(command)
        if "/v3/schedules?page" in command:
            single = self.names.translate(self._printed(r'"schedule_id":"([0-9a-f-]{36})"'))
            await self.until_true(lambda runs: runs["count"] == 1, f"/v3/schedules/{single}/msg_ids")
        if "/v3/group/messages" in command:
            path = command[command.index("/v3/group") :]
            await self.until_true(lambda found: found[0]["jpush"]["received"] == 1, path, self.group_api)
        if "/users?" in command or "/v1/stats" in command:
            return TIME.sub(today, command)
        return command

    async def end(self) -> None:
        for phone in self._phones:
            await phone.stop()


async def play(binary: str, folder: pathlib.Path, is_update: bool) -> None:
    page = Page(PATH)
    server = Server(binary, folder)
    stage = Stage(server, folder, page.text, Names(CHANGING, is_strict=not is_update))
    try:
        await server.start()
        await stage.set_up()
        count = await page.play(stage.names, stage.environment, stage.before, LEFT_OUT, COUNTS)
    except Failed:
        print(server.log()[-4000:], file=sys.stderr)
        raise
    finally:
        await stage.end()
        await server.stop(signal.SIGKILL)
    expect(count > 40, f"the page has only {count} examples")
    if is_update:
        page.update(stage.names)
    print(f"ok - {count} examples of the page are as the server answers")


if __name__ == "__main__":
    main("Compares Docs/api/jpush.md with what a built server answers.", play)
