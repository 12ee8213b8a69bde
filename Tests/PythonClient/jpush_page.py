"""Runs the examples of Docs/api/jpush.md on a real server and compares its answers with those that the page prints.

    python3 jpush_page.py --binary .build/debug/borealis [--update]

Times, IDs and secrets differ from run to run: where the page prints one, what it stands for is learned from the answer
and put into the later commands. All else must be as printed, up to the order of members. With --update the answers on
the page are replaced by those of this run.
"""

import argparse
import asyncio
import datetime
import json
import os
import pathlib
import re
import signal
import sys
import tempfile
from typing import Any

from push_api import PlainAPI
from schedules import in_seconds
from stage import Failed, Phone, Server, expect, expect_equal

PAGE = pathlib.Path(__file__).parents[2] / "Docs/api/jpush.md"
ANDROID, IOS = 2, 1
SHOWN, TAPPED = 1, 2
CHINA = datetime.timezone(datetime.timedelta(hours=8))
# Members that every run gives another value.
CHANGING = {
    "msg_id", "group_msgid", "file_id", "schedule_id", "registration_id", "registration_ids", "cidlist", "app_key",
    "master_secret", "create_time", "expire_time", "created_at", "expires_at", "time", "start", "last_used_time",
    "last_online_date", "ts",
}  # fmt: skip
# Counts of what happened so far: only their members are compared.
COUNTS = "/v1/stats"
# What needs more than a server: a credential for Apple, and a certificate.
LEFT_OUT = ("/v1/apns", "/certificate")
TIME = re.compile(r"20\d\d-\d\d-\d\d(?: \d\d:\d\d:\d\d)?")


class Example:
    """A command of the page, and the answer printed behind it."""

    def __init__(self, lines: list[str], first: int):
        self.first = first
        printed = next((at for at, line in enumerate(lines) if at and re.match(r"    [\[{]\S", line)), len(lines))
        self.command = "\n".join(line[4:] for line in lines[:printed]).removeprefix("$ ")
        self.line = first + printed
        self.answer = lines[printed][4:] if printed < len(lines) else None


def examples(page: str) -> list[Example]:
    """The commands in the indented blocks of the page."""
    found: list[Example] = []
    block: list[str] = []
    for at, line in enumerate([*page.split("\n"), ""]):
        if block and (not line.startswith("    ") or line.startswith("    $ ")):
            found.append(Example(block, at - len(block)))
            block = []
        if line.startswith(("    $ curl", "    $ printf")) or (block and line.startswith("    ")):
            block.append(line)
    return found


class Names:
    """What stands for what: names of the page, and those of this run."""

    def __init__(self, is_strict: bool) -> None:
        self._known: dict[str, str] = {}
        self._is_strict = is_strict

    def add(self, printed: str, real: str) -> None:
        self._known.setdefault(printed, real)

    def translate(self, text: str) -> str:
        for printed in sorted(self._known, key=len, reverse=True):
            text = text.replace(printed, self._known[printed])
        return text

    def compare(self, printed: Any, real: Any, counts: bool) -> None:
        """Compares an answer with the printed one, and learns what differs and may."""
        try:
            self._learn(printed, real, "", counts)
        except Failed:
            if self._is_strict:
                raise

    def _learn(self, printed: Any, real: Any, path: str, counts: bool) -> None:
        member = path.rsplit(".", 1)[-1].removesuffix("[]")
        if isinstance(printed, dict) and isinstance(real, dict):
            translated = {self.translate(key): key for key in printed}
            expect_equal(sorted(real), sorted(translated), f"members at {path or 'the top'}")
            for key, value in real.items():
                self._learn(printed[translated[key]], value, f"{path}.{key}", counts)
        elif isinstance(printed, list) and isinstance(real, list):
            expect_equal(len(real), len(printed), f"elements at {path}")
            for one, other in zip(printed, real, strict=True):
                self._learn(one, other, path + "[]", counts)
        elif member == "msgids":
            self._learn(json.loads(printed), json.loads(real), path + "[].text", counts)
        elif member in CHANGING or counts:
            expect_equal(type(real), type(printed), f"kind of value at {path}")
            if isinstance(printed, str) and not TIME.fullmatch(printed):
                self.add(printed, real)
        else:
            wanted = self.translate(printed) if isinstance(printed, str) else printed
            expect_equal(real, wanted, f"value at {path}")


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


async def run(example: Example, stage: Stage) -> str:
    """Runs a command in a shell, as a reader of the page would, and returns what it printed."""
    command = (await stage.before(example.command)).replace("curl ", "curl -sS --max-time 30 ", 1)
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", command, env={"PATH": os.environ["PATH"], "NO_PROXY": "*", **stage.environment},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await process.communicate()
    expect_equal(process.returncode, 0, f"exit status of {command}; it printed {output.decode()}")
    return output.decode()


async def play(binary: str, folder: pathlib.Path, is_update: bool) -> None:
    page = PAGE.read_text()
    lines = page.split("\n")
    server = Server(binary, folder)
    stage = Stage(server, folder, page, Names(is_strict=not is_update))
    answered: set[int] = set()
    count = 0
    try:
        await server.start()
        await stage.set_up()
        for example in examples(page):
            if any(text in example.command for text in LEFT_OUT):
                continue
            answer = await run(example, stage)
            try:
                expect(example.answer is not None, "the page prints no answer")
                stage.names.compare(json.loads(example.answer or ""), json.loads(answer), COUNTS in example.command)
            except (Failed, ValueError) as failure:
                raise Failed(f"line {example.first + 1}: {example.command}\n{failure}\n{answer}") from None
            lines[example.line] = "    " + answer
            answered.add(example.line)
            count += 1
    except Failed:
        print(server.log()[-4000:], file=sys.stderr)
        raise
    finally:
        await stage.end()
        await server.stop(signal.SIGKILL)
    expect(count > 40, f"the page has only {count} examples")
    if is_update:
        translated = (
            line if at in answered else stage.names.translate(line) for at, line in enumerate(lines)
        )
        PAGE.write_text("\n".join(translated))
    print(f"ok - {count} examples of the page are as the server answers")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares Docs/api/jpush.md with what a built server answers.")
    parser.add_argument("--binary", required=True, help="the built program")
    parser.add_argument("--update", action="store_true", help="write the answers of this run into the page")
    arguments = parser.parse_args()
    binary = str(pathlib.Path(arguments.binary).resolve())
    with tempfile.TemporaryDirectory(prefix="borealis-") as folder:
        try:
            asyncio.run(play(binary, pathlib.Path(folder), arguments.update))
        except (Failed, OSError) as failure:
            sys.exit(f"FAILED {str(failure) or repr(failure)}")


if __name__ == "__main__":
    main()
