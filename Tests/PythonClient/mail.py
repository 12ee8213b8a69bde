"""Proves with a real mail server (aiosmtpd, STARTTLS and a login) what the server writes to people: reminders of a certificate
that is uploaded in the console and ends soon, each once; invitations; links for new passwords; and `borealis mail test`.

    python3 mail.py --binary .build/debug/borealis
"""

import asyncio
import http.cookiejar
import json
import pathlib
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from stage import DEADLINE, Failed, Server, expect, expect_equal, main

PASSWORD = "correct horse battery"
SITE = "https://push.example.com"
BUNDLE = "com.example.northern"


class Visitor:
    """A browser without pictures: keeps cookies, and sends forms with the token of the page before."""

    def __init__(self, address: str):
        self._address = address
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        )
        self._token = ""

    async def open(self, path: str, data: bytes | None = None, kind: str = "") -> tuple[int, str]:
        request = urllib.request.Request(f"http://{self._address}{path}", data)
        if kind:
            request.add_header("Content-Type", kind)
        return await asyncio.to_thread(self._send, request)

    def _send(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self._opener.open(request, timeout=DEADLINE) as answer:
                status, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            status, text = refusal.code, refusal.read().decode()
        if found := re.search(r'<meta name="form-token" content="(\w+)">', text):
            self._token = found[1]
        return status, text

    async def submit(self, path: str, **fields: str) -> tuple[int, str]:
        body = urllib.parse.urlencode({**fields, "form_token": self._token}).encode()
        return await self.open(path, body, "application/x-www-form-urlencoded")

    async def upload(self, path: str, field: str, file: pathlib.Path, **fields: str) -> tuple[int, str]:
        edge = "----edge"
        body = b""
        for name, value in {**fields, "form_token": self._token}.items():
            body += f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        body += (
            f'--{edge}\r\nContent-Disposition: form-data; name="{field}"; filename="{file.name}"\r\n'
            "Content-Type: application/x-pkcs12\r\n\r\n"
        ).encode() + file.read_bytes()
        return await self.open(
            path, body + f"\r\n--{edge}--\r\n".encode(), f"multipart/form-data; boundary={edge}"
        )


class Post:
    """The mail server, a process of its own."""

    def __init__(self, folder: pathlib.Path):
        self.certificate = folder / "mail.pem"
        self._key = folder / "mail-key.pem"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-keyout", str(self._key), "-out", str(self.certificate), "-subj", "/CN=localhost",
                "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")  # fmt: skip
        self.port = 0
        self.mails: list[dict[str, Any]] = []
        self._process: asyncio.subprocess.Process | None = None
        self._news = asyncio.Event()

    async def start(self, *refusals: str) -> "Post":
        script = pathlib.Path(__file__).with_name("smtp_server.py")
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, str(script), "--certificate", str(self.certificate), "--key", str(self._key),
            "--user", "push", "--password", "open sesame", "--port", str(self.port),
            *(text for refusal in refusals for text in ("--refuse", refusal)),
            # Whoever does not trust the certificate makes it complain.
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL)  # fmt: skip
        assert self._process.stdout, "the output was asked for"
        async with asyncio.timeout(DEADLINE):
            self.port = json.loads(await self._process.stdout.readline())["port"]
        self._reader = asyncio.create_task(self._read(self._process.stdout))
        return self

    async def _read(self, output: asyncio.StreamReader) -> None:
        while line := await output.readline():
            self.mails.append(json.loads(line))
            self._news.set()

    async def until(self, count: int, what: str) -> list[dict[str, Any]]:
        try:
            async with asyncio.timeout(2 * DEADLINE):
                while len(self.mails) < count:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise Failed(f"no mail: {what}; there are {self.mails}") from None
        return self.mails

    async def stop(self) -> None:
        if self._process and self._process.returncode is None:
            # A test may have started us with all signals blocked that can be.
            self._process.kill()
            await self._process.wait()


def openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def push_certificate(folder: pathlib.Path, days: int) -> pathlib.Path:
    """A certificate as Apple issues them for the sandbox, with its key, as Keychain exports it."""
    pem, key, file = folder / f"push{days}.pem", folder / f"push{days}-key.pem", folder / f"push{days}.p12"
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", str(days), "-keyout", str(key),
            "-out", str(pem), "-subj", f"/UID={BUNDLE}/CN=Apple Sandbox Push Services: {BUNDLE}/OU=T5Z8W1R6PD",
            "-addext", "1.2.840.113635.100.6.3.1=ASN1:NULL")  # fmt: skip
    openssl("pkcs12", "-export", "-in", str(pem), "-inkey", str(key), "-out", str(file), "-passout", "pass:x")
    return file


def settings(post: Post, folder: pathlib.Path, password: str = "open sesame") -> tuple[str, ...]:
    file = folder / "smtp-password"
    file.write_text(password + "\n")
    return ("--smtp-url", f"smtp://localhost:{post.port}", "--smtp-from", "Borealis, Inc. <push@example.com>",
            "--smtp-user", "push", "--smtp-password-file", str(file), "--smtp-ca", str(post.certificate),
            "--public-url", SITE)  # fmt: skip


async def set_up(server: Server, visitor: Visitor) -> None:
    path = urllib.parse.urlparse(await server.setup_link()).path
    status, _ = await visitor.submit(path, name="Zoe", email="zoe@example.com", password=PASSWORD)
    expect_equal(status, 200, "setting up")


async def reminders(
    server: Server, visitor: Visitor, post: Post, key: str, folder: pathlib.Path, data: pathlib.Path
) -> None:
    """No command made a secret key before: the server does it with the first upload."""
    expect(not (data / "secret-key").exists(), "there is a secret key already")
    path = f"/console/apps/{key}/settings/credentials/apns"
    await visitor.open(path)
    status, page = await visitor.upload(f"{path}/certificate", "certificate", push_certificate(folder, 23),
                                        **{"file-password": "x"})  # fmt: skip
    expect_equal(status, 200, "the upload")
    expect(f"This certificate is for {BUNDLE}, sandbox, and expires in 23 days." in page, page)
    expect_equal((data / "secret-key").stat().st_mode & 0o777, 0o600, "mode of the secret key")
    # The mail server does not want us at first, for good as it says: that loses nothing.
    mails = await post.until(2, "a reminder")
    expect_equal(mails[0], {"refused": "greeting"}, "the first attempt")
    mail = mails[1]
    expect_equal(mail["to"], ["zoe@example.com"], "whom the reminder is for")
    expect(mail["tls"], "the mail came without TLS")
    expect("sandbox APNs certificate expires in 23 days" in mail["subject"], str(mail))
    expect(f"{SITE}{path}" in mail["body"] and "Hello Zoe" in mail["body"], str(mail))
    expect_equal(mail["from"], "push@example.com", "whom the mail is from")
    # The server has the mail before our side has its answer.
    async with asyncio.timeout(DEADLINE):
        while not re.search(r"borealis_mail_sent_total 1\b", metrics := (await visitor.open("/metrics"))[1]):
            await asyncio.sleep(0.05)
    found = re.search(rf'expiry_seconds\{{app="{key}",kind="certificate",environment="sandbox"\}} (\S+)', metrics)
    expect(found and 22 < float(found[1]) / 86_400 < 23, "the metric of the days that are left")
    expect_equal(mail["header_from"], '"Borealis, Inc." <push@example.com>', "whom the mail says it is from")
    expect_equal(mail["name"], "example.com", "the name in EHLO")
    print("ok - a reminder of a certificate, through a server that refuses us at first")
    # A restart repeats nothing.
    await server.stop(signal.SIGTERM)
    await server.start()
    await visitor.submit("/console/login", email="zoe@example.com", password=PASSWORD)
    await visitor.open(path)
    # What is close to its end is told of anew only if it is another certificate.
    status, _ = await visitor.upload(f"{path}/certificate", "certificate", push_certificate(folder, 5),
                                     **{"file-password": "x"})  # fmt: skip
    expect_equal(status, 200, "the second upload")
    mails = await post.until(3, "a reminder of the second certificate")
    expect("expires in 5 days" in mails[2]["subject"], str(mails[2]))
    expect(mails[2]["id"] != mails[1]["id"], "two mails with one ID")
    print("ok - a reminder of another certificate, after a restart, and none twice")


async def invitations(server: Server, visitor: Visitor, post: Post) -> None:
    before = len(post.mails)
    await visitor.open("/console/accounts/1/people")
    _, page = await visitor.submit("/console/accounts/1/people/invite", email="ben@example.com", role="admin")
    expect("Email queued" in page or "Accepted by the mail server" in page, page)
    mail = (await post.until(before + 1, "an invitation"))[before]
    link = re.search(rf"{SITE}(/console/invitations/\S+)", mail["body"])
    expect(link and "Zoe invites you" in mail["body"], str(mail))
    ben = Visitor(server.http)
    status, page = await ben.submit(link[1], name="Ben", email="ben@example.com", password=PASSWORD)  # type: ignore[index]
    expect(status == 200 and "<h1>Apps</h1>" in page, "the invitation lets nobody in")
    outsider = Visitor(server.http)
    expect("/console/reset" in (await outsider.open("/console/login"))[1], "no way to a new password")
    await outsider.submit("/console/reset", email="ben@example.com")
    mail = (await post.until(before + 2, "a link for a new password"))[before + 1]
    link = re.search(rf"{SITE}(/console/reset/\w+)", mail["body"])
    expect(link, str(mail))
    status, _ = await outsider.submit(link[1], password="a new long password")  # type: ignore[index]
    expect_equal(status, 200, "the new password")
    status, _ = await outsider.submit("/console/login", email="ben@example.com", password="a new long password")
    expect_equal(status, 200, "the login with the new password")
    expect_equal((await ben.open("/console/me"))[1].count("Ben"), 0, "the session before is over")
    print("ok - an invitation and a new password by mail")


async def command(binary: str, *arguments: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        binary, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode()


async def trying(binary: str, post: Post, folder: pathlib.Path) -> None:
    before = len(post.mails)
    good = settings(post, folder)
    status, output = await command(binary, "mail", "test", "me@example.com", *good)
    expect(status == 0 and json.loads(output)["sent"] == "me@example.com", output)
    expect_equal((await post.until(before + 1, "the test"))[before]["to"], ["me@example.com"], "the test's address")
    status, output = await command(binary, "mail", "test", "gone@example.com", *good)
    expect(status == 1 and "550 5.1.1 no such person" in output, output)
    status, output = await command(
        binary, "mail", "test", "me@example.com", *settings(post, folder, "wrong"))
    expect(status == 1 and "denied" in output.lower(), output)
    without = tuple(text for text in good if text not in ("--smtp-ca", str(post.certificate)))
    settings(post, folder)
    status, output = await command(binary, "mail", "test", "me@example.com", *without)
    expect(status == 1 and "certificate" in output, output)
    print("ok - borealis mail test says what the mail server says")


async def scenario(binary: str, folder: pathlib.Path) -> None:
    post = await Post(folder).start("greeting=554 5.7.1 no service for you")
    server = Server(binary, folder, settings(post, folder))
    try:
        await server.start()
        visitor = Visitor(server.http)
        await set_up(server, visitor)
        key, _ = await server.create_app("Northern Lights")
        await reminders(server, visitor, post, key, folder, folder / "data")
        await invitations(server, visitor, post)
        await trying(binary, post, folder)
    except Exception:
        print(server.log(), file=sys.stderr)
        raise
    finally:
        await server.stop(signal.SIGTERM)
        await post.stop()


if __name__ == "__main__":
    main("Proves what a built server writes to people.", scenario)
