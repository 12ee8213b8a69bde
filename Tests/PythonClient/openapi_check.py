"""Has schemathesis try what the server's own description promises: GET /openapi.json.

    python3 openapi_check.py --binary .build/debug/borealis

Requests that fit the description, and some that do not, go to every operation with the login that it asks for. No answer
may be a failure of the server, or another status, type, header or shape than the description has for it; methods that
it does not have must be refused, and so must calls without a login. The requests are the same in each run.
"""

import asyncio
import os
import pathlib
import signal
import sys
import tempfile

from getui import Getui
from push_api import PlainAPI
from stage import Failed, Phone, Server, expect, main

EXAMPLES = 4  # of random requests for each operation, beside those that the description itself gives rise to
LIMIT = 300  # seconds for each login; a run takes a small part of that
CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "unsupported_method", "allow_header_conformance", "ignored_auth",
]  # fmt: skip
# The hundreds of variants of a push object are tried with POST /v3/push only, and wrong ones are left to the tests of the
# parser: these operations have the same object in their bodies.
PUSH = ["push"]
ALIKE = [
    "validatePush", "forecastPush", "pushBatchByRegistrationID", "pushBatchByAlias", "pushToFile", "createSchedule",
    "changeSchedule",
]  # fmt: skip
ALIKE_OF_GROUPS = ["pushToGroup", "pushToGroupFile"]
# A run for each, so that whoever waits sees that it goes on.
TAGS = ["Push", "Reports", "Devices", "Schedules", "Callbacks", "Operation"]
GROUP_PATHS = "^/v3/group"
ADMIN_PATHS = "^/v1/app"
GETUI_PATHS = "^/v2/"
# Ends the token that all the others are called with; what takes no token is tried with wrong ones only.
ENDS_TOKENS = ["getuiEndToken", "getuiAuthenticate"]


def each(option: str, values: list[str]) -> list[str]:
    return [part for value in values for part in (option, value)]


def login_of(key: str, secret: str) -> list[str]:
    return ["--auth", f"{key}:{secret}"]


async def check(
    server: Server, login: list[str], name: str, *selection: str, phases: str = "examples,coverage,fuzzing",
    config: str = "",
) -> None:  # fmt: skip
    """Runs schemathesis on some operations, and prints what it says of how many requests it made. `config` is a file with
    values of parameters."""
    command = [
        sys.executable, "-m", "schemathesis.cli", *(["--config-file", config] if config else []),
        "run", f"http://{server.http}/openapi.json", *login, "--checks", ",".join(CHECKS), "--phases", phases,
        "--max-examples", str(EXAMPLES), "--seed", "20261121", "--generation-deterministic",
        "--suppress-health-check", "all", "--no-color", "--no-shrink",
        "--continue-on-failure", "--warnings", "off", *selection,
    ]  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "NO_PROXY": "*", "PYTHONDONTWRITEBYTECODE": "1"}, cwd=tempfile.gettempdir(),
    )  # fmt: skip
    try:
        async with asyncio.timeout(LIMIT):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        raise Failed(f"schemathesis took more than {LIMIT} s for the operations of {name}") from None
    text = output.decode(errors="replace")
    expect(process.returncode == 0, f"the operations of {name} are not as described:\n{text}")
    print(f"{name}:", *(line.strip() for line in text.splitlines() if " generated" in line), flush=True)


async def getui(server: Server, folder: pathlib.Path, key: str, cid: str) -> None:
    """Tries Getui's API on the app, whose key is in each path."""
    access = await server.command("app", "getui", "set", key)
    client = Getui(f"http://{server.http}", key, key, access["master_secret"])
    await asyncio.to_thread(client.authenticate)
    task = await asyncio.to_thread(lambda: client.message(push_message={"transmission": "listed"}))
    values = {"appId": key, "cid": cid, "alias": "demo", "tag": "news", "taskid": task, "date": "2026-01-01"}
    config = folder / "schemathesis.toml"
    lines = [f'"path.{name}" = "{value}"' for name, value in values.items()]
    config.write_text("\n".join(["[parameters]", *lines, ""]))
    login = ["--header", f"token: {client.token}"]
    paths = ["--include-path-regex", GETUI_PATHS]
    await check(server, login, "an app of Getui's", *paths, *each("--exclude-operation-id", ENDS_TOKENS),
                config=str(config))  # fmt: skip
    await check(server, [], "tokens of Getui's API", *each("--include-operation-id", ENDS_TOKENS), config=str(config))


async def play(binary: str, folder: pathlib.Path) -> None:
    server = Server(binary, folder)
    try:
        await server.start()
        key, secret = await server.create_app("described")
        group, group_secret = await server.create_group("described", key)
        account = await server.command("account", "create", "described")
        phone = await Phone("phone", server.plain, key, folder / "phone.json").start()
        registration = str(phone.device.registration_id)
        api = PlainAPI(f"http://{server.http}", key, secret)
        await asyncio.to_thread(api.update_device, registration, {"alias": "demo", "tags": {"add": ["news"]}})
        app, caller = login_of(key, secret), login_of(f"group-{group}", group_secret)
        developer = login_of(account["dev_key"], account["dev_secret"])
        others = ["--exclude-path-regex", f"{GROUP_PATHS}|{ADMIN_PATHS}|{GETUI_PATHS}", *each("--exclude-operation-id", PUSH + ALIKE)]
        of_groups = ["--include-path-regex", GROUP_PATHS, *each("--exclude-operation-id", ALIKE_OF_GROUPS)]
        alike, alike_of_groups = (each("--include-operation-id", some) for some in (ALIKE, ALIKE_OF_GROUPS))
        for tag in TAGS:
            await check(server, app, f"an app, {tag}", "--include-tag", tag, *others)
        await check(server, app, "pushes", *each("--include-operation-id", PUSH), "--mode", "positive")
        await check(server, app, "push objects", *alike, phases="examples,fuzzing")
        await check(server, caller, "a group", *of_groups)
        await check(server, caller, "pushes of a group", *alike_of_groups, phases="examples,fuzzing")
        await check(server, developer, "an account", "--include-path-regex", ADMIN_PATHS)
        await getui(server, folder, key, registration)
        await phone.stop()
    except Failed:
        print(server.log()[-4000:], file=sys.stderr)
        raise
    finally:
        await server.stop(signal.SIGKILL)
    print("ok - the server answers as it says")


if __name__ == "__main__":
    main("Checks a built server against its own OpenAPI description.", play)
