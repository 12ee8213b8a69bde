"""The app server of the end-to-end test: JPush's HTTP API, through JPush's own client where it is there."""

import base64
import json
import logging
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, NamedTuple

try:
    import jpush
    import jpush.common
    import jpush.schedule.schedulepayload
except ImportError:
    jpush = None


class Refused(Exception):
    """The server answered with an error; `code` is JPush's number for it."""

    def __init__(self, code: int | None):
        super().__init__(f"refused with code {code}")
        self.code = code


class Audience(NamedTuple):
    """Who gets a push: everyone, or the names of one kind (alias, tag, registration_id)."""

    kind: str
    names: tuple[str, ...] = ()

    @property
    def json(self) -> Any:
        return {self.kind: list(self.names)} if self.names else self.kind


EVERYONE = Audience("all")


def batch_entries(targets: list[str], alert: str, more: dict | None = None) -> list[dict]:
    push = {"platform": "all", "notification": {"alert": alert}, **(more or {})}
    return [{**push, "target": target} for target in targets]


def batch_results(answer: dict, cids: Any) -> list[int]:
    return [
        int(answer[cid]["msg_id"]) if "error" not in answer[cid] else -answer[cid]["error"]["code"]
        for cid in cids
    ]


class PlainAPI:
    """The requests that the official client would send, through urllib."""

    name = "urllib (the jpush package is not installed)"

    def __init__(self, base: str, app_key: str, master_secret: str):
        self._base = base
        self._authorization = "Basic " + base64.b64encode(f"{app_key}:{master_secret}".encode()).decode()
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def request(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": self._authorization, "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data, headers, method=method)
        try:
            with self._opener.open(request, timeout=30) as answer:
                content = answer.read()
        except urllib.error.HTTPError as error:
            raise Refused(json.loads(error.read())["error"]["code"]) from None
        return json.loads(content) if content else None

    def push(self, audience: Audience, alert: str) -> int:
        """Sends a notification to all platforms and returns its msg_id."""
        body = {"platform": "all", "audience": audience.json, "notification": {"alert": alert}}
        return int(self.request("POST", "/v3/push", body)["msg_id"])

    def validate(self, audience: Audience, alert: str) -> dict:
        """Has a notification to all platforms checked, and returns the answer."""
        body = {"platform": "all", "audience": audience.json, "notification": {"alert": alert}}
        return self.request("POST", "/v3/push/validate", body)

    def recall(self, msg_id: int) -> None:
        self.request("DELETE", f"/v3/push/{msg_id}")

    def report(self, name: str, *msg_ids: int) -> list[dict]:
        """One of received, received/detail, messages, messages/detail"""
        query = urllib.parse.quote(", ".join(map(str, msg_ids)))
        return self.request("GET", f"/v3/{name}?msg_ids={query}")

    def status(self, msg_id: int, registration_ids: list[str], date: str | None = None) -> dict:
        body = {"msg_id": msg_id, "registration_ids": registration_ids, "date": date}
        return self.request("POST", "/v3/status/message", body)

    def users(self, unit: str, start: str, duration: int) -> dict:
        query = urllib.parse.urlencode({"time_unit": unit, "start": start, "duration": duration})
        return self.request("GET", f"/v3/users?{query}")

    def cids(self, count: int, kind: str | None = None) -> list[str]:
        query = f"count={count}" + (f"&type={kind}" if kind else "")
        return self.request("GET", f"/v3/push/cid?{query}")["cidlist"]

    def batch(self, by: str, targets: list[str], alert: str, more: dict | None = None) -> list[int]:
        """Sends a notification to each target (by "regid" or "alias"), with more members of the push object; returns
        msg_ids, or codes as negative numbers.
        """
        pushlist = dict(zip(self.cids(len(targets)), batch_entries(targets, alert, more), strict=True))
        answer = self.request("POST", f"/v3/push/batch/{by}/single", {"pushlist": pushlist})
        return batch_results(answer, pushlist)

    def push_to_group(self, audience: Audience, alert: str, sendno: int) -> dict:
        """Sends a notification to all apps of a group, as which this must be logged in."""
        body = {"platform": "all", "audience": audience.json, "notification": {"alert": alert},
                "options": {"sendno": sendno}}  # fmt: skip
        return self.request("POST", "/v3/grouppush", body)

    def device(self, registration_id: str) -> dict:
        return self.request("GET", f"/v3/devices/{registration_id}")

    def update_device(self, registration_id: str, change: dict) -> None:
        self.request("POST", f"/v3/devices/{registration_id}", change)

    def set_mobile(self, registration_id: str, mobile: str) -> None:
        self.request("POST", f"/v3/devices/{registration_id}", {"mobile": mobile})

    def statuses(self, registration_ids: list[str]) -> dict:
        return self.request("POST", "/v3/devices/status", {"registration_ids": registration_ids})

    def devices_of_alias(self, alias: str, platform: str | None = None) -> list[str]:
        path = f"/v3/aliases/{urllib.parse.quote(alias)}" + (f"?platform={platform}" if platform else "")
        return self.request("GET", path)["registration_ids"]

    def delete_alias(self, alias: str, platform: str | None = None) -> None:
        path = f"/v3/aliases/{urllib.parse.quote(alias)}" + (f"?platform={platform}" if platform else "")
        self.request("DELETE", path)

    def tags(self) -> list[str]:
        return self.request("GET", "/v3/tags/")["tags"]

    def update_tag(self, tag: str, change: dict) -> None:
        self.request("POST", f"/v3/tags/{urllib.parse.quote(tag)}", change)

    def delete_tag(self, tag: str, platform: str | None = None) -> None:
        path = f"/v3/tags/{urllib.parse.quote(tag)}" + (f"?platform={platform}" if platform else "")
        self.request("DELETE", path)

    def has_tag(self, tag: str, registration_id: str) -> bool:
        path = f"/v3/tags/{urllib.parse.quote(tag)}/registration_ids/{registration_id}"
        return self.request("GET", path)["result"]

    def post_schedule(self, payload: dict) -> dict:
        return self.request("POST", "/v3/schedules", payload)

    def schedule(self, schedule_id: str) -> dict:
        return self.request("GET", f"/v3/schedules/{schedule_id}")

    def schedules(self, page: int) -> dict:
        return self.request("GET", f"/v3/schedules?page={page}")

    def put_schedule(self, schedule_id: str, change: dict) -> dict:
        return self.request("PUT", f"/v3/schedules/{schedule_id}", change)

    def delete_schedule(self, schedule_id: str) -> None:
        self.request("DELETE", f"/v3/schedules/{schedule_id}")

    def schedule_runs(self, schedule_id: str) -> dict:
        return self.request("GET", f"/v3/schedules/{schedule_id}/msg_ids")


class OfficialAPI(PlainAPI):
    """The same through the package jpush 3.4.1; recall, which it does not have, and the messages of a schedule, of
    which its call is broken, are left to urllib.
    """

    name = "the official jpush client"

    def __init__(self, base: str, app_key: str, master_secret: str):
        super().__init__(base, app_key, master_secret)
        jpush.common.ZONES["LOCAL"] = {
            "PUSH": f"{base}/v3/",
            "DEVICE": f"{base}/v3/devices/",
            "ALIAS": f"{base}/v3/aliases/",
            "TAG": f"{base}/v3/tags/",
            "SCHEDULE": f"{base}/v3/schedules/",
            "REPORT": f"{base}/v3/",
        }
        self._client = jpush.JPush(app_key, master_secret, zone="local")
        logging.getLogger("jpush").setLevel(logging.CRITICAL)  # refusals are part of the test
        self._client.session.trust_env = False  # no proxy between here and the server
        self._device = self._client.create_device()
        self._schedule = self._client.create_schedule()
        self._report = self._client.create_report()

    def push(self, audience: Audience, alert: str) -> int:
        return int(self._payload(self._new_push(audience, alert).send)["msg_id"])

    def _new_push(self, audience: Audience, alert: str) -> Any:
        push = self._client.create_push()
        push.platform = jpush.all_
        push.audience = getattr(jpush.push, audience.kind)(*audience.names) if audience.names else jpush.all_
        push.notification = jpush.notification(alert=alert)
        return push

    def report(self, name: str, *msg_ids: int) -> list[dict]:
        call = getattr(self._report, "get_" + name.replace("/", "_"))
        return self._payload(call, ", ".join(map(str, msg_ids)))

    def status(self, msg_id: int, registration_ids: list[str], date: str | None = None) -> dict:
        return self._payload(self._report.get_status_message, msg_id, registration_ids, date)

    def users(self, unit: str, start: str, duration: int) -> dict:
        return self._payload(self._report.get_users, unit, start, duration)

    def validate(self, audience: Audience, alert: str) -> dict:
        return self._payload(self._new_push(audience, alert).send_validate)

    def cids(self, count: int, kind: str | None = None) -> list[str]:
        arguments = (count, kind) if kind else (count,)
        return self._payload(self._client.create_push().get_cid, *arguments)["cidlist"]

    def batch(self, by: str, targets: list[str], alert: str, more: dict | None = None) -> list[int]:
        push = self._client.create_push()
        send = push.batch_push_by_regid if by == "regid" else push.batch_push_by_alias
        answer = self._payload(send, batch_entries(targets, alert, more))
        return batch_results(answer, answer)

    def push_to_group(self, audience: Audience, alert: str, sendno: int) -> dict:
        group = jpush.GroupPush(self._client.key.removeprefix("group-"), self._client.secret)
        group.zone, group.session.trust_env = "local", False
        push = group.create_push()
        push.platform = jpush.all_
        push.audience = getattr(jpush.push, audience.kind)(*audience.names) if audience.names else jpush.all_
        push.notification = jpush.notification(alert=alert)
        push.options = {"sendno": sendno}
        return self._payload(push.send)

    def device(self, registration_id: str) -> dict:
        return self._payload(self._device.get_deviceinfo, registration_id)

    def update_device(self, registration_id: str, change: dict) -> None:
        self._payload(self._device.set_deviceinfo, registration_id, change)

    def set_mobile(self, registration_id: str, mobile: str) -> None:
        self._payload(self._device.set_devicemobile, registration_id, jpush.device_mobile(mobile))

    def statuses(self, registration_ids: list[str]) -> dict:
        return self._payload(self._device.get_device_status, registration_ids)

    def devices_of_alias(self, alias: str, platform: str | None = None) -> list[str]:
        return self._payload(self._device.get_aliasuser, alias, platform)["registration_ids"]

    def delete_alias(self, alias: str, platform: str | None = None) -> None:
        self._payload(self._device.delete_alias, alias, platform)

    def tags(self) -> list[str]:
        return self._payload(self._device.get_taglist)["tags"]

    def update_tag(self, tag: str, change: dict) -> None:
        self._payload(self._device.update_tagusers, tag, change)

    def delete_tag(self, tag: str, platform: str | None = None) -> None:
        self._payload(self._device.delete_tag, tag, platform)

    def has_tag(self, tag: str, registration_id: str) -> bool:
        return self._payload(self._device.check_taguserexist, tag, registration_id)["result"]

    def post_schedule(self, payload: dict) -> dict:
        return self._payload(self._schedule.post_schedule, payload)

    def schedule(self, schedule_id: str) -> dict:
        return self._payload(self._schedule.get_schedule_by_id, schedule_id)

    def schedules(self, page: int) -> dict:
        return self._payload(self._schedule.get_schedule_list, page)

    def put_schedule(self, schedule_id: str, change: dict) -> dict:
        return self._payload(self._schedule.put_schedule, change, schedule_id)

    def delete_schedule(self, schedule_id: str) -> None:
        self._payload(self._schedule.delete_schedule, schedule_id)

    @staticmethod
    def _payload(call, *arguments) -> Any:
        try:
            return call(*arguments).payload
        except jpush.common.JPushFailure as failure:
            raise Refused(failure.error_code) from None


def connect(base: str, app_key: str, master_secret: str) -> PlainAPI:
    return (OfficialAPI if jpush else PlainAPI)(base, app_key, master_secret)
