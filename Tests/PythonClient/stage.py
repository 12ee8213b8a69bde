"""What the scenarios play with: a server, phones that wait with a deadline, and the way to run them all."""

import argparse
import asyncio
import contextlib
import json
import pathlib
import random
import re
import signal
import socket
import sqlite3
import ssl
import sys
import tempfile
import traceback
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from borealis_device import Device, Ending, Push

DEADLINE = 30  # seconds for anything that has to happen; it takes a small part of that
LOCAL = "127.0.0.1:0"


class Failed(Exception):
    """What the page or JPush's documentation promises did not happen."""


def expect(condition: Any, message: str) -> None:
    if not condition:
        raise Failed(message)


def expect_equal(found: Any, expected: Any, what: str) -> None:
    expect(found == expected, f"{what}: expected {expected!r}, found {found!r}")


def main(what: str, play: Callable[[str, pathlib.Path], Coroutine[Any, Any, None]]) -> None:
    """Runs scenarios on the program that --binary names, in a folder of their own; exits with 1 if one fails."""
    # Whoever waits for what is printed sees it as it comes.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--binary", required=True, help="the built program")
    binary = str(pathlib.Path(parser.parse_args().binary).resolve())
    with tempfile.TemporaryDirectory(prefix="borealis-") as folder:
        try:
            asyncio.run(play(binary, pathlib.Path(folder)))
        except (Failed, OSError) as failure:
            sys.exit(f"FAILED {told(failure)}")


def told(failure: BaseException) -> str:
    """A failure's text; of one without a text, such as the end of a wait, where it came up."""
    if str(failure):
        return str(failure)
    here = pathlib.Path(__file__).parent
    places = [f"{pathlib.Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(failure.__traceback__)
              if pathlib.Path(frame.filename).parent == here]  # fmt: skip
    return f"{failure!r} at {' < '.join(reversed(places))}"


async def answer(page: Any, name: str) -> None:
    """Clicks what asks before it acts, and then its button."""
    await page.locator("summary", has_text=name).first.click()
    await page.get_by_role("button", name=name).click()


async def play_each(server: "Server", scenarios: Iterable[Callable[[Any], Coroutine[Any, Any, None]]],
                    open_scene: Callable[[str], Coroutine[Any, Any, Any]]) -> None:  # fmt: skip
    """Plays scenarios one after the other on a server that runs for them, each on a scene of its own; the first that
    fails ends it, and prints the end of the server's log."""
    try:
        await server.start()
        for scenario in scenarios:
            scene = await open_scene(scenario.__name__)
            try:
                await scenario(scene)
            except Exception as error:
                reason = error if isinstance(error, Failed) else repr(error)
                raise Failed(f"{scenario.__name__}: {reason}") from error
            finally:
                await scene.end()
            print(f"ok - {scenario.__doc__}")
    except Failed:
        print(server.log()[-4000:], file=sys.stderr)
        raise
    finally:
        await server.stop(signal.SIGKILL)


def fixed_address() -> str:
    """A free address that a server may leave and take again: its port is outside of the range from which the kernel gives ports
    to whoever asks for any."""
    while True:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", random.randrange(25_000, 32_000)))
            except OSError:
                continue
            return "{}:{}".format(*probe.getsockname())


class Server:
    """The program under test with a folder of its own, each time on the same ports."""

    def __init__(self, binary: str, folder: pathlib.Path, arguments: tuple[str, ...] = (),
                 http_tls: str = ""):  # fmt: skip
        self.http_tls = http_tls
        self._arguments = arguments
        self._binary, self._data, self._log = binary, str(folder / "data"), folder / "server.log"
        self._process: asyncio.subprocess.Process | None = None
        self.http, self.plain, self.tls = fixed_address(), fixed_address(), fixed_address()
        self.certificate = ""

    def add(self, *arguments: str) -> None:
        """Adds settings for the next start."""
        self._arguments += arguments

    async def create_app(self, name: str) -> tuple[str, str]:
        """Makes an app and returns its key and its master secret."""
        # Before its first start a server has no database.
        await self.command("init")
        app = await self.command("app", "create", name)
        return app["app_key"], app["master_secret"]

    async def command(self, *arguments: str, status: int = 0) -> Any:
        """Runs a command on the server's data and returns what it prints, read as JSON."""
        command = [self._binary, *arguments, "--data", self._data]
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        output, _ = await process.communicate()
        expect_equal(process.returncode, status, f"exit status of {arguments}")
        return json.loads(output) if output.strip() else None

    async def create_group(self, name: str, *app_keys: str) -> tuple[str, str]:
        """Makes a group of apps and returns its key and its master secret."""
        group = await self.command("group", "create", name, "--app", ",".join(app_keys))
        return group["group_key"], group["group_master_secret"]

    async def start(self) -> None:
        """Starts the program, each time on the same ports, where the devices expect it."""
        command = [self._binary, "serve", "--data", self._data, "--http", self.http,
                   "--device-plain", self.plain, "--device", self.tls, *self._arguments]  # fmt: skip
        if self.http_tls:
            command += ["--http-tls", self.http_tls]
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command, stdout=asyncio.subprocess.PIPE, stderr=log
            )
        assert self._process.stdout, "the output was asked for"
        async with asyncio.timeout(DEADLINE):
            line = await self._process.stdout.readline()
        expect(line, "the server ended at its start")
        ready = json.loads(line)
        self.http_tls = ready.get("http_tls", "")
        self.certificate = ready["certificate"]

    async def setup_link(self) -> str:
        """The link with which the first person comes to the console."""
        async with asyncio.timeout(DEADLINE):
            while not (found := re.search(r"https?://\S+/console/setup/\w+", self.log())):
                await asyncio.sleep(0.05)
        return found[0]

    @property
    def pid(self) -> int:
        assert self._process, "the program runs"
        return self._process.pid

    def send(self, which: signal.Signals) -> None:
        assert self._process, "the program runs"
        self._process.send_signal(which)

    async def stop(self, how: signal.Signals) -> int | None:
        """Sends a signal and returns the exit status, None if the program has never run."""
        if self._process is None:
            return None
        if self._process.returncode is None:
            self._process.send_signal(how)
        async with asyncio.timeout(DEADLINE):
            return await self._process.wait()

    async def stores_receipt(self, msg_id: int) -> None:
        """Waits until the database knows of a receipt."""
        try:
            async with asyncio.timeout(DEADLINE):
                while not any(self.receipts(msg_id) or ()):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise Failed(f"no receipt of {msg_id} is stored after {DEADLINE} s") from None

    def delivered(self, app_key: str) -> set[str]:
        """The pushes of an app, each to one device, that the database calls delivered."""
        with contextlib.closing(
            sqlite3.connect(f"file:{self._data}/borealis.sqlite?mode=ro", uri=True)
        ) as database:
            query = """SELECT outcome.msg_id FROM outcome JOIN push ON push.msg_id = outcome.msg_id
                JOIN app ON app.id = push.app_id WHERE outcome.status = 1 AND app.app_key = ?"""
            return {str(row[0]) for row in database.execute(query, (app_key,))}

    def receipts(self, msg_id: int) -> tuple[bool, bool] | None:
        """Whether the database says that a push was shown, and tapped; None if it knows of no receipt."""
        with contextlib.closing(
            sqlite3.connect(f"file:{self._data}/borealis.sqlite?mode=ro", uri=True)
        ) as database:
            query = "SELECT shown_at IS NOT NULL, tapped_at IS NOT NULL FROM outcome WHERE msg_id = ?"
            row = database.execute(query, (msg_id,)).fetchone()
        return (bool(row[0]), bool(row[1])) if row else None

    def log(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""


class FragileDevice(Device):
    """A device that may lose its connection just when it acknowledges, and may fail to show a push."""

    loses_next_ack = False

    def _send(self, name: str, **fields: Any) -> None:
        if name in ("ACK", "ACK_AGE") and self.loses_next_ack:
            self.loses_next_ack = False
            raise ConnectionResetError("lost before the ACK")
        super()._send(name, **fields)


class Phone:
    """An install of the app: keeps its state file over restarts, and notes what it has shown and heard."""

    def __init__(self, name: str, address: str, app_key: str, state_file: pathlib.Path,
                 tls: ssl.SSLContext | None = None, platform: int = 2):  # fmt: skip
        self.name, self._address, self._app_key, self._tls = name, address, app_key, tls
        self._platform = platform
        self.state_file = state_file
        self.pushes: list[Push] = []
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.fails_to_show: set[str] = set()
        self._news = asyncio.Event()
        self._running: asyncio.Task[Ending] | None = None
        self.device: FragileDevice

    @property
    def shown(self) -> list[Any]:
        return [alert(push) for push in self.pushes]

    def heard(self, name: str) -> list[dict[str, Any]]:
        return [details for event, details in self.events if event == name]

    async def start(self) -> "Phone":
        online = len(self.heard("online"))
        self.connect()
        await self.until(lambda: len(self.heard("online")) > online, "to be online")
        return self

    def connect(self) -> None:
        self.device = FragileDevice(self._address, self._app_key, str(self.state_file), tls=self._tls, platform=self._platform,
                                    on_push=self._on_push, on_event=self._on_event)  # fmt: skip
        self._running = asyncio.create_task(self.device.run())

    async def stop(self) -> None:
        """Ends the process of this phone, as far as the server can tell."""
        if self._running:
            self._running.cancel()
            await asyncio.wait([self._running])
            self._running = None

    async def ending(self) -> Ending:
        """Why this phone gave up for good."""
        assert self._running, "only a phone that runs can end"
        async with asyncio.timeout(DEADLINE):
            return await self._running

    async def until(self, condition: Callable[[], Any], what: str) -> None:
        try:
            async with asyncio.timeout(DEADLINE):
                while not condition():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise Failed(f"{self.name} waited {DEADLINE} s for {what}; {self._history()}") from None

    async def shows(self, *alerts: str) -> None:
        """Waits for as many pushes as are named; what it has shown must be these, in this order."""
        await self.until(lambda: len(self.pushes) >= len(alerts), f"the pushes {alerts}")
        expect_equal(self.shown, list(alerts), f"pushes shown by {self.name}")

    def _history(self) -> str:
        return f"it has shown {self.shown} and heard {self.events}"

    def _on_push(self, push: Push) -> None:
        if self.fails_to_show and alert(push) in self.fails_to_show:
            self.fails_to_show.remove(alert(push))
            raise RuntimeError("no room on the screen")
        self.pushes.append(push)
        self._news.set()

    def _on_event(self, name: str, **details: Any) -> None:
        self.events.append((name, details))
        self._news.set()


def alert(push: Push) -> Any:
    """What the notification of a push says; None without one."""
    return push.content.get("notification", {}).get("alert")
