"""Proves with a real server, and with devices and an app server of Getui's that share no code with it, that Getui's REST
API v2 works from a token to the receipt.

    python3 getui_server.py --binary .build/debug/borealis

The app server is getui.py, which knows Getui's documentation only; the device is borealis_device.py.
"""

import asyncio
import pathlib
import time
from collections.abc import Callable
from typing import Any

import getui
from callbacks import Receiver
from getui import Getui, Refused
from push_api import PlainAPI
from stage import DEADLINE, Failed, Phone, Server, expect, expect_equal, main, play_each

ANDROID, IOS = 2, 1
SHOWN, TAPPED = 1, 2
TASK_ENDED = 22002
ALIAS_HOLDERS = 10  # CIDs that one alias may have
ONLINE, OFFLINE = "successed_online", "successed_offline"


class Scene:
    """An app of its own with its phones."""

    def __init__(self, server: Server, folder: pathlib.Path):
        self.server, self._folder = server, folder
        self._phones: list[Phone] = []

    async def open(self, name: str) -> "Scene":
        self.name = name
        self.key, jpush_secret = await self.server.create_app(name)
        access = await self.server.command("app", "getui", "set", self.key)
        expect_equal((access["app_id"], access["app_key"]), (self.key, self.key), "names of the app")
        self.secret = access["master_secret"]
        self.app = Getui(f"http://{self.server.http}", self.key, self.key, self.secret)
        self.settings = PlainAPI(f"http://{self.server.http}", self.key, jpush_secret)
        return self

    async def phone(self, name: str, platform: int = ANDROID) -> Phone:
        file = self._folder / f"{self.name}-{name}.json"
        phone = Phone(name, self.server.plain, self.key, file, platform=platform)
        self._phones.append(phone)
        return await phone.start()

    async def call(self, function: Callable, *arguments: Any, **named: Any) -> Any:
        """Calls a function of `app` without holding up the phones."""
        return await asyncio.to_thread(function, *arguments, **named)

    async def refused(self, code: int, function: Callable, *arguments: Any, **named: Any) -> Refused:
        try:
            answer = await self.call(function, *arguments, **named)
        except Refused as refusal:
            expect_equal(refusal.code, code, f"code of the refusal ({refusal.message})")
            return refusal
        raise Failed(f"answered with {answer} instead of {code}")

    async def offline(self, phone: Phone) -> None:
        """Ends a phone, and waits until the server has seen it."""
        await phone.stop()
        async with asyncio.timeout(DEADLINE):
            while (await self.call(self.app.status, cid(phone)))[cid(phone)]["status"] != "offline":
                await asyncio.sleep(0.02)

    async def end(self) -> None:
        for phone in self._phones:
            await phone.stop()


class GetuiReceiver(Receiver):
    """An app server that gets receipts as Getui sends them."""

    @property
    def events(self) -> list[dict[str, Any]]:
        return [receipt for _, body in list(self.requests) for receipt in getui.receipts(body)]


def cid(phone: Phone) -> str:
    return str(phone.device.registration_id)


def message(text: str) -> dict[str, Any]:
    return {"push_message": {"transmission": text}}


def messages(phone: Phone) -> list[str]:
    return [push.content["message"]["msg_content"] for push in phone.pushes if "message" in push.content]


def only(tasks: dict[str, dict[str, str]]) -> tuple[str, dict[str, str]]:
    """The task and the statuses of an answer that has one."""
    expect_equal(len(tasks), 1, f"tasks in {tasks}")
    return next(iter(tasks.items()))


async def tokens(scene: Scene) -> None:
    """Tokens need the right signature, are good beside each other, and are made anew when one has ended"""
    app = scene.app
    other = Getui(f"http://{scene.server.http}", scene.key, scene.key, scene.secret)
    wrong = Getui(f"http://{scene.server.http}", scene.key, scene.key, "0" * 24)
    refusal = await scene.refused(getui.TOKEN_INVALID, wrong.authenticate)
    expect_equal(refusal.status, 401, "HTTP status of a wrong signature")
    for one in (app, other):
        await scene.call(one.authenticate)
        lasts = one.expire_time / 1000 - time.time()
        expect(86_000 < lasts < 86_500, f"the token lasts a day: {lasts} s")
    expect(app.token != other.token, "tokens differ")
    ended = app.token
    await scene.call(app.end_token)
    await scene.call(app.quota)
    expect(app.token != ended, "the client has another token")
    await scene.call(other.send, "GET", "/report/push/count")
    newer = await scene.server.command("app", "getui", "set", scene.key)
    changed = Getui(f"http://{scene.server.http}", scene.key, scene.key, newer["master_secret"])
    # A running server knows of the new secret within some seconds.
    async with asyncio.timeout(DEADLINE):
        while True:
            try:
                await scene.call(other.send, "GET", "/report/push/count")
            except Refused as refusal:
                expect_equal(refusal.code, getui.TOKEN_INVALID, "code for a token of the secret before")
                break
            await asyncio.sleep(0.1)
    await scene.call(changed.quota)


async def singles(scene: Scene) -> None:
    """Pushes to one CID or alias come once, also those that are sent twice, and tell who is online"""
    app, here, away = scene.app, await scene.phone("here"), await scene.phone("away")
    await scene.offline(away)
    task, statuses = only(await scene.call(app.single, cid(here), **message("one")))
    expect(task.startswith("RASS_"), f"{task} is a single push")
    expect_equal(statuses, {cid(here): ONLINE}, "status of who is there")
    _, statuses = only(await scene.call(app.single, cid(away), **message("kept")))
    expect_equal(statuses, {cid(away): OFFLINE}, "status of who is away")
    body = {"request_id": app.request_id(), "audience": {"cid": [cid(here)]}, **message("two")}
    first = await scene.call(app.request, "POST", "/push/single/cid", body)
    expect_equal(await scene.call(app.request, "POST", "/push/single/cid", body), first, "answer to a repeat")
    # Getui's server has the two of them of an alias in one answer.
    await scene.call(app.bind_aliases, [(cid(here), "anna"), (cid(away), "anna")])
    _, statuses = only(await scene.call(app.single_alias, "anna", **message("three")))
    expect_equal(statuses, {cid(here): ONLINE, cid(away): OFFLINE}, "statuses of an alias")
    await here.until(lambda: len(here.pushes) >= 3, "three pushes")
    expect_equal(messages(here), ["one", "two", "three"], "what came")
    await away.start()
    await away.until(lambda: len(away.pushes) >= 2, "what was kept")
    expect_equal(messages(away), ["kept", "three"], "what was kept")
    expect(all(push.offline for push in away.pushes), "what was kept says so")
    await scene.refused(getui.PARAMETER, app.single, "nobody", **message("x"))
    await scene.refused(getui.PARAMETER, app.single_alias, "nobody", **message("x"))


async def lists(scene: Scene) -> None:
    """A stored message goes to lists of CIDs and aliases until it is stopped, and nobody who was away gets it then"""
    app, here, away = scene.app, await scene.phone("here"), await scene.phone("away")
    await scene.offline(away)
    await scene.call(app.bind_aliases, [(cid(here), "anna"), (cid(away), "bert")])
    task = await scene.call(app.message, group_name="news", **message("list"))
    expect(task.startswith("RASL_"), f"{task} is a stored message")
    answer = await scene.call(app.list_cid, task, [cid(here), cid(away)])
    expect_equal(answer, {task: {cid(here): ONLINE, cid(away): OFFLINE}}, "statuses")
    expect_equal(await scene.call(app.list_cid, task, [cid(here)], True), None, "data of an asynchronous call")
    answer = await scene.call(app.list_alias, task, ["anna", "bert", "nobody"], True)
    expect_equal(
        answer, {task: {"anna": {cid(here): ONLINE}, "bert": {cid(away): OFFLINE}, "nobody": {}}}, "by alias")
    await here.until(lambda: len(here.pushes) >= 3, "three pushes")
    await scene.call(app.stop, task)
    refusal = await scene.refused(TASK_ENDED, app.list_cid, task, [cid(here)])
    expect_equal(refusal.status, 400, "HTTP status")
    await away.start()
    await scene.call(app.single, cid(away), **message("after"))
    await away.until(lambda: away.pushes, "a push")
    expect_equal(messages(away), ["after"], "what came of a stopped task, and after it")


async def broadcasts(scene: Scene) -> None:
    """Pushes to everybody and by tags reach those and nobody else, until they are stopped"""
    app, first, second = scene.app, await scene.phone("first"), await scene.phone("second")
    await scene.call(app.set_tags, cid(first), "vip", "news")
    expect_equal(await scene.call(app.add_tag, "news", cid(second), "nobody"),
                 {cid(second): "true", "nobody": "false"}, "who has the tag now")  # fmt: skip
    expect_equal(await scene.call(app.tags, cid(first)), {"vip", "news"}, "tags")

    def condition(kind: str, *tags: str) -> dict[str, Any]:
        return {"key": "custom_tag", "values": list(tags), "opt_type": kind}

    await scene.call(app.all, **message("all"))
    await scene.call(app.fast_custom_tag, "vip", **message("fast"))
    await scene.call(app.tag, [condition("or", "vip", "news")], **message("or"))
    await scene.call(app.tag, [condition("and", "vip", "news")], **message("and"))
    await scene.call(app.tag, [condition("or", "news"), condition("not", "vip")], **message("not"))
    for phone in (first, second):
        await scene.call(app.single, cid(phone), **message("last"))
        await phone.until(lambda phone=phone: "last" in messages(phone), "the last push")
    expect_equal(sorted(messages(first)), ["all", "and", "fast", "last", "or"], "what the first got")
    expect_equal(sorted(messages(second)), ["all", "last", "not", "or"], "what the second got")
    await scene.call(app.remove_tag, "news", cid(second))
    await scene.offline(second)
    task = await scene.call(app.all, **message("stopped"))
    expect(task.startswith("RASA_"), f"{task} is a broadcast")
    await scene.call(app.stop, task)
    await second.start()
    await scene.call(app.single, cid(second), **message("end"))
    await second.until(lambda: "end" in messages(second), "the end")
    expect("stopped" not in messages(second), "a stopped broadcast is not handed over")


async def users(scene: Scene) -> None:
    """An alias has ten CIDs and refuses the eleventh; who is on the black list gets nothing until it is off"""
    app = scene.app
    phones = [await scene.phone(f"phone-{number}") for number in range(ALIAS_HOLDERS + 2)]
    cids = [cid(phone) for phone in phones]
    await scene.call(app.bind_aliases, [(one, "full") for one in cids[:ALIAS_HOLDERS]])
    await scene.refused(getui.PARAMETER, app.bind_aliases, [(cids[-2], "other"), (cids[-1], "full")])
    expect_equal(sorted(await scene.call(app.cids, "full")), sorted(cids[:ALIAS_HOLDERS]), "who has the alias")
    expect_equal(await scene.call(app.alias, cids[-2]), None, "what a refused request has left as it was")
    await scene.call(app.unbind_aliases, [(cids[0], "full"), (cids[1], "other")])
    await scene.call(app.bind_aliases, [(cids[-1], "full")])
    expect_equal(await scene.call(app.alias, cids[0]), None, "alias of who gave the place up")
    await scene.call(app.unbind_alias, "full")
    expect_equal(await scene.call(app.cids, "full"), [], "who has an alias that was taken away")
    states = await scene.call(app.status, *cids)
    expect_equal({state["status"] for state in states.values()}, {"online"}, "states of all")
    detail = await scene.call(app.detail, cids[0], "nobody")
    expect_equal((list(detail["validCids"]), detail["invalidCids"]), ([cids[0]], ["nobody"]), "known and unknown")

    phone = phones[0]
    await scene.call(app.block, cids[0])
    await scene.refused(getui.PARAMETER, app.single, cids[0], **message("blocked"))
    await scene.call(app.all, **message("to the others"))
    await phones[1].until(lambda: phones[1].pushes, "a push to all")
    await scene.call(app.unblock, cids[0])
    await scene.call(app.single, cids[0], **message("again"))
    await phone.until(lambda: phone.pushes, "a push after the black list")
    expect_equal(messages(phone), ["again"], "what came")


async def receipts(scene: Scene) -> None:
    """Receipts come in Getui's lines, signed with the master secret, each with the task that the answer named"""
    app, android, iphone = scene.app, await scene.phone("android"), await scene.phone("iphone", IOS)
    await iphone.device.set_app_state(True)
    receiver = GetuiReceiver()
    await scene.call(
        scene.settings.request, "PUT", "/v1/callback", {"url": receiver.url, "format": "getui"})
    single, _ = only(
        await scene.call(app.single, cid(android), settings={"custom_callback": "x1"}, **message("single")))
    listed = await scene.call(app.message, **message("list"))
    await scene.call(app.list_cid, listed, [cid(iphone)])
    await android.until(lambda: android.pushes, "a push")
    broadcast = await scene.call(app.all, **message("all"))
    await android.until(lambda: len(android.pushes) == 2, "the broadcast")
    await iphone.until(lambda: len(iphone.pushes) == 2, "the list and the broadcast")
    tasks = {single: android, listed: iphone}
    android.device.receipt(TAPPED, android.pushes[0].msg_id)
    iphone.device.receipt(TAPPED, iphone.pushes[0].msg_id)

    def key(receipt: dict[str, Any]) -> tuple[str, str, str, str]:
        return receipt["taskid"], receipt["cid"], receipt["msgid"], receipt["actionId"]

    def expected(task: str, phone: Phone, action: str) -> tuple[str, str, str, str]:
        push = phone.pushes[1 if task == broadcast else 0]
        return task, cid(phone), str(push.msg_id), action

    wanted = {expected(broadcast, phone, "0") for phone in (android, iphone)}
    wanted |= {expected(task, phone, "0") for task, phone in tasks.items()}
    # What was tapped was shown.
    wanted |= {expected(single, android, action) for action in ("10000", "10010")}
    wanted |= {expected(listed, iphone, action) for action in ("10009", "10019")}
    await receiver.until(lambda: {key(one) for one in receiver.events} >= wanted, "all receipts")
    expect_equal({key(one) for one in receiver.events}, wanted, "receipts")
    for one in receiver.events:
        expect(getui.is_genuine(one, scene.secret), f"{one} is signed")
        expect(not getui.is_genuine(one, "0" * 24), "another secret signs otherwise")
        expect(not getui.is_genuine({**one, "taskid": "RASS_1"}, scene.secret), "the task is signed")
        expect_equal((one["appid"], one["code"], one["desc"]), (scene.key, "200", "ok"), "the rest of a receipt")
        expect_equal(one.get("custom_callback"), "x1" if one["taskid"] == single else None, "what is echoed")
        expect(one["recvtime"] > 1_700_000_000_000, "when it happened is told in milliseconds")
    kinds = {headers["content-type"] for headers, _ in receiver.requests}
    expect_equal(kinds, {"text/plain;charset=utf-8"}, "type of the bodies")
    # Single pushes have reports too, in real time.
    report = (await scene.call(app.report, single, listed, broadcast))[single]["total"]
    expect_equal((report["receive_num"], report["click_num"]), (1, 1), "figures of a single push")
    receiver.close()


async def wrong(scene: Scene) -> None:
    """What is wrong is refused by name and changes nothing; a body of 4 MiB is refused before it comes"""
    app, phone = scene.app, await scene.phone("phone")
    body = {"request_id": app.request_id(), "audience": {"cid": [cid(phone)]}, **message("never")}
    faults: list[tuple[dict[str, Any], str]] = [
        ({"request_id": 5}, "request_id"), ({"request_id": "short"}, "request_id"), ({"audience": []}, "audience"),
        ({"audience": {"cid": cid(phone)}}, "audience.cid"), ({"audience": {"cid": [5]}}, "audience.cid"),
        ({"push_message": "x"}, "push_message"), ({"push_message": {"transmission": 5}}, "push_message.transmission"),
        ({"settings": {"ttl": "soon"}}, "settings.ttl"), ({"settings": {"strategy": {"ios": 9}}}, "settings.strategy.ios"),
        ({"push_channel": {"ios": ["x"]}}, "push_channel.ios"), ({"colour": "red"}, "colour"),
    ]  # fmt: skip
    for change, name in faults:
        refusal = await scene.refused(getui.PARAMETER, app.request, "POST", "/push/single/cid", {**body, **change})
        expect(name in refusal.message and refusal.status == 400, f"{refusal} names {name}")
    for method, path, code in (("POST", "/push/everyone", 404), ("GET", "/push/single/cid", 405)):
        refusal = await scene.refused(code, app.request, method, path)
        expect_equal(refusal.status, code, f"HTTP status of {method} {path}")
    head = f"POST /v2/{scene.key}/push/all HTTP/1.1\r\nHost: x\r\ntoken: {app.token}\r\nContent-Length: {4 << 20}\r\n\r\n"
    host, port = scene.server.http.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(head.encode())
    async with asyncio.timeout(DEADLINE):
        answer = await reader.read()
    expect(answer.startswith(b"HTTP/1.1 400 ") and b'"code":20001' in answer, f"early answer: {answer!r}")
    writer.close()
    await scene.call(app.single, cid(phone), **message("good"))
    await phone.until(lambda: phone.pushes, "a push")
    expect_equal(messages(phone), ["good"], "what came")


async def play_all(binary: str, folder: pathlib.Path) -> None:
    server = Server(binary, folder, ("--callback-networks", "127.0.0.0/8"))

    async def open_scene(name: str) -> Scene:
        return await Scene(server, folder).open(name)

    await play_each(server, (tokens, singles, lists, broadcasts, users, receipts, wrong), open_scene)


if __name__ == "__main__":
    main("Proves Getui's API of a built server.", play_all)
