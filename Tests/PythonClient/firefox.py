"""A Firefox of its own, without a screen, by Mozilla's protocol for remote control (Marionette): JSON with its length before it."""

import asyncio
import json
import os
import pathlib
import shutil
import signal
from typing import Any

from stage import DEADLINE, Failed

FIREFOX = shutil.which("firefox-esr")
# Nothing but this machine is reached: all else goes to a proxy that does not exist.
PREFERENCES: dict[str, Any] = {
    "alerts.useSystemBackend": False, "app.update.enabled": False, "browser.shell.checkDefaultBrowser": False, "browser.startup.page": 0,
    "browser.startup.homepage_override.mstone": "ignore", "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False, "marionette.port": 0, "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False, "network.proxy.type": 1, "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9, "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "127.0.0.1", "network.proxy.allow_hijacking_localhost": False,
    "permissions.default.desktop-notification": 1, "services.settings.server": "http://127.0.0.1:9",
    "toolkit.telemetry.enabled": False,
}  # fmt: skip


class Firefox:
    """Runs from `start` to `stop`, with a profile in a folder."""

    def __init__(self, folder: pathlib.Path, preferences: dict[str, Any]):
        self._folder = folder
        self._preferences = PREFERENCES | preferences
        self._number = 0
        self._process: asyncio.subprocess.Process
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def start(self) -> "Firefox":
        self._folder.mkdir()
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in self._preferences.items())
        (self._folder / "user.js").write_text("".join(lines))
        self._process = await asyncio.create_subprocess_exec(
            str(FIREFOX), "--headless", "--no-remote", "--marionette", "--profile", str(self._folder), "about:blank",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
            env=os.environ | {"MOZ_DISABLE_CONTENT_SANDBOX": "1", "HOME": str(self._folder)})  # fmt: skip
        port = self._folder / "MarionetteActivePort"
        async with asyncio.timeout(2 * DEADLINE):
            while not (port.exists() and port.read_text()):
                await asyncio.sleep(0.05)
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", int(port.read_text()))
            await self._receive()
            await self._call("WebDriver:NewSession", {})
        return self

    async def go(self, url: str) -> None:
        await self._call("WebDriver:Navigate", {"url": url})

    async def run(self, script: str) -> Any:
        """What the body of a function gives in the page."""
        answer = await self._call("WebDriver:ExecuteScript", {"script": script, "args": [], "newSandbox": False})
        return answer["value"]

    async def until(self, condition: str) -> Any:
        """Waits until an expression is true in the page; gives its value."""
        async with asyncio.timeout(DEADLINE):
            while not (value := await self.run(f"return {condition}")):
                await asyncio.sleep(0.05)
        return value

    async def stop(self) -> None:
        """Ends it and all processes that it has started."""
        os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        self._writer.close()

    async def _call(self, name: str, values: dict[str, Any]) -> Any:
        self._number += 1
        text = json.dumps([0, self._number, name, values])
        self._writer.write(f"{len(text.encode())}:{text}".encode())
        async with asyncio.timeout(DEADLINE):
            _, _, error, result = await self._receive()
        if error:
            raise Failed(f"{name}: {error['message']}")
        return result

    async def _receive(self) -> Any:
        count = int((await self._reader.readuntil(b":"))[:-1])
        return json.loads(await self._reader.readexactly(count))
