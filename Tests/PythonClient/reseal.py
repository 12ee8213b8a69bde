"""Replaces the secret key of a server where somebody logs in with one-time passwords (RFC 6238)."""

import asyncio
import base64
import hmac
import pathlib
import re
import signal
import struct
import time
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar

from stage import DEADLINE, Server, expect, main

PASSWORD = "correct horse battery"
NEW_KEY = "borealis-secret-key-1 " + "5a" * 32 + "\n"


def code(secret: bytes, step: int) -> str:
    digest = hmac.digest(secret, struct.pack(">Q", step), "sha1")
    start = digest[-1] & 15
    number = struct.unpack(">I", digest[start : start + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


class Browser:
    """Keeps cookies and sends forms, without a window."""

    def __init__(self, base: str):
        self._base = base
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
        )

    def ask(self, path: str, **fields: str) -> str:
        body = urllib.parse.urlencode(fields).encode() if fields else None
        try:
            with self._opener.open(self._base + path, body, timeout=DEADLINE) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.read().decode()

    @staticmethod
    def hidden(name: str, page: str) -> str:
        found = re.search(rf'name="{name}" (?:value|content)="(\w+)"', page)
        expect(found, f"no {name} in {page}")
        return found[1]


def turn_on(base: str, link: str) -> tuple[bytes, str]:
    """Makes the first person and turns one-time passwords on; returns the secret and a recovery code."""
    browser = Browser(base)
    browser.ask(
        urllib.parse.urlparse(link).path, name="Zoe", email="zoe@example.com", password=PASSWORD
    )
    token = browser.hidden("form-token", browser.ask("/console/me"))
    page = browser.ask("/console/me/totp/new", form_token=token)
    secret = base64.b32decode(re.search(r"secret=(\w+)", page)[1])
    while time.time() % 30 > 27:
        time.sleep(0.5)  # The code must not end on its way.
    # The step before, so that the present one is left for logging in.
    page = browser.ask(
        "/console/me/totp", form_token=token, secret=browser.hidden("secret", page), password=PASSWORD,
        code=code(secret, int(time.time()) // 30 - 1))  # fmt: skip
    codes = re.search(r'class="codes"><code>([^<]+)', page)
    expect(codes, "one-time passwords are off")
    return secret, codes[1].split()[0]


def log_in(base: str, proof: str) -> str:
    browser = Browser(base)
    login = {"email": "zoe@example.com", "password": PASSWORD}
    return browser.ask("/console/login", **login, code=proof)


async def play(binary: str, folder: pathlib.Path) -> None:
    server = Server(binary, folder)
    try:
        await server.start()
        link = await server.setup_link()
        secret, recovery = await asyncio.to_thread(turn_on, f"http://{server.http}", link)
        file = folder / "data" / "secret-key"
        file.write_text(NEW_KEY + file.read_text())
        resealed = await server.command("reseal")
        expect(resealed["resealed"] == 1, f"resealed: {resealed}")
        file.write_text(NEW_KEY)
        for proof in (code(secret, int(time.time()) // 30), recovery):
            page = await asyncio.to_thread(log_in, f"http://{server.http}", proof)
            expect("/console/logout" in page, f"not logged in with the new key alone: {page}")
        print("ok - one-time passwords and recovery codes outlive the secret key that sealed them")
    finally:
        await server.stop(signal.SIGKILL)


if __name__ == "__main__":
    main(__doc__, play)
