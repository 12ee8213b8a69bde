"""Plays an administrator in a Debian that Tests/Packages/run has made: installs the package, uses the server, upgrades it under
load, removes it, installs it again and purges it.

    python3 install.py ROOT

There is no systemd, since that needs a machine of its own. A `systemctl` that stands in for it passes on what the package's scripts
ask for, and Manager does it as the unit says: user, folder, command, readiness, signal.
"""

import asyncio
import configparser
import itertools
import json
import os
import pathlib
import shlex
import signal
import socket
import ssl
import subprocess
import sys
import threading
from typing import Any

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "PythonClient"))

import push_api  # noqa: E402
from stage import DEADLINE, Failed, Phone, expect, expect_equal, told  # noqa: E402

PATH = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
UNIT = "usr/lib/systemd/system/borealis.service"
WANTS = "etc/systemd/system/multi-user.target.wants/borealis.service"
SYSTEMCTL = """#!/bin/sh
echo "$*" >/run/systemctl/request
read -r status output </run/systemctl/reply
[ -z "$output" ] || echo "$output"
exit "$status"
"""
PHONES = 8


def inside(*command: str, status: int = 0, user: str = "root") -> str:
    """Runs a command in the Debian and returns what it prints, standard error included."""
    ending = subprocess.run(["chroot", f"--userspec={user}", ROOT, *command], env=PATH, stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    expect(ending.returncode == status, f"{shlex.join(command)} ended with {ending.returncode}:\n{ending.stdout}")
    return ending.stdout


class Manager(threading.Thread):
    """What systemd does for the unit."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.process: subprocess.Popen | None = None
        self.asked: list[str] = []
        self.endings: list[int] = []
        self.journal = ROOT / "run" / "journal"
        folder = ROOT / "run" / "systemctl"
        folder.mkdir()
        for name in ("request", "reply"):
            os.mkfifo(folder / name)
        self._folder = folder
        program = ROOT / "usr/bin/systemctl"
        program.write_text(SYSTEMCTL)
        program.chmod(0o755)
        # By which scripts of packages see that systemd runs.
        (ROOT / "run/systemd/system").mkdir(parents=True)
        (ROOT / "run/notify").mkdir()
        self._notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notifications.bind(str(ROOT / "run/notify/socket"))
        self._notifications.settimeout(DEADLINE)
        os.chmod(ROOT / "run/notify/socket", 0o777)

    def run(self) -> None:
        while True:
            request = (self._folder / "request").read_text().split()
            words = [word for word in request if not word.startswith("-")]
            status, output = 0, ""
            try:
                if words[0] == "is-enabled":
                    status, output = (0, "enabled") if os.path.lexists(ROOT / WANTS) else (1, "disabled")
                elif words[0] == "is-active":
                    status = 0 if self.is_active else 3
                else:
                    self.asked.append(words[0])
                    if words[0] == "preset":
                        (ROOT / WANTS).parent.mkdir(exist_ok=True)
                        (ROOT / WANTS).symlink_to("/" + UNIT)
                    if words[0] in ("stop", "restart"):
                        self.stop()
                    if words[0] in ("start", "restart"):
                        self.start_unit()
            except Exception as error:  # what asked has to go on
                status, output = 1, repr(error)
            (self._folder / "reply").write_text(f"{status} {output}\n")

    @property
    def is_active(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start_unit(self) -> None:
        unit = configparser.RawConfigParser(strict=False)
        unit.optionxform = str  # type: ignore[assignment,method-assign]
        unit.read(ROOT / UNIT)
        service = unit["Service"]
        expect_equal((service["Type"], service["User"]), ("notify", "borealis"), "type and user of the unit")
        owner = next(line.split(":") for line in (ROOT / "etc/passwd").read_text().splitlines() if line.startswith("borealis:"))
        state = ROOT / "var/lib" / service["StateDirectory"]
        if not state.exists():
            state.mkdir(mode=int(service["StateDirectoryMode"], 8))
            os.chown(state, int(owner[2]), int(owner[3]))
        with self.journal.open("ab") as journal:
            self.process = subprocess.Popen(
                ["chroot", f"--userspec={service['User']}:{service['Group']}", ROOT, *shlex.split(service["ExecStart"])],
                env=PATH | {"NOTIFY_SOCKET": "/run/notify/socket"}, umask=int(service["UMask"], 8), stdin=subprocess.DEVNULL,
                stdout=journal, stderr=journal)  # fmt: skip
        while b"READY=1" not in self._notifications.recv(4096):
            pass

    def stop(self) -> None:
        if not self.is_active:
            return
        assert self.process, "it is active"
        self.process.send_signal(signal.SIGTERM)
        self.endings.append(self.process.wait(DEADLINE))


class Load:
    """Phones over TLS, and an app server that pushes to them without a pause and repeats what got no answer."""

    def __init__(self, manager: Manager, key: str, secret: str):
        ready = [json.loads(line) for line in manager.journal.read_text().splitlines() if '"event":"ready"' in line][-1]
        tls = ssl.create_default_context(cafile=str(ROOT) + ready["certificate"])
        folder = ROOT / "run" / "phones"
        folder.mkdir()
        port = ready["device"].rpartition(":")[2]
        self.phones = [Phone(f"phone{at}", f"127.0.0.1:{port}", key, folder / str(at), tls) for at in range(PHONES)]
        self._api = push_api.PlainAPI(f"http://{ready['http']}", key, secret)
        self._isOver = False
        self.expected: list[set[str]] = [set() for _ in self.phones]
        self.repeated = 0

    async def start(self) -> None:
        for phone in self.phones:
            await phone.start()
            expect_equal((await phone.device.set_alias(phone.name)).code, 0, "alias")
        self._running = asyncio.create_task(self._push())

    async def _push(self) -> None:
        cids = await asyncio.to_thread(self._api.cids, 1000)
        for number in itertools.count():
            if self._isOver:
                return
            # Some to all phones, most to one.
            targets = range(PHONES) if number % 5 == 0 else [number % PHONES]
            audience = "all" if len(targets) > 1 else {"alias": [self.phones[targets[0]].name]}
            body = {"cid": cids[number % len(cids)], "platform": "all", "audience": audience,
                    "notification": {"alert": f"push {number}"}}  # fmt: skip
            await self._deliver(body)
            for at in targets:
                self.expected[at].add(f"push {number}")
            await asyncio.sleep(0.02)

    async def _deliver(self, body: Any) -> None:
        async with asyncio.timeout(DEADLINE):
            while True:
                try:
                    return await asyncio.to_thread(self._api.request, "POST", "/v3/push", body)
                except (OSError, ValueError, push_api.Refused):
                    self.repeated += 1
                    await asyncio.sleep(0.05)

    @property
    def accepted(self) -> int:
        return sum(map(len, self.expected))

    async def goes_on(self, more: int) -> None:
        """Waits until so many more targets got a push."""
        before = self.accepted
        async with asyncio.timeout(DEADLINE):
            while self.accepted < before + more:
                await asyncio.sleep(0.05)

    async def finish(self) -> None:
        """Every phone has shown all that was accepted for it, each once."""
        self._isOver = True
        await self._running
        for phone, expected in zip(self.phones, self.expected, strict=True):
            await phone.until(lambda phone=phone, expected=expected: set(phone.shown) >= expected, "all that was accepted")
            expect_equal(sorted(phone.shown), sorted(expected), f"shown by {phone.name}")
            await phone.stop()


def version() -> str:
    return inside("dpkg-query", "--show", "--showformat", "${Version}", "borealis")


def check_first_start(manager: Manager) -> None:
    expect(manager.is_active, f"the server does not run: {manager.asked}")
    expect_equal(manager.asked, ["preset", "daemon-reload", "start"], "what systemd was asked for")
    assert manager.process, "it is active"
    owner = os.stat(f"/proc/{manager.process.pid}").st_uid
    expect(owner != 0 and f"borealis:x:{owner}:" in (ROOT / "etc/passwd").read_text(), "the server runs as another user")
    status = os.stat(ROOT / "etc/borealis")
    expect_equal((status.st_mode & 0o777, status.st_uid), (0o750, 0), "mode and owner of /etc/borealis")
    expect_equal(os.stat(ROOT / "var/lib/borealis").st_mode & 0o777, 0o700, "mode of the data folder")
    expect_equal(inside("dpkg", "--verify", "borealis"), "", "files that differ from the package")
    inside("borealis", "health", "--server", "http://127.0.0.1:8080")
    print("ok - the package installs without a question, and the server runs as its own user")


async def check_upgrade(manager: Manager) -> tuple[str, str]:
    made = json.loads(inside("borealis", "app", "create", "Installed", "--data", "/var/lib/borealis", user="borealis"))
    load = Load(manager, made["app_key"], made["master_secret"])
    await load.start()
    await load.goes_on(50)
    # An administrator's change of the settings stays.
    settings = ROOT / "etc/borealis/borealis.conf"
    settings.write_text(settings.read_text() + "time-zone = Europe/Berlin\n")
    process, before = manager.process, version()
    await asyncio.to_thread(inside, "dpkg", "--install", "/packages/borealis.deb")
    expect(before.endswith("~former") and version() == before.removesuffix("~former"), "the version after the upgrade")
    expect(manager.is_active and manager.process is not process, "the new program does not run")
    expect_equal(manager.endings, [0], "how the former program ended")
    expect(settings.read_text().endswith("time-zone = Europe/Berlin\n"), "the upgrade has changed the settings")
    await load.goes_on(50)
    await load.finish()
    print(f"ok - an upgrade under load loses nothing: {load.accepted} targets, each push shown once, {load.repeated} requests repeated")
    return made["app_key"], made["master_secret"]


async def check_removal(manager: Manager, key: str, secret: str) -> None:
    inside("dpkg", "--remove", "borealis")
    expect(not manager.is_active and manager.endings == [0, 0], f"the server after the removal: {manager.endings}")
    for gone in ("usr/bin/borealis", UNIT, "usr/share/man/man1/borealis.1.gz"):
        expect(not (ROOT / gone).exists(), f"{gone} is left")
    for kept in ("etc/borealis/borealis.conf", "var/lib/borealis/borealis.sqlite", "var/lib/borealis/tls/key.pem"):
        expect((ROOT / kept).exists(), f"{kept} is gone")
    inside("dpkg", "--install", "/packages/borealis.deb")
    expect(manager.is_active, "the server does not run after it was installed again")
    api = push_api.PlainAPI("http://127.0.0.1:8080", key, secret)
    await asyncio.to_thread(api.push, push_api.EVERYONE, "again")
    print("ok - what was removed is back with its data when it is installed again")


def check_purge(manager: Manager) -> None:
    said = inside("dpkg", "--purge", "borealis")
    expect("/var/lib/borealis stays" in said, f"the purge does not say what stays: {said}")
    expect_equal(manager.endings, [0, 0, 0], "how the server ended")
    found = inside("find", "/", "-xdev", "-name", "*borealis*", "-not", "-path", "/proc/*", "-not", "-path", "/packages/*")
    expect_equal([path for path in found.split() if not path.startswith("/var/lib/borealis")], [], "files that are left")
    expect((ROOT / "var/lib/borealis/borealis.sqlite").exists(), "the database is gone")
    expect("borealis:" in (ROOT / "etc/passwd").read_text(), "the user of the data is gone")
    print("ok - a purge removes all but the data and its user")


async def play() -> None:
    manager = Manager()
    manager.start()
    try:
        # What it needs lies in apt's cache already.
        inside("apt-get", "install", "-y", "-qq", "-o", "Dpkg::Use-Pty=0", "--no-install-recommends", "/packages/former.deb",
               "systemd-standalone-sysusers")  # fmt: skip
        check_first_start(manager)
        key, secret = await check_upgrade(manager)
        await check_removal(manager, key, secret)
        check_purge(manager)
    except BaseException:
        print(manager.journal.read_text()[-4000:] if manager.journal.exists() else "", file=sys.stderr)
        raise
    finally:
        manager.stop()


if __name__ == "__main__":
    try:
        asyncio.run(play())
    except (Failed, OSError, TimeoutError) as failure:
        sys.exit(f"FAILED {told(failure)}")
