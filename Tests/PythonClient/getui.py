"""An app server of Getui's REST API v2, written from Getui's public documentation alone: https://docs.getui.com/getui/server/rest_v2/."""

import hashlib
import hmac
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from typing import Any

TOKEN_INVALID, PARAMETER = 10001, 20001


class Refused(Exception):
    """The server answered with a code other than 0; `status` is that of HTTP."""

    def __init__(self, code: int, message: str, status: int):
        super().__init__(f"refused with {code} ({message}), HTTP status {status}")
        self.code, self.message, self.status = code, message, status


def sign(app_key: str, timestamp: int, master_secret: str) -> str:
    """The signature of a request for a token."""
    return hashlib.sha256(f"{app_key}{timestamp}{master_secret}".encode()).hexdigest()


def is_genuine(receipt: dict[str, Any], master_secret: str) -> bool:
    """Whether a receipt is from the server that knows the secret."""
    signed = "".join(receipt[name] for name in ("appid", "cid", "taskid", "msgid")) + master_secret
    return hmac.compare_digest(hashlib.md5(signed.encode()).hexdigest(), receipt["sign"])


def receipts(body: bytes) -> list[dict[str, Any]]:
    """The receipts of one request: a JSON object in each line."""
    return [json.loads(line) for line in body.splitlines() if line]


class Getui:
    """The calls of one app. A token is made when it is needed, and anew when the server knows it no more."""

    def __init__(self, base: str, app_id: str, app_key: str, master_secret: str):
        self._base = f"{base}/v2/{app_id}"
        self._app_key, self._master_secret = app_key, master_secret
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._requests = 0
        self._run = f"{time.time_ns():x}"[-8:]
        self.token = ""
        self.expire_time = 0  # Unix milliseconds

    # Requests

    def request(self, method: str, path: str, body: Any = None, query: dict[str, Any] | None = None) -> Any:
        """Makes a call with the token, with another one if this one has ended, and returns `data`."""
        if not self.token:
            self.authenticate()
        try:
            return self.send(method, path, body, query)
        except Refused as refusal:
            if refusal.code != TOKEN_INVALID:
                raise
        self.authenticate()
        return self.send(method, path, body, query)

    def send(self, method: str, path: str, body: Any = None, query: dict[str, Any] | None = None) -> Any:
        """Makes a call as it is and returns `data`."""
        headers = {"Content-Type": "application/json;charset=utf-8"}
        if self.token:
            headers["token"] = self.token
        url = self._base + urllib.parse.quote(path, safe="/,")
        if query:
            url += "?" + urllib.parse.urlencode(query)
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with self._opener.open(request, timeout=30) as answer:
                status, content = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, content = error.code, error.read()
        document = json.loads(content)
        if document["code"] != 0:
            raise Refused(document["code"], document["msg"], status)
        return document.get("data")

    def request_id(self) -> str:
        """A name for a request that no other has: 10 to 32 characters."""
        self._requests += 1
        return f"request-{self._run}-{self._requests:06d}"

    # Tokens

    def authenticate(self) -> None:
        timestamp = time.time_ns() // 1_000_000
        body = {
            "sign": sign(self._app_key, timestamp, self._master_secret), "timestamp": str(timestamp),
            "appkey": self._app_key,
        }  # fmt: skip
        self.token = ""
        data = self.send("POST", "/auth", body)
        self.token, self.expire_time = data["token"], int(data["expire_time"])

    def end_token(self) -> None:
        """Gives the token back. It stays here: the next call finds out that it has ended."""
        self.send("DELETE", f"/auth/{self.token}")

    # Pushes

    def _body(self, audience: Any, content: dict[str, Any]) -> dict[str, Any]:
        body = {"request_id": self.request_id(), **content}
        return body if audience is None else {**body, "audience": audience}

    def single(self, cid: str, **content: Any) -> dict[str, dict[str, str]]:
        return self.request("POST", "/push/single/cid", self._body({"cid": [cid]}, content))

    def single_alias(self, alias: str, **content: Any) -> dict[str, dict[str, str]]:
        return self.request("POST", "/push/single/alias", self._body({"alias": [alias]}, content))

    def message(self, **content: Any) -> str:
        """Stores a message for lists and returns its task."""
        return self.request("POST", "/push/list/message", self._body(None, content))["taskid"]

    def list_cid(self, task: str, cids: Iterable[str], is_async: bool = False) -> Any:
        body = {"audience": {"cid": list(cids)}, "taskid": task, "is_async": is_async}
        return self.request("POST", "/push/list/cid", body)

    def list_alias(self, task: str, aliases: Iterable[str], detail: bool = False) -> Any:
        body = {
            "audience": {"alias": list(aliases)}, "taskid": task, "is_async": False, "need_alias_detail": detail,
        }  # fmt: skip
        return self.request("POST", "/push/list/alias", body)

    def all(self, **content: Any) -> str:
        return self.request("POST", "/push/all", self._body("all", content))["taskid"]

    def tag(self, conditions: list[dict[str, Any]], **content: Any) -> str:
        return self.request("POST", "/push/tag", self._body({"tag": conditions}, content))["taskid"]

    def fast_custom_tag(self, tag: str, **content: Any) -> str:
        audience = {"fast_custom_tag": tag}
        return self.request("POST", "/push/fast_custom_tag", self._body(audience, content))["taskid"]

    # Tasks

    def stop(self, task: str) -> None:
        self.request("DELETE", f"/task/{task}")

    def task_detail(self, cid: str, task: str) -> Any:
        return self.request("GET", f"/task/detail/{cid}/{task}")

    # Users

    def bind_aliases(self, aliases: Iterable[tuple[str, str]]) -> None:
        """Binds aliases to CIDs: pairs of a CID and an alias."""
        entries = [{"cid": cid, "alias": alias} for cid, alias in aliases]
        self.request("POST", "/user/alias", {"data_list": entries})

    def unbind_aliases(self, aliases: Iterable[tuple[str, str]]) -> None:
        entries = [{"cid": cid, "alias": alias} for cid, alias in aliases]
        self.request("DELETE", "/user/alias", {"data_list": entries})

    def unbind_alias(self, alias: str) -> None:
        self.request("DELETE", f"/user/alias/{alias}")

    def alias(self, cid: str) -> str | None:
        return self.request("GET", f"/user/alias/cid/{cid}").get("alias")

    def cids(self, alias: str) -> list[str]:
        return self.request("GET", f"/user/cid/alias/{alias}")["cid"]

    def set_tags(self, cid: str, *tags: str) -> None:
        self.request("POST", f"/user/custom_tag/cid/{cid}", {"custom_tag": list(tags)})

    def tags(self, cid: str) -> set[str]:
        return {tag for text in self.request("GET", f"/user/custom_tag/cid/{cid}")[cid] for tag in text.split()}

    def add_tag(self, tag: str, *cids: str) -> dict[str, str]:
        return self.request("PUT", f"/user/custom_tag/batch/{tag}", {"cid": list(cids)})

    def remove_tag(self, tag: str, *cids: str) -> dict[str, str]:
        return self.request("DELETE", f"/user/custom_tag/batch/{tag}", {"cid": list(cids)})

    def block(self, *cids: str) -> None:
        self.request("POST", f"/user/black/cid/{','.join(cids)}")

    def unblock(self, *cids: str) -> None:
        self.request("DELETE", f"/user/black/cid/{','.join(cids)}")

    def status(self, *cids: str) -> dict[str, dict[str, str]]:
        return self.request("GET", f"/user/status/{','.join(cids)}")

    def device_status(self, *cids: str) -> dict[str, dict[str, str]]:
        return self.request("GET", f"/user/deviceStatus/{','.join(cids)}")

    def detail(self, *cids: str) -> dict[str, Any]:
        return self.request("GET", f"/user/detail/{','.join(cids)}")

    def set_badge(self, badge: str, *cids: str) -> None:
        self.request("POST", f"/user/badge/cid/{','.join(cids)}", {"badge": badge})

    def bind_tokens(self, kind: str, tokens: Iterable[tuple[str, str]]) -> None:
        """Binds push tokens to CIDs: pairs of a CID and a token."""
        entries = [{"cid": cid, "device_token": token} for cid, token in tokens]
        self.request("POST", f"/user/bind_dt/{kind}", {"dt_list": entries})

    # Reports

    def report(self, *tasks: str, detail: bool = False) -> dict[str, Any]:
        return self.request("GET", f"/report/push/task/{','.join(tasks)}" + ("/detail" if detail else ""))

    def group_report(self, group: str, **dates: str) -> dict[str, Any]:
        return self.request("GET", f"/report/push/task_group/{group}", query=dates)

    def date_report(self, date: str) -> dict[str, Any]:
        return self.request("GET", f"/report/push/date/{date}")

    def quota(self) -> dict[str, Any]:
        return self.request("GET", "/report/push/count")

    def user_report(self, date: str) -> dict[str, Any]:
        return self.request("GET", f"/report/user/date/{date}")

    def online_users(self) -> dict[str, int]:
        return self.request("GET", "/report/online_user")["online_statics"]
