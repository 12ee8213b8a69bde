"""The part of the walk through the console that comes back: with the browser's Back, after logging in, and with names that have
no place to break a line."""

import asyncio
import json
from typing import Any

from stage import Server, expect, expect_equal

LONG = "Unbroken" * 9 + "names."  # 78 characters
UPLOAD = 8 << 20


async def go_back(walk: Any, address: str, key: str, device: str) -> None:
    """Back keeps the form, and no page asks whether to send it again: for that a browser shows a page of its own."""
    page = walk.page
    await page.goto(f"{address}/console/apps/{key}/push")
    fields = {"Registration IDs": device, "Title": "Back and forth", "Keep for offline devices (hours)": "7"}
    for label, value in fields.items():
        await page.get_by_label(label).fill(value)
    await page.get_by_label("Text", exact=True).fill("Nothing is lost")
    await page.get_by_label("HarmonyOS").uncheck()
    await walk.look("push-platforms")
    await page.get_by_role("button", name="Next").click()
    await page.get_by_text("Target devices: 1").wait_for()
    await page.go_back()
    await is_filled(page, fields)
    await page.go_forward()
    await page.get_by_role("button", name="Send now (1)").click()
    await page.get_by_role("heading", name="Delivery status").wait_for()
    pushed = page.url
    await page.go_back()
    await page.get_by_role("heading", name="Already sent").wait_for()
    await walk.look("already-sent")
    await page.go_back()
    await is_filled(page, fields)
    await page.goto(pushed)


async def is_filled(page: Any, fields: dict[str, str]) -> None:
    await page.get_by_role("heading", name="Send a push").wait_for()
    for label, value in fields.items():
        expect_equal(await page.get_by_label(label).input_value(), value, f"{label} after going back")
    expect_equal(await page.get_by_label("Text", exact=True).input_value(), "Nothing is lost", "the text")
    expect(not await page.get_by_label("HarmonyOS").is_checked(), "HarmonyOS is ticked again")
    expect(await page.get_by_label("Android", exact=True).is_checked(), "Android is not ticked any more")


async def lose_the_session(walk: Any, address: str, key: str, password: str) -> None:
    """What is typed when the session ends is there after logging in again: in the form of a push, and in any other."""
    page = walk.page
    before = len(walk.complaints)

    async def log_out() -> None:
        # As in another tab; the page that is open stays.
        token = await page.locator("meta[name=form-token]").get_attribute("content")
        await page.request.post(f"{address}/console/logout", form={"form_token": token or ""})

    async def log_in() -> None:
        await page.get_by_text("Log in to continue.").wait_for()
        await page.get_by_label("Email address").fill("zoe@example.com")
        await page.get_by_label("Password").fill(password)
        await page.get_by_role("button", name="Log in").click()

    await page.goto(f"{address}/console/apps/{key}/push")
    await page.get_by_role("radio", name="Everyone").check()
    await page.get_by_label("Text", exact=True).fill("A long text")
    await log_out()
    await page.get_by_role("button", name="Next").click()
    await walk.look("login-to-continue")
    await log_in()
    await page.get_by_text("You were logged out before this push was sent.").wait_for()
    expect_equal(await page.get_by_label("Text", exact=True).input_value(), "A long text", "the text that was typed")
    expect(await page.get_by_role("radio", name="Everyone").is_checked(), "whom the push was for")
    await walk.look("push-unsent")
    await page.goto(f"{address}/console/apps/{key}/settings/limits")
    await page.get_by_label("Networks").fill("10.1.2.0/24")
    await log_out()
    await page.locator("form", has=page.locator("#networks")).get_by_role("button", name="Save").click()
    await log_in()
    await page.get_by_text("You were logged out before this form was submitted.").wait_for()
    expect_equal(await page.get_by_label("Networks").input_value(), "10.1.2.0/24", "the networks that were typed")
    await page.get_by_label("Networks").fill("")
    # A page that stays open goes on asking for live numbers, and is told that nobody is logged in.
    walk.complaints[before:] = [line for line in walk.complaints[before:] if "401" not in line]


async def recover(walk: Any, address: str) -> None:
    """A file that is too large is answered by a page, and names without a place to break fit every page."""
    page = walk.page
    await page.goto(f"{address}/console/accounts/1/apps/new")
    await page.get_by_label("App name").fill(LONG)
    await page.get_by_role("button", name="Create").click()
    key = await page.locator("dl.keys code").first.inner_text()
    await walk.look("long-keys")
    await page.goto(f"{address}/console/accounts/1/groups")
    await page.get_by_label("Group name").fill(LONG)
    await page.locator("form", has=page.get_by_label("Group name")).get_by_text(LONG).click()
    await page.get_by_role("button", name="Create").click()
    await walk.look("long-group-keys")
    await page.goto(f"{address}/console/operator")
    await page.get_by_label("Account name").fill(LONG)
    await page.get_by_label("Owner's email address").fill(f"{LONG[:60]}@{LONG[:40]}.example.com".replace(".@", "@"))
    await page.get_by_role("button", name="Create").click()
    await walk.look("long-account")
    await page.goto(f"{address}/console/accounts/1/people")
    await page.get_by_label("Email address").fill(f"{LONG[:60]}@{LONG[:40]}.example.com")
    await page.get_by_role("button", name="Create link").click()
    await page.get_by_text("no mail server is configured").first.wait_for()
    await page.goto(f"{address}/console/me")
    name = await page.get_by_label("Your name").input_value()
    await page.get_by_label("Your name").fill(LONG)
    await page.get_by_role("button", name="Save").click()
    app = f"/console/apps/{key}"
    places = ["/console/", "/console/me", "/console/operator", "/console/operator/audit", "/console/accounts/1/people",
              "/console/accounts/1/groups", "/console/accounts/1/audit", "/console/me/audit", "/console/credentials",
              "/console/nowhere", app, f"{app}/push", f"{app}/pushes", f"{app}/charts", f"{app}/devices",
              f"{app}/virtual", f"{app}/settings", f"{app}/settings/credentials/apns", f"{app}/settings/callbacks",
              f"{app}/settings/limits"]  # fmt: skip
    before = len(walk.complaints)
    for place in places:
        await page.goto(f"{address}{place}")
        await walk.look("long" + place.replace("/console", "").replace(key, "app").replace("/", "-"))
    # The browser complains of the page that is not there, as it should.
    expect_equal([line for line in walk.complaints[before:] if "404" not in line], [], "complaints")
    del walk.complaints[before:]
    await page.goto(f"{address}/console/me")
    await page.get_by_label("Your name").fill(name)
    await page.get_by_role("button", name="Save").click()
    await page.locator(f".me summary[title='{name}']").wait_for()


async def send_too_much(server: Server, key: str) -> None:
    """An upload that is too large is answered by a page for people, before the rest of it has come."""
    for size in (UPLOAD, 8 * UPLOAD):
        host, port = server.http.rsplit(":", 1)
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(
            f"POST /console/apps/{key}/settings/credentials/apns/key HTTP/1.1\r\nHost: {server.http}\r\nContent-Length: {size}\r\n"
            "Content-Type: multipart/form-data; boundary=x\r\nSec-Fetch-Site: same-origin\r\n\r\n--x".encode()
        )
        await writer.drain()
        answer = (await reader.readuntil(b"\r\n\r\n")).decode()
        expect(answer.startswith("HTTP/1.1 413 "), f"{size} bytes: {answer.splitlines()[0]}")
        expect("text/html" in answer, f"{size} bytes are answered by {json.dumps(answer)}")
        writer.close()


async def read_over_a_slow_network(walk: Any, address: str, key: str) -> None:
    """What is on the screen stays where it is while the rest of a page arrives."""
    page = walk.page
    network = await page.context.new_cdp_session(page)
    conditions = {"offline": False, "latency": 0, "uploadThroughput": -1}
    pages = ("", "/pushes", "/push", "/devices", "/settings", "/settings/requests")
    paths = ["docs/operations/settings", "docs/api/reference", "console/accounts/1/audit"]
    paths += [f"console/apps/{key}{page}" for page in pages]
    await network.send("Network.enable")
    await network.send("Network.emulateNetworkConditions", {**conditions, "downloadThroughput": 20_000})
    for path in paths:
        answer = await page.goto(f"{address}/{path}")
        expect(answer and answer.status == 200, f"{path} is there")
        shifted, moved = await page.evaluate("[window.shifted ?? 0, window.moved ?? []]")
        expect(shifted <= 0.01, f"{path}, read slowly: its parts moved by {shifted}: {moved}")
    await network.send("Network.emulateNetworkConditions", {**conditions, "downloadThroughput": -1})
    await network.detach()
