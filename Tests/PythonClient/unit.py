"""Proves that the server can do all of its work under the system calls that docker/borealis.service allows it.

    python3 unit.py --binary .build/debug/borealis

Everything runs under that filter, which kills for any other call: a start, devices over TLS, pushes, callbacks to a name,
mail, Apple, reading the certificate again, commands beside the server, backup, and the end.
"""

import asyncio
import json
import pathlib
import shlex
import signal
import ssl
import sys
from typing import Any

import push_api
from callbacks import DELIVERED, Receiver
from stage import DEADLINE, Failed, Phone, Server, expect, expect_equal, main

HERE = pathlib.Path(__file__).resolve().parent
UNIT = HERE.parent.parent / "docker" / "borealis.service"
PHONE = "0123456789abcdef012"


def confined(binary: str, folder: pathlib.Path) -> str:
    """A program that is the other one under the unit's filter."""
    program = folder / "confined"
    command = shlex.join([sys.executable, str(HERE / "unit_filter.py"), str(UNIT), binary])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    program.chmod(0o755)
    return str(program)


async def start_simulator(program: str, folder: pathlib.Path) -> tuple[asyncio.subprocess.Process, dict[str, str]]:
    """Apple, which prints a line for each notification."""
    with (folder / "apns.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            program + "-dev", "apns-simulator", "--listen", "127.0.0.1:0", "--data", str(folder / "apns"),
            stdout=asyncio.subprocess.PIPE, stderr=log)  # fmt: skip
    assert process.stdout, "the output was asked for"
    line = await process.stdout.readline()
    expect(line, "the simulator ended at its start")
    return process, json.loads(line)


async def log_says(server: Server, text: str) -> None:
    async with asyncio.timeout(DEADLINE):
        while text not in server.log():
            await asyncio.sleep(0.05)


class Mailbox:
    """A mail server that takes nothing: it is enough that the server comes and talks."""

    def __init__(self) -> None:
        self.was_greeted = asyncio.Event()

    async def open(self) -> str:
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        return f"localhost:{self._server.sockets[0].getsockname()[1]}"

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        while line := await reader.readline():
            self.was_greeted.set()
            writer.write(b"221 bye\r\n" if line.startswith(b"QUIT") else b"554 no\r\n")
        writer.close()


async def use(server: Server, folder: pathlib.Path, apple: Any, apns: dict[str, str], mailbox: Mailbox) -> None:
    key, secret = await server.create_app("unit")
    await server.command("app", "channel", "set", key, "apns", "--p8", apns["key"], "--team-id", apns["team_id"],
                         "--topic", apns["topic"])  # fmt: skip
    await server.start()
    api = push_api.PlainAPI(f"http://{server.http}", key, secret)

    async def call(method: str, path: str, body: Any = None) -> Any:
        return await asyncio.to_thread(api.request, method, path, body)

    async def push(audience: Any, alert: str) -> str:
        body = {"platform": "all", "audience": audience, "notification": {"alert": alert}}
        return (await call("POST", "/v3/push", body))["msg_id"]

    # A name, so that the system's resolver has to be asked.
    receiver = Receiver()
    port = receiver.url.split(":")[2].split("/")[0]
    await call("PUT", "/v1/callback", {"url": f"http://localhost:{port}/", "types": DELIVERED})
    tls = ssl.create_default_context(cafile=server.certificate)
    phone = await Phone("phone", server.tls, key, folder / "phone.json", tls).start()
    plain = await Phone("plain", server.plain, key, folder / "plain.json").start()
    await push("all", "hello")
    for one in (phone, plain):
        await one.shows("hello")
    await receiver.until(lambda: len(receiver.events) == 2, "both deliveries to be told")
    receiver.close()

    # Apple, for a device that was imported while the server runs.
    devices = folder / "devices.csv"
    devices.write_text(f"registration_id,platform,apns_token\n{PHONE},ios,{'0badcafe' * 8}\n")
    await server.command("import", str(devices), "--app", key)
    msg_id = ""
    async with asyncio.timeout(DEADLINE):
        while not msg_id:
            try:
                msg_id = await push({"registration_id": [PHONE]}, "to Apple")
            except push_api.Refused:
                await asyncio.sleep(0.1)  # The server has not learned of it.
        while msg_id not in (await apple.stdout.readline()).decode():
            pass

    await server.command("mail", "test", "--smtp-url", f"smtp://{await mailbox.open()}", "--smtp-from",
                         "push@example.com", "--public-url", "http://localhost", "zoe@example.com", status=1)  # fmt: skip
    expect(mailbox.was_greeted.is_set(), "the mail server was not asked")
    server.send(signal.SIGHUP)
    await log_says(server, "TLS certificate reloaded")
    await server.command("backup", str(folder / "copy.sqlite"))
    expect_equal((await server.command("check"))["problems"], [], "problems")
    await push("all", "the end is near")
    await phone.shows("hello", "the end is near")
    expect("addresses cannot be listed" not in server.log(), "the guard of callbacks does not know this machine's addresses")
    for one in (phone, plain):
        await one.stop()
    expect_equal(await server.stop(signal.SIGTERM), 0, "exit status")


async def play(binary: str, folder: pathlib.Path) -> None:
    program = confined(binary, folder)
    apple, apns = await start_simulator(binary, folder)
    server = Server(program, folder, ("--apns-production", apns["apns"], "--apns-ca", apns["ca"], "--callback-networks",
                                      "127.0.0.0/8,::1/128", "--time-zone", "Europe/Berlin"), http_tls="127.0.0.1:0")  # fmt: skip
    try:
        await use(server, folder, apple, apns, Mailbox())
        apple.send_signal(signal.SIGTERM)
        expect_equal(await apple.wait(), 0, "the simulator's exit status")
        print("ok - the server works under the unit's filter")
    except Failed:
        print(server.log()[-4000:], file=sys.stderr)
        raise
    finally:
        await server.stop(signal.SIGKILL)
        if apple.returncode is None:
            apple.kill()


if __name__ == "__main__":
    main(__doc__, play)
