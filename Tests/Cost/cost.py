"""What a push costs in instructions, from the request to the stored acknowledgement. See Tests/Cost/run."""

import asyncio
import base64
import http.client
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "PythonClient"))
from borealis_device import Device  # noqa: E402
from stage import Server  # noqa: E402

BUDGET = HERE / "budget.json"
MOST_GROWTH = 1.05
DEVICES, CONNECTIONS, WARM_UP, PUSHES = 16, 8, 400, 2000
PATIENCE = 300  # seconds; under callgrind everything takes fifty times as long

# The stages of a push: for each the function that has the whole of it.
STAGES = {
    "read the HTTP request": r":HTTPRequestParser\.consume\(",
    "read the push object": r":static PushRequest\.parse\(_:rules:audience:\)",
    "resolve the audience, plan the routes": r":Acceptance\.accept\(_:for:reply:\)",
    "store and commit the push": r":Writer\.store\(",
    "pass it to the device's loop, answer": r"partial apply for specialized closure #2 in Acceptance\.routeAndStore",
    "store the acknowledgement": r":closure #1 in WriteBehind\.write\(",
}
# What runs by the clock, and so more often on a slow machine.
BY_THE_CLOCK = (r":closure #2 in TargetAudit\.step\(", r":Server\.tick\(\)")
WHOLE = "a push, accepted, delivered and acknowledged"


def push(address: str, key: str, secret: str, targets: list[str], count: int) -> None:
    """Posts pushes one after the other over one connection."""
    authorization = "Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()
    headers = {"Authorization": authorization, "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(address, timeout=PATIENCE)
    for number in range(count):
        body = {"platform": "all", "audience": {"registration_id": [targets[number % len(targets)]]},
                "notification": {"alert": "x" * 64}}  # fmt: skip
        connection.request("POST", "/v3/push", json.dumps(body), headers)
        answer = connection.getresponse()
        if answer.status != 200:
            raise SystemExit(f"a push was answered {answer.status}: {answer.read()!r}")
        answer.read()


async def until(condition) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.2)


async def measure(program: pathlib.Path, folder: pathlib.Path, profile: pathlib.Path) -> None:
    """Runs the server under callgrind, which counts while pushes are under way."""
    wrapper = folder / "borealis"
    wrapper.write_text(
        f'#!/bin/sh\n[ "$1" = serve ] || exec {program} "$@"\n'
        f'exec valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file={profile} {program} "$@"\n'
    )
    wrapper.chmod(0o755)
    server = Server(str(wrapper), folder, ("--loops", "2"))
    key, secret = await server.create_app("cost")
    await server.start()
    phones = [Device(server.plain, key, str(folder / f"device{i}"), on_push=lambda push: None) for i in range(DEVICES)]
    running = [asyncio.create_task(phone.run()) for phone in phones]
    await until(lambda: all(phone.registration_id for phone in phones))
    names = [phone.registration_id for phone in phones]

    async def burst(count: int, stored: int) -> None:
        share = count // CONNECTIONS
        await asyncio.gather(*(
            asyncio.to_thread(push, server.http, key, secret, names[i::CONNECTIONS] or names, share)
            for i in range(CONNECTIONS)
        ))  # fmt: skip
        await until(lambda: len(server.delivered(key)) >= stored)

    def count_instructions(state: str) -> None:
        subprocess.run(["callgrind_control", "-i", state, str(server.pid)], stdout=subprocess.DEVNULL, check=True)

    await burst(WARM_UP, WARM_UP)
    count_instructions("on")
    await burst(PUSHES, WARM_UP + PUSHES)
    count_instructions("off")
    await server.stop(signal.SIGTERM)
    for task in running:
        task.cancel()


def counts(profile: pathlib.Path) -> dict[str, int]:
    """Instructions of each stage, and of a push as a whole."""
    annotate = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(profile)]
    table = subprocess.run(annotate, capture_output=True, check=True).stdout
    demangle = ["swift", "demangle", "--simplified"]
    lines = subprocess.run(demangle, input=table, capture_output=True, check=True).stdout.decode().splitlines()

    def inclusive(pattern: str) -> int:
        line = next((line for line in lines if re.search(pattern, line)), None)
        if line is None:
            raise SystemExit(f"{profile} has no function {pattern}: update its name in cost.py")
        return int(line.split("(")[0].strip().replace(",", ""))

    found = {stage: inclusive(pattern) // PUSHES for stage, pattern in STAGES.items()}
    background = sum(inclusive(pattern) for pattern in BY_THE_CLOCK)
    found[WHOLE] = (inclusive("PROGRAM TOTALS") - background) // PUSHES
    return found


def main() -> None:
    folder = pathlib.Path(sys.argv[1]).resolve()
    profile = folder / "callgrind.out"
    with tempfile.TemporaryDirectory(prefix="borealis-", dir="/dev/shm") as data:
        asyncio.run(measure(folder / "borealis", pathlib.Path(data), profile))
    found = counts(profile)
    if "--record" in sys.argv:
        BUDGET.write_text(json.dumps(found, indent=2) + "\n")
    budget = json.loads(BUDGET.read_text())
    grown = False
    for name, value in found.items():
        ratio = value / budget[name]
        grown = grown or ratio > MOST_GROWTH
        print(f"{value:>9,}  {ratio:5.2f}  {name}{'   GROWN' if ratio > MOST_GROWTH else ''}")
    if grown:
        sys.exit("more instructions than budget.json allows")


if __name__ == "__main__":
    main()
