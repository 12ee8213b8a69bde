"""Runs the examples of Docs/api/getui.md and Docs/migrating-from-getui.md on a real server with real devices, and compares
its answers with those that the pages print.

    python3 getui_page.py --binary .build/debug/borealis [--update]

What may differ is said in page.py. With --update the answers on the pages are replaced by those of this run.
"""

import asyncio
import datetime
import json
import pathlib
import re
import signal
import sys
import time
from typing import Any

from getui import Getui
from page import TIME, Names, Page, examples, main
from stage import DEADLINE, Failed, Phone, Server, expect, expect_equal

DOCS = pathlib.Path(__file__).parents[2] / "Docs"
COMMANDS = ("curl", "printf", "NOW=", "borealis")
ANDROID, IOS = 2, 1
SHOWN, TAPPED = 1, 2
CHINA = datetime.timezone(datetime.timedelta(hours=8))
# Members that every run gives another value.
CHANGING = {
    "token", "expire_time", "taskid", "last_login_time", "createTime", "app_id", "app_key", "client_app_id",
    "master_secret", "becomes",
}  # fmt: skip
# Tasks, days and moments are names of members too.
NAMES = re.compile(r"RAS[SLA]_\d+|20\d\d-\d\d-\d\d")

# Commands that send something at once.
PUSH = re.compile(r"\$API/push/(?!list/message)")


def read(line: str) -> Any:
    """A line of an answer. Of the points of online users only the last is compared: there may be one more than printed."""
    answer = json.loads(line)
    if isinstance(points := (answer.get("data") or {}).get("online_statics"), dict):
        expect(all(re.fullmatch(r"\d{13}", moment) for moment in points), f"{points} has moments")
        answer["data"]["online_statics"] = list(points.values())[-1:]
    return answer


class Stage:
    """The server, app and devices that the page speaks of."""

    def __init__(self, server: Server, folder: pathlib.Path, page: str, names: Names):
        self.server, self._folder, self.names = server, folder, names
        self._page = page
        self._phones: list[Phone] = []
        # What has to come to the device that is online, and what has been sent of it.
        self._pushes = {example.command for example in examples(page, COMMANDS)
                        if PUSH.search(example.command) and '{"code":0,' in example.answers[0]}  # fmt: skip
        self._sent: set[str] = set()
        self.environment: dict[str, str] = {}

    async def set_up(self) -> None:
        self.key, _ = await self.server.create_app("My app")
        access = await self.server.command("app", "getui", "set", self.key)
        secret = access["master_secret"]
        self.getui = Getui(f"http://{self.server.http}", self.key, self.key, secret)
        await self.call(self.getui.authenticate)
        self.environment = {
            "API": f"http://{self.server.http}/v2/{self.key}", "KEY": self.key, "SECRET": secret,
            "TOKEN": self.getui.token,
        }  # fmt: skip
        devices = re.search(r"/user/status/(\w{19}),(\w{19}),(\w{19})", self._page)
        expect(devices, "the page asks for no states of devices")
        for name, platform, printed in zip(("demo", "second", "phone"), (ANDROID, ANDROID, IOS), devices.groups()):
            phone = Phone(name, self.server.plain, self.key, self._folder / f"{name}.json", platform=platform)
            self._phones.append(phone)
            await phone.start()
            self.names.add(printed, self.cid(phone))
        self.demo, self.second, self.phone = self._phones
        await self.phone.device.set_app_state(True)
        await self.second.stop()
        await self._until_offline(self.second)
        await self.call(self.getui.bind_aliases, [(self.cid(self.demo), "demo"), (self.cid(self.second), "anna")])
        await self._reported()

    @staticmethod
    def cid(phone: Phone) -> str:
        return str(phone.device.registration_id)

    async def _until_offline(self, phone: Phone) -> None:
        cid = self.cid(phone)
        async with asyncio.timeout(DEADLINE):
            while (await self.call(self.getui.status, cid))[cid]["status"] != "offline":
                await asyncio.sleep(0.05)

    async def _reported(self) -> None:
        """The task of the page's reports: of three devices two have it and show it, one user has tapped it."""
        message = {"notification": {"title": "Letter", "body": "Hello", "click_type": "startapp"}}
        push = {"ios": {"aps": {"alert": {"title": "Letter", "body": "Hello"}}}}
        task = await self.call(
            lambda: self.getui.message(group_name="letters", push_message=message, push_channel=push,
                                       settings={"strategy": {"default": 3}}))  # fmt: skip
        await self.call(self.getui.list_cid, task, [self.cid(phone) for phone in self._phones])
        printed = re.search(r"/report/push/task/(RASL_\d+)", self._page)
        expect(printed, "the page asks for no report on a task")
        self.names.add(printed[1], task)
        for phone in (self.demo, self.phone):
            await phone.until(lambda phone=phone: phone.pushes, "the push of the reports")
            phone.device.receipt(SHOWN, phone.pushes[0].msg_id)
        self.demo.device.receipt(TAPPED, self.demo.pushes[0].msg_id)
        async with asyncio.timeout(DEADLINE):
            while True:
                total = (await self.call(self.getui.report, task))[task]["total"]
                if total["receive_num"] == total["display_num"] == 2 and total["click_num"] == 1:
                    break
                await asyncio.sleep(0.05)
        # Devices that are online are counted once a minute, or when the server stops.
        await self.server.stop(signal.SIGTERM)
        await self.server.start()
        for phone in (self.demo, self.phone):
            await phone.until(lambda phone=phone: len(phone.heard("online")) == 2, "to be online again")
        await self.phone.device.set_app_state(True)

    async def call(self, function: Any, *arguments: Any) -> Any:
        return await asyncio.to_thread(function, *arguments)

    async def before(self, command: str) -> str:
        """The command with the names of this run, and with yesterday for the days of the page."""
        if "DELETE $API/task/" in command:
            # Only what a device does not have yet is stopped.
            await self.demo.until(lambda: len(self.demo.pushes) == len(self._sent) + 1, "what was sent so far")
        self._sent |= {command} & self._pushes
        yesterday = datetime.datetime.now(CHINA).date() - datetime.timedelta(days=1)
        command = self.names.translate(command)
        return TIME.sub(str(yesterday), command) if "/date/" in command else command

    async def finish(self) -> None:
        """Whatever the page sent is for the device that is online, and has come there once."""
        expect(len(self._sent) > 6, f"the page has examples of all kinds of pushes: {self._sent}")
        await self.call(lambda: self.getui.single(self.cid(self.demo), push_message={"transmission": "the last"}))
        last = {"msg_content": "the last"}
        await self.demo.until(
            lambda: any(push.content.get("message") == last for push in self.demo.pushes), "the last push")
        # That of the reports is the first, and the last is our own.
        expect_equal(len(self.demo.pushes), len(self._sent) + 2, "pushes that came")
        expect_equal(len({push.msg_id for push in self.demo.pushes}), len(self.demo.pushes), "pushes, each once")

    async def end(self) -> None:
        for phone in self._phones:
            await phone.stop()


async def play_api(binary: str, folder: pathlib.Path, is_update: bool) -> int:
    page = Page(DOCS / "api/getui.md", COMMANDS)
    server = Server(binary, folder)
    stage = Stage(server, folder, page.text, Names(CHANGING, is_strict=not is_update, names=NAMES))
    try:
        await server.start()
        await stage.set_up()
        count = await page.play(stage.names, stage.environment, stage.before, read=read)
        if not is_update:
            await stage.finish()
    except Failed:
        print(server.log()[-4000:], file=sys.stderr)
        raise
    finally:
        await stage.end()
        await server.stop(signal.SIGKILL)
    expect(count > 30, f"the page has only {count} examples")
    if is_update:
        page.update(stage.names)
    return count


async def play_migration(binary: str, folder: pathlib.Path, is_update: bool) -> int:
    page = Page(DOCS / "migrating-from-getui.md", COMMANDS)
    names = Names(CHANGING, is_strict=not is_update, names=NAMES)
    server = Server(binary, folder)
    file = re.search(r"((?:    .*,.*\n)+)", page.text[page.text.index("    cid,phone_type") :])
    expect(file, "the page shows a table of CIDs")
    (folder / "devices.csv").write_text(file[1].replace("    ", "") if file else "")
    programs = folder / "bin"
    programs.mkdir()
    (programs / "borealis").symlink_to(binary)
    try:
        await server.start()
        key, _ = await server.create_app("Moved app")
        environment = {
            "API": f"http://{server.http}/v2/{key}", "KEY": key, "DATA": str(folder / "data"),
            "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
        }  # fmt: skip

        async def before(command: str) -> str:
            command = names.translate(command).replace("devices.csv", str(folder / "devices.csv"))
            if "borealis" not in command and "SECRET" not in environment:
                access = await server.command("app", "getui", "set", key)
                environment["SECRET"] = access["master_secret"]
                getui = Getui(f"http://{server.http}", key, key, access["master_secret"])
                await asyncio.to_thread(getui.authenticate)
                environment["TOKEN"] = getui.token
                await until_imported(getui, file[1] if file else "")
            return command

        count = await page.play(names, environment, before, read=read)
    except Failed:
        print(server.log()[-4000:], file=sys.stderr)
        raise
    finally:
        await server.stop(signal.SIGKILL)
    expect(count > 3, f"the page has only {count} examples")
    if is_update:
        page.update(names)
    return count


async def until_imported(getui: Getui, table: str) -> None:
    """Waits until the server knows what was imported while it ran."""
    cids = re.findall(r"^    ([0-9a-f]{32}),", table, re.MULTILINE)
    expect(cids, f"the table names CIDs: {table}")
    end = time.monotonic() + DEADLINE
    while (await asyncio.to_thread(getui.detail, *cids))["invalidCids"]:
        expect(time.monotonic() < end, "the server never learned of the imported devices")
        await asyncio.sleep(0.05)


async def play(binary: str, folder: pathlib.Path, is_update: bool) -> None:
    count = 0
    for name, part in (("api", play_api), ("migration", play_migration)):
        place = folder / name
        place.mkdir()
        count += await part(binary, place, is_update)
    print(f"ok - {count} examples of the pages are as the server answers")


if __name__ == "__main__":
    main("Compares what is said of Getui's API with what a built server answers.", play)
