"""Makes and deletes apps with JPush's own client for Python, and with urllib where it is not there."""

import argparse
import base64
import json
import pathlib
import subprocess
import tempfile
import urllib.error
import urllib.request

import push_api

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


def run(binary: str, *arguments: str) -> dict:
    return json.loads(subprocess.run([binary, *arguments], check=True, capture_output=True, text=True).stdout)


def expect(condition: bool, what: str) -> None:
    if not condition:
        raise SystemExit(f"failed - {what}")


def is_refused(api: push_api.PlainAPI) -> bool:
    try:
        api.request("GET", "/v3/tags/")
    except push_api.Refused as refusal:
        return refusal.code == 7004
    return False


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    binary = parser.parse_args().binary
    with tempfile.TemporaryDirectory() as folder:
        data = str(pathlib.Path(folder) / "data")
        account = run(binary, "account", "create", "team", "--data", data)
        server = subprocess.Popen(
            [binary, "serve", "--data", data, "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            base = "http://" + json.loads(server.stdout.readline())["http"]
            make = OfficialAdmin if jpush else PlainAdmin
            admin = make(base, account["dev_key"], account["dev_secret"])
            app = admin.create_app("测试", "com.example.app")
            expect(app["is_new_created"] is True, "the app is not new")
            again = admin.create_app("other", "com.example.app")
            expect(again["is_new_created"] is False and again["app_key"] == app["app_key"], "the app is not found")
            api = push_api.connect(base, app["app_key"], app["master_secret"])
            expect(api.request("GET", "/v3/tags/") == {"tags": []}, "the app does not work")
            expect(admin.delete_app(app["app_key"]) == {"success": "Synchronized success"}, "the app is not deleted")
            expect(is_refused(api), "the deleted app works")
            print(f"ok - apps by {'the official jpush client' if jpush else 'urllib'}")
        finally:
            server.terminate()
            server.wait(timeout=30)


if __name__ == "__main__":
    main()
