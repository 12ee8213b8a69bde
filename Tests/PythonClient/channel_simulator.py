"""Vendors' services on this machine: `borealis-dev channel-simulator`, as scenarios play with it."""

import asyncio
import json
import pathlib
import signal
import urllib.request
from typing import Any

from stage import DEADLINE


class Simulator:
    """FCM and Google's token service on this machine."""

    async def start(self, binary: str, folder: pathlib.Path) -> "Simulator":
        command = [binary + "-dev", "channel-simulator", "--listen", "127.0.0.1:0", "--data", str(folder), "--quiet"]
        self._process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        assert self._process.stdout, "the output was asked for"
        async with asyncio.timeout(DEADLINE):
            ready = json.loads(await self._process.stdout.readline())
        self.url, (self.key,) = ready["url"], ready["service_accounts"]
        return self

    async def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        await self._process.wait()

    def entries(self) -> list[dict[str, Any]]:
        """The requests that came."""
        with urllib.request.urlopen(f"{self.url}/control/log", timeout=DEADLINE) as answer:
            return json.load(answer)["entries"]

    def messages(self) -> list[dict[str, Any]]:
        """The messages that came for FCM, without questions about credentials."""
        requests = [entry["request"] for entry in self.entries() if entry["kind"] == "send"]
        return [request["message"] for request in requests if not request.get("validate_only")]

    def order(self, path: str, body: Any) -> Any:
        data = json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/control/{path}", data, method="POST")
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            return json.load(answer)
