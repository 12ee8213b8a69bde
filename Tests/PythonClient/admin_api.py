"""Makes and deletes apps with JPush's own client for Python, and with urllib where it is not there."""

import asyncio
import base64
import json
import pathlib
import signal
import urllib.error
import urllib.request

import push_api
from stage import Server, expect, expect_equal, main

try:
    import jpush
    import requests
except ImportError:
    jpush = None


class PlainAdmin:
    """The requests that the official client would send, through urllib."""

    def __init__(self, base: str, key: str, secret: str):
        self._base = base
        self._authorization = "Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def _post(self, path: str, body: object) -> dict:
        headers = {"Authorization": self._authorization, "Content-Type": "application/json;charset:utf-8"}
        request = urllib.request.Request(self._base + path, json.dumps(body).encode(), headers, method="POST")
        with self._opener.open(request, timeout=30) as answer:
            return json.loads(answer.read())

    def create_app(self, name: str, package: str) -> dict:
        return self._post("/v1/app", {"app_name": name, "android_package": package})

    def delete_app(self, key: str) -> dict:
        return self._post(f"/v1/app/{key}/delete", {})


class OfficialAdmin(PlainAdmin):
    """The package jpush 3.4.1, whose address for this API is a constant: requests are redirected."""

    def __init__(self, base: str, key: str, secret: str):
        super().__init__(base, key, secret)
        self._admin = jpush.Admin(key, secret)
        self._admin.session.trust_env = False

        class Redirect(requests.adapters.HTTPAdapter):
            def send(self, request, **options):
                request.url = request.url.replace("https://admin.jpush.cn", base, 1)
                return super().send(request, **options)

        self._admin.session.mount("https://admin.jpush.cn", Redirect())

    def create_app(self, name: str, package: str) -> dict:
        return self._admin.create_app(app_name=name, android_package=package).payload

    def delete_app(self, key: str) -> dict:
        return self._admin.delete_app(key).payload


def is_refused(api: push_api.PlainAPI) -> bool:
    try:
        api.request("GET", "/v3/tags/")
    except push_api.Refused as refusal:
        return refusal.code == 7004
    return False


def play_admin(base: str, key: str, secret: str) -> None:
    admin = (OfficialAdmin if jpush else PlainAdmin)(base, key, secret)
    app = admin.create_app("测试", "com.example.app")
    expect(app["is_new_created"] is True, "the app is not new")
    again = admin.create_app("other", "com.example.app")
    expect(again["is_new_created"] is False and again["app_key"] == app["app_key"], "the app is not found")
    api = push_api.connect(base, app["app_key"], app["master_secret"])
    expect_equal(api.request("GET", "/v3/tags/"), {"tags": []}, "what the app answers")
    expect_equal(admin.delete_app(app["app_key"]), {"success": "Synchronized success"}, "deletion")
    expect(is_refused(api), "the deleted app works")


async def play(binary: str, folder: pathlib.Path) -> None:
    server = Server(binary, folder)
    try:
        await server.start()
        account = await server.command("account", "create", "team")
        await asyncio.to_thread(
            play_admin, f"http://{server.http}", account["dev_key"], account["dev_secret"]
        )
        print(f"ok - apps by {'the official jpush client' if jpush else 'urllib'}")
    finally:
        await server.stop(signal.SIGKILL)


if __name__ == "__main__":
    main(__doc__, play)
