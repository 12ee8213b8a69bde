"""Runs the examples of the API reference, as the pages under /docs show them, against a built server.

    python3 docs_examples.py --binary .build/debug/borealis

The example in curl of every call is run, and answered with a status that the page names. Those of some calls are run in each
language that this machine has (Python always, Java in the tests of the project), and must all be answered with 200.
"""

import asyncio
import html
import os
import pathlib
import re
import shutil
import signal
import sys
import urllib.request

from stage import Failed, Phone, Server, expect, expect_equal, main

REFERENCE = "/docs/api/reference"
# The command that runs a file, and the file's name.
LANGUAGES = {
    "Python": ([sys.executable], "example.py"),
    "Java": (["java", "-XX:TieredStopAtLevel=1"], "Example.java"),
    "PHP": (["php"], "example.php"),
    "Node.js": (["node"], "example.mjs"),
}
# Calls that work with the devices of this test: with a body and without one, with other logins, and to any path.
EVERYWHERE = ["push", "showDevice", "updateDevice", "listTags", "pushToGroup", "setCaps", "health"]
# What ends the login of the other calls.
LEFT_OUT = {"getuiEndToken"}
# Samples of the page.
DEVICE = "13bde2f39c72bf17364"
LIMIT = 60  # seconds for an example; it takes a small part of that


class Page:
    """A call of the reference: its examples by language, and the statuses that it may answer with."""

    def __init__(self, text: str):
        found = re.findall(r"<details name=\"example\".*?<summary>(.*?)</summary>.*?<code[^>]*>(.*?)</code>", text, re.DOTALL)
        self.examples = {html.unescape(name): html.unescape(code) for name, code in found}
        self.statuses = set(re.findall(r"<summary>(\d{3})</summary>", text))


class Reader:
    """Somebody who reads the pages of a server and tries their examples on it."""

    def __init__(self, server: Server, folder: pathlib.Path):
        self._base, self._folder = f"http://{server.http}", folder
        self.environment = {"PATH": os.environ["PATH"], "NO_PROXY": "*", "BOREALIS_URL": self._base, "HOME": str(folder)}
        self.values: dict[str, str] = {}

    def read(self, path: str) -> str:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(self._base + path, timeout=LIMIT) as answer:
            text: str = answer.read().decode()
        return text

    def calls(self) -> list[str]:
        return re.findall(rf'href="{REFERENCE}/(\w+)"', self.read(REFERENCE))

    def page(self, call: str) -> Page:
        return Page(self.read(f"{REFERENCE}/{call}"))

    async def run(self, *command: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *command, env=self.environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        async with asyncio.timeout(LIMIT):
            output, _ = await process.communicate()
        expect_equal(process.returncode, 0, f"exit status of {command}; it printed {output.decode()}")
        return output.decode()

    def adapted(self, example: str) -> str:
        """The example with the values of this server in the place of samples."""
        for sample, value in self.values.items():
            example = example.replace(sample, value)
        return example

    async def status_of_curl(self, example: str) -> str:
        command = self.adapted(example).replace("curl ", "curl -sS -o /dev/null -w '%{http_code}' ", 1)
        return await self.run("sh", "-c", command)

    async def status_of(self, language: str, example: str) -> str:
        command, name = LANGUAGES[language]
        path = self._folder / name
        path.write_text(self.adapted(example))
        return (await self.run(*command, str(path))).split(" ", 1)[0]


async def try_everywhere(reader: Reader) -> list[str]:
    """Runs examples in each language; returns the languages."""
    here = [name for name, (command, _) in LANGUAGES.items() if shutil.which(command[0])]
    for call in EVERYWHERE:
        page = reader.page(call)
        expect_equal(await reader.status_of_curl(page.examples["curl"]), "200", f"{call} in curl")
        for language in here:
            expect_equal(await reader.status_of(language, page.examples[language]), "200", f"{call} in {language}")
    return here


async def try_all(reader: Reader) -> int:
    """Runs each example in curl; returns how many there were."""
    count = 0
    for call in reader.calls():
        page = reader.page(call)
        if "curl" not in page.examples or call in LEFT_OUT:
            continue
        status = await reader.status_of_curl(page.examples["curl"])
        expect(status in page.statuses, f"{call} is answered with {status}, not one of {sorted(page.statuses)}")
        # 401: the app was deleted by an earlier example, or a device's secret is a sample.
        expect(status not in ("405", "415", "500"), f"{call} is answered with {status}")
        count += 1
    return count


async def play(binary: str, folder: pathlib.Path) -> None:
    server = Server(binary, folder)
    phone = None
    try:
        await server.start()
        key, secret = await server.create_app("documented")
        group, group_secret = await server.create_group("documented", key)
        account = await server.command("account", "create", "documented")
        await server.command("app", "getui", "set", key)
        phone = await Phone("phone", server.plain, key, folder / "phone.json").start()
        reader = Reader(server, folder)
        reader.environment |= {
            "APP_KEY": key, "MASTER_SECRET": secret, "GROUP_KEY": group, "GROUP_SECRET": group_secret,
            "DEV_KEY": account["dev_key"], "DEV_SECRET": account["dev_secret"], "TOKEN": "unknown",
        }  # fmt: skip
        reader.values = {DEVICE: str(phone.device.registration_id)}
        await phone.device.set_alias("demo")
        await phone.device.set_tags(["news"])
        languages = await try_everywhere(reader)
        count = await try_all(reader)
    except Failed:
        print(server.log()[-4000:], file=sys.stderr)
        raise
    finally:
        if phone:
            await phone.stop()
        await server.stop(signal.SIGKILL)
    expect(count > 140, f"only {count} calls have an example")
    print(f"ok - {count} examples in curl, and those of {len(EVERYWHERE)} calls in {', '.join(languages)}")


if __name__ == "__main__":
    main("Runs the examples of the API reference against a built server.", play)
