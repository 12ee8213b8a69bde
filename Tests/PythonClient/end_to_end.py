"""Proves with a real server, and a device and an app server that share no code with it, that pushes arrive.

    python3 end_to_end.py --binary .build/debug/borealis

The device is borealis_device.py; the app server is JPush's own Python client (`pip install jpush==3.4.1`), or
the same requests through urllib where that is not installed. Nothing here sleeps to be in step with the
server: everything waits for an event and fails when it has not come by a deadline.
"""

import asyncio
import contextlib
import datetime
import json
import pathlib
import signal
import ssl
from collections.abc import Callable
from typing import Any

import push_api
from device_api import device_api, validation
from push_api import EVERYONE, Audience, Refused
from schedules import schedules
from stage import Failed, Phone, Server, expect, expect_equal, main, play_each

ALIAS_IS_FULL, ALIAS_TOO_LONG, TAG_TOO_LONG, NO_SUCH_AUDIENCE = 6027, 6004, 6006, 1011
NO_SUCH_RIGHT, WRONG_SECRET = 2007, 1004
SHOWN, TAPPED = 1, 2
UNKNOWN = 1  # a msg_id that no server gives


class Scene:
    """One app with its phones; every scenario has an app of its own, so that none sees another's pushes."""

    def __init__(self, server: Server, api: push_api.PlainAPI, app_key: str, folder: pathlib.Path):
        self.server, self.api, self.app_key, self._folder = server, api, app_key, folder
        self._phones: list[Phone] = []

    def phone(self, name: str, tls: ssl.SSLContext | None = None) -> Phone:
        address = self.server.tls if tls else self.server.plain
        phone = Phone(name, address, self.app_key, self._folder / f"{name}.json", tls)
        self._phones.append(phone)
        return phone

    async def push(self, audience: Audience, alert: str) -> int:
        return await asyncio.to_thread(self.api.push, audience, alert)

    async def call(self, function: Callable, *arguments: Any) -> Any:
        """Calls a function of `api` without holding up the phones."""
        return await asyncio.to_thread(function, *arguments)

    async def end(self) -> None:
        for phone in self._phones:
            await phone.stop()


def to(kind: str, *names: str | None) -> Audience:
    return Audience(kind, tuple(name for name in names if name))


async def audiences(scene: Scene) -> None:
    """A push reaches everyone, an alias, a tag or a registration ID, and nobody else"""
    anna, ben = await scene.phone("anna").start(), await scene.phone("ben").start()
    expect_equal((await anna.device.set_alias("anna")).code, 0, "set_alias")
    expect_equal((await anna.device.add_tags(["vip", "北京"])).code, 0, "add_tags")
    msg_id = await scene.push(EVERYONE, "to all")
    await scene.push(to("alias", "anna"), "to alias")
    await scene.push(to("tag", "北京"), "to tag")
    await scene.push(to("registration_id", ben.device.registration_id), "to ben")
    await scene.push(EVERYONE, "end")
    await anna.shows("to all", "to alias", "to tag", "end")
    await ben.shows("to all", "to ben", "end")
    expect_equal(anna.pushes[0].msg_id, msg_id, "msg_id on the device and in the answer to the push")
    expect(
        not any(push.offline for push in anna.pushes + ben.pushes),
        "a push to an online device is not offline",
    )
    with expect_refusal(NO_SUCH_AUDIENCE):
        await scene.push(to("alias", "nobody"), "to nobody")


async def segments(scene: Scene) -> None:
    """A push to a segment reaches who is in it when it is accepted"""
    reader, other = await scene.phone("reader").start(), await scene.phone("other").start()
    await reader.device.set_tags(["reads"])
    condition = {"all": [{"tag": "reads"}, {"last_seen": {"within_days": 1}}, {"alias": False}]}
    made = await scene.call(scene.api.request, "POST", "/v1/segments", {"name": "readers", "condition": condition})
    await scene.push(to("segment", made["id"]), "to readers")
    await other.device.set_tags(["reads"])
    await scene.push(EVERYONE, "end")
    await reader.shows("to readers", "end")
    await other.shows("end")
    counted = await scene.call(scene.api.request, "GET", f"/v1/segments/{made['id']}")
    expect_equal(counted["devices"], 2, "devices of the segment")
    await reader.device.set_alias("anna")
    await other.device.set_alias("ben")
    with expect_refusal(NO_SUCH_AUDIENCE):
        await scene.push(to("segment", made["id"]), "to nobody")


async def ab_tests(scene: Scene) -> None:
    """A push to an A/B test says one content to some and another to as many; who waits for the winner gets nothing"""
    phones = [await scene.phone(f"phone{number}").start() for number in range(4)]
    test = {"name": "n", "share": 50, "after": 60, "audience": "all", "contents": [{"alert": "one"}, {"alert": "two"}]}
    made = await scene.call(scene.api.request, "POST", "/v1/abtests", test)
    msg_id = await scene.push(to("abtest", made["id"]), "of the push")
    runs = (await scene.call(scene.api.request, "GET", f"/v1/abtests/{made['id']}/runs"))["runs"]
    expect_equal([int(runs[0]["contents"][0]["msg_id"]), runs[0]["rest"]], [msg_id, 2], "the run")
    await scene.call(scene.api.request, "POST", f"/v1/abtests/{made['id']}/stop")
    await scene.push(EVERYONE, "end")
    for phone in phones:
        await phone.until(lambda phone=phone: "end" in phone.shown, "the end")
    said = sorted(str(phone.shown) for phone in phones)
    expect_equal(said, ["['end']", "['end']", "['one', 'end']", "['two', 'end']"], "what each device shows")


async def languages(scene: Scene) -> None:
    """Each device gets a push in its language, and what a template says"""
    german, other = await scene.phone("german").start(), await scene.phone("other").start()
    ids = [str(phone.device.registration_id) for phone in (german, other)]
    await scene.call(scene.api.request, "PUT", "/v1/facts/wanted", {"wanted": ["language"]})
    facts = {"app_key": scene.app_key, "registration_id": ids[0], "facts": {"language": "de-AT"},
             "secret": json.loads(german.state_file.read_text())["secret"]}  # fmt: skip
    await scene.call(scene.api.request, "POST", "/v1/facts", facts)
    await scene.call(scene.api.batch, "regid", ids, "hello", {"languages": {"de": {"alert": "hallo"}}})
    texts = {"name": "n", "alert": "hello {n}", "languages": {"de": {"alert": "hallo {n}"}}}
    made = await scene.call(scene.api.request, "POST", "/v1/templates", texts)
    push = {"platform": "all", "audience": "all", "template": {"id": made["id"], "values": {"n": 2}}}
    await scene.call(scene.api.request, "POST", "/v3/push", push)
    keys = {"id": made["id"], "params": [{"audience": "all", "keys": {"n": 3}, "trace_id": "x"}]}
    answer = await scene.call(scene.api.request, "POST", "/v3/push/template", keys)
    expect_equal([entry["code"] for entry in answer["data"]["push_list"]], [0], "codes of the entries")
    await german.shows("hallo", "hallo 2", "hallo 3")
    await other.shows("hello", "hello 2", "hello 3")


async def offline(scene: Scene) -> None:
    """What was pushed while the device was away arrives after its login, flagged offline and in order"""
    phone = await scene.phone("phone").start()
    await phone.device.set_alias("away")
    await phone.device.set_tags(["away"])
    await phone.stop()
    addressed = [EVERYONE, to("alias", "away"), to("registration_id", phone.device.registration_id),
                 to("tag", "away")]  # fmt: skip
    alerts = [f"kept {number}" for number in range(12)]
    msg_ids = [await scene.push(addressed[at % 4], alert) for at, alert in enumerate(alerts)]
    await phone.start()
    await phone.shows(*alerts)
    expect_equal([push.msg_id for push in phone.pushes], msg_ids, "order of the kept pushes")
    expect(all(push.offline for push in phone.pushes), "kept pushes are flagged offline")
    expect_equal(phone.heard("online")[-1]["pending"], len(alerts), "pending in LOGIN_OK")
    await scene.push(EVERYONE, "now")
    await phone.shows(*alerts, "now")
    expect(not phone.pushes[-1].offline, "a push after the login is not offline")


async def duplicates(scene: Scene) -> None:
    """A push whose ACK was lost comes again and is shown once; after its ACK it does not come again"""
    phone = await scene.phone("phone").start()
    phone.device.loses_next_ack = True
    msg_id = await scene.push(EVERYONE, "once")
    await phone.until(lambda: phone.heard("duplicate"), "the push to come again")
    await scene.push(EVERYONE, "next")
    await phone.shows("once", "next")
    await phone.device.get_tags()  # the server has taken the ACK, which went before it
    await phone.stop()
    await scene.push(EVERYONE, "end")
    await phone.start()
    await phone.shows("once", "next", "end")
    expect_equal(phone.heard("duplicate"), [{"msg_id": msg_id}], "repeats")


async def unacknowledged(scene: Scene) -> None:
    """A push that the device could not process is sent again when it comes back, before newer ones"""
    phone = await scene.phone("phone").start()
    phone.fails_to_show.add("first")
    msg_id = await scene.push(EVERYONE, "first")
    await phone.until(lambda: phone.heard("failed"), "the push to fail on the device")
    await scene.push(EVERYONE, "second")
    await phone.shows("second")
    await phone.stop()
    await scene.push(EVERYONE, "third")
    await phone.start()
    await phone.shows("second", "first", "third")
    expect_equal(phone.pushes[1].msg_id, msg_id, "msg_id of the push sent again")
    expect(phone.pushes[1].offline, "a push from before this session is flagged offline")


async def recall(scene: Scene) -> None:
    """A recalled push is not delivered any more, and is recalled from a device that shows it"""
    phone = await scene.phone("phone").start()
    await phone.device.set_alias("away")
    msg_id = await scene.push(EVERYONE, "shown")
    await phone.shows("shown")
    await scene.call(scene.api.recall, msg_id)
    await phone.until(lambda: phone.heard("recall") == [{"msg_id": msg_id}], "the recall")
    await phone.stop()
    for audience in EVERYONE, to("alias", "away"):
        msg_id = await scene.push(audience, f"recalled from {audience.kind}")
        await scene.call(scene.api.recall, msg_id)
    await scene.push(EVERYONE, "kept")
    await phone.start()
    await phone.shows("shown", "kept")


async def batches(scene: Scene) -> None:
    """Many single pushes at once reach their devices; each is answered for itself, under a cid of its own"""
    anna, ben = await scene.phone("anna").start(), await scene.phone("ben").start()
    await ben.device.set_alias("ben")
    cids = await scene.call(scene.api.cids, 3)
    expect_equal(len(set(cids)), 3, "different cids")
    ids = [str(phone.device.registration_id) for phone in (anna, ben)]
    sent = await scene.call(scene.api.batch, "regid", [*ids, "0123456789abcdef012"], "by id")
    expect_equal(sent[2], -NO_SUCH_AUDIENCE, "result for a device that is not there")
    await anna.shows("by id")
    await ben.shows("by id")
    expect_equal([anna.pushes[0].msg_id, ben.pushes[0].msg_id], sent[:2], "msg_ids in the answer")
    sent = await scene.call(scene.api.batch, "alias", ["ben", "nobody"], "by alias")
    expect_equal(sent[1], -NO_SUCH_AUDIENCE, "result for nobody's alias")
    await ben.shows("by id", "by alias")
    await scene.push(EVERYONE, "end")
    await anna.shows("by id", "end")


async def groups(scene: Scene) -> None:
    """A push to a group reaches the devices of its apps, and its answer has one part for each app"""
    phone = await scene.phone("phone").start()
    other_key, _ = await scene.server.create_app("without devices")
    key, secret = await scene.server.create_group("group", scene.app_key, other_key)
    api = push_api.connect(f"http://{scene.server.http}", f"group-{key}", secret)
    answer = await scene.call(api.push_to_group, EVERYONE, "to the group", 77)
    await phone.shows("to the group")
    expect_equal(int(answer[scene.app_key]["msg_id"]), phone.pushes[0].msg_id, "msg_id of the app")
    expect_equal(answer[scene.app_key]["sendno"], "77", "sendno of the app")
    expect_equal(answer[other_key]["error"]["code"], NO_SUCH_AUDIENCE, "code of the app without devices")
    expect(int(answer["group_msgid"]) > 0, "the answer has a group_msgid")


async def api_keys(scene: Scene) -> None:
    """The secret of an API key stands in for the master secret, for the rights of the key, until it is revoked"""
    phone = await scene.phone("phone").start()
    wanted = {"name": "sender", "rights": ["push"]}
    made = await scene.call(scene.api.request, "POST", "/v1/api-keys", wanted)
    api = push_api.connect(f"http://{scene.server.http}", scene.app_key, made["secret"])
    await scene.call(api.push, EVERYONE, "by a key")
    await phone.shows("by a key")
    with expect_refusal(NO_SUCH_RIGHT):
        await scene.call(api.devices_of_alias, "anna")
    await scene.call(scene.api.request, "DELETE", f"/v1/api-keys/{made['id']}")
    try:
        await scene.call(api.push, EVERYONE, "by a revoked key")
    except Exception as error:  # JPush's client has a type of its own for a wrong secret
        expect("Unauthorized" in repr(error) or getattr(error, "code", None) == WRONG_SECRET, repr(error))
    else:
        raise Failed("a revoked key was accepted")
    await scene.push(EVERYONE, "end")
    await phone.shows("by a key", "end")


async def alias_limit(scene: Scene) -> None:
    """An alias has at most ten devices; the eleventh gets 6027, keeping its old alias until a place is free"""
    phones = [await scene.phone(f"phone{number}").start() for number in range(11)]
    eleventh = phones.pop()
    await eleventh.device.set_alias("own")
    codes = [(await phone.device.set_alias("team")).code for phone in phones]
    expect_equal(codes, [0] * 10, "results of the first ten")
    expect_equal((await eleventh.device.set_alias("team")).code, ALIAS_IS_FULL, "result of the eleventh")
    expect_equal((await eleventh.device.get_alias()).value, "own", "alias of the eleventh")
    ids = await scene.call(scene.api.devices_of_alias, "team")
    expect_equal(
        sorted(ids), sorted(str(phone.device.registration_id) for phone in phones), "devices of the alias"
    )
    expect_equal((await phones[0].device.delete_alias()).code, 0, "delete_alias")
    expect_equal((await eleventh.device.set_alias("team")).code, 0, "set_alias with a place free")
    await scene.push(to("alias", "team"), "to ten")
    for phone in [*phones[1:], eleventh]:
        await phone.shows("to ten")
    expect_equal(phones[0].shown, [], "pushes to the phone that left the alias")


async def names(scene: Scene) -> None:
    """The device sets, reads, checks and removes tags and alias, and the API sees and changes the same"""
    device = (await scene.phone("phone").start()).device

    async def expect_tags(*tags: str) -> None:
        result = await device.get_tags()
        expect_equal((result.code, sorted(result.value)), (0, sorted(tags)), "get_tags")
        known = await scene.call(scene.api.device, device.registration_id)
        expect_equal(sorted(known["tags"] or []), sorted(tags), "tags seen by the API")

    await expect_tags()
    expect_equal((await device.get_alias()), (0, ""), "get_alias without one")
    expect_equal((await device.set_tags(["a", "b", "b"])).code, 0, "set_tags")
    await expect_tags("a", "b")
    expect_equal((await device.add_tags(["b", "标签"])).code, 0, "add_tags")
    expect_equal((await device.delete_tags(["a", "unknown"])).code, 0, "delete_tags")
    await expect_tags("b", "标签")
    expect_equal(await device.check_tag("标签"), (0, 1), "check_tag of a tag that is set")
    expect_equal(await device.check_tag("a"), (0, 0), "check_tag of a tag that was deleted")
    expect(await scene.call(scene.api.has_tag, "b", device.registration_id), "the API does not know the tag")
    expect_equal((await device.set_alias("x" * 41)).code, ALIAS_TOO_LONG, "alias of 41 bytes")
    expect_equal((await device.set_tags(["c", "标" * 33])).code, TAG_TOO_LONG, "tag of 33 characters")
    await expect_tags("b", "标签")
    change = {"tags": {"add": ["api"], "remove": ["b"]}, "alias": "given"}
    await scene.call(scene.api.update_device, device.registration_id, change)
    expect_equal(await device.get_alias(), (0, "given"), "alias set through the API")
    await expect_tags("api", "标签")
    expect_equal((await device.clean_tags()).code, 0, "clean_tags")
    await expect_tags()
    for result in (
        await device.set_badge(7),
        await device.set_token(0, b""),
        await device.set_app_state(False),
    ):
        expect_equal(result.code, 0, "badge, token or application state")


async def receipts(scene: Scene) -> None:
    """A receipt is kept if it is about a push to that device, and does not stand for an ACK"""
    phone, other = await scene.phone("phone").start(), await scene.phone("other").start()
    phone.fails_to_show.add("seen")
    to_phone = to("registration_id", phone.device.registration_id)
    seen = await scene.push(to_phone, "seen")
    unread = await scene.push(to_phone, "unread")
    await phone.shows("unread")
    phone.device.receipt(SHOWN, seen, unread)
    phone.device.receipt(TAPPED, seen)
    other.device.receipt(TAPPED, unread, UNKNOWN)
    for device in phone.device, other.device:
        expect_equal((await device.set_badge(1)).code, 0, "set_badge after a receipt")
    # The server has all receipts now and stores them within about a second, in order; no API tells of them.
    last = await scene.push(to("registration_id", other.device.registration_id), "last")
    other.device.receipt(SHOWN, last)
    await scene.server.stores_receipt(last)
    expect_equal(scene.server.receipts(seen), (True, True), "receipts of a push shown and tapped")
    expect_equal(
        scene.server.receipts(unread), (True, False), "receipts of a push that another device tapped"
    )
    expect_equal(scene.server.receipts(UNKNOWN), None, "receipts of an unknown push")
    await phone.stop()
    await phone.start()
    await phone.shows("unread", "seen")


async def reports(scene: Scene) -> None:
    """JPush's reports tell who got a push, showed and tapped it, and who uses the app"""
    phone, away = await scene.phone("phone").start(), await scene.phone("away").start()
    await away.stop()
    both = [phone.device.registration_id, away.device.registration_id]
    msg_id = await scene.push(to("registration_id", *both), "reported")
    await phone.shows("reported")
    phone.device.receipt(SHOWN, msg_id)
    phone.device.receipt(TAPPED, msg_id)

    async def element(name: str) -> dict:
        return (await scene.call(scene.api.report, name, msg_id, UNKNOWN))[0]

    # Figures are up to a second late.
    for _ in range(100):
        detail = await element("messages/detail")
        if detail["jpush"]["click"] == 1 and detail["jpush"]["received"] == 1:
            break
        await asyncio.sleep(0.1)
    jpush = {"target": 2, "online_push": None, "sent": 1, "received": 1, "display": 1, "click": 1}
    expect_equal(detail["jpush"], jpush | {"msg_click": None}, "jpush in messages/detail")
    expect_equal((await element("received"))["android_received"], 1, "android_received")
    expect_equal((await element("received/detail"))["jpush_received"], 1, "jpush_received")
    expect_equal((await element("messages"))["android"]["click"], 1, "clicks")
    unknown = (await scene.call(scene.api.report, "received", UNKNOWN))[0]
    expect_equal(set(unknown.values()), {str(UNKNOWN), None}, "the report on an unknown push")
    status = await scene.call(scene.api.status, msg_id, [*both, "nonsense"])
    states = [status[name]["status"] for name in (*both, "nonsense")]
    expect_equal(states, [0, 1, 2], "states of devices")
    today = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=8))).date()
    users = await scene.call(scene.api.users, "DAY", str(today), 1)
    expect_equal(users["items"][0]["time"], str(today), "day of the users' report")
    expect(users["items"][0]["android"]["new"] >= 2, "new users of today")
    with expect_refusal(3004):
        await scene.call(scene.api.users, "DAY", "2026-01", 1)


async def credentials(scene: Scene) -> None:
    """A newer login ends the older, a new install replaces the old, and void credentials are replaced"""
    first = await scene.phone("first").start()
    expect_equal((await first.device.set_alias("one")).code, 0, "set_alias")
    second = scene.phone("second")
    second.state_file.write_text(first.state_file.read_text())
    await second.start()
    expect_equal((await first.ending()).reason, "GO_AWAY 2", "end of the older session")
    expect_equal(
        (await second.device.get_alias()).value, "one", "alias after the same registration logged in"
    )

    reinstalled = scene.phone("reinstalled")
    reinstalled.state_file.write_text(f'{{"fingerprint": "{first.device.state.fingerprint}"}}')
    await reinstalled.start()
    expect_equal((await second.ending()).reason, "GO_AWAY 7", "end of the replaced session")
    expect(
        reinstalled.device.registration_id != first.device.registration_id, "the registration ID is not new"
    )
    expect_equal((await reinstalled.device.get_alias()).value, "", "alias of the new registration")

    await reinstalled.stop()
    await second.start()
    expect_equal(len(second.heard("registered")), 1, "registrations after the old one became void")
    expect_equal((await second.device.log_out()).code, 0, "log_out")
    expect((await second.ending()).reason in ("logged out", "GO_AWAY 6"), "the end of a log-out")


async def tls(scene: Scene) -> None:
    """Pushes arrive over TLS, and a device that does not trust the certificate does not talk to the server"""
    phone = await scene.phone("phone", ssl.create_default_context(cafile=scene.server.certificate)).start()
    await scene.push(EVERYONE, "encrypted")
    await phone.shows("encrypted")
    outsider = scene.phone("outsider", ssl.create_default_context())
    outsider.connect()
    await outsider.until(lambda: outsider.heard("disconnected"), "to be disconnected")
    reason = outsider.heard("disconnected")[0]["reason"]
    expect("CERTIFICATE_VERIFY_FAILED" in reason, f"the outsider was disconnected because of {reason}")
    expect(not outsider.heard("registered"), "a device registered with a server that it does not trust")


async def restart(scene: Scene) -> None:
    """A push answered with 200 outlives kill -9, and devices come back to a server that was started again"""
    away, online = await scene.phone("away").start(), await scene.phone("online").start()
    await away.stop()
    await scene.push(EVERYONE, "before the kill")
    await scene.server.stop(signal.SIGKILL)
    await scene.server.start()
    await away.start()
    await away.shows("before the kill")
    await online.until(lambda: len(online.heard("online")) == 2, "the connection after the kill")
    await online.shows("before the kill")

    expect_equal(await scene.server.stop(signal.SIGTERM), 0, "exit status after SIGTERM")
    # Tries to connect while there is no server are disconnections too.
    await online.until(
        lambda: any(end["reason"] == "GO_AWAY 1" for end in online.heard("disconnected")),
        "the server's word that it stops",
    )
    await scene.server.start()
    await online.until(lambda: len(online.heard("online")) == 3, "the connection after the stop")
    await scene.push(EVERYONE, "after the stop")
    await online.shows("before the kill", "after the stop")


SCENARIOS = [
    audiences,
    segments,
    ab_tests,
    languages,
    offline,
    duplicates,
    unacknowledged,
    recall,
    schedules,
    batches,
    groups,
    api_keys,
    alias_limit,
    names,
    device_api,
    validation,
    receipts,
    reports,
    credentials,
    tls,
    restart,
]


@contextlib.contextmanager
def expect_refusal(code: int):
    try:
        yield
    except Refused as refusal:
        expect_equal(refusal.code, code, "code of the refusal")
    else:
        raise Failed(f"a request was taken that has to be refused with {code}")


async def play_all(binary: str, folder: pathlib.Path) -> None:
    client = push_api.OfficialAPI if push_api.jpush else push_api.PlainAPI
    print(f"app server: {client.name}")
    server = Server(binary, folder)

    async def open_scene(name: str) -> Scene:
        app_key, master_secret = await server.create_app(name)
        state = folder / name
        state.mkdir()
        api = push_api.connect(f"http://{server.http}", app_key, master_secret)
        return Scene(server, api, app_key, state)

    await play_each(server, SCENARIOS, open_scene)


if __name__ == "__main__":
    main("Proves a built server with a device and JPush's client.", play_all)
