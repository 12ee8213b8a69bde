"""The part of the walk through the console that comes to limits: of an alias, and of a role."""

import pathlib
import re
from typing import Any

from stage import Phone, Server, answer, expect_equal


async def fill_an_alias(walk: Any, server: Server, key: str, folder: pathlib.Path) -> None:
    """The eleventh device of an alias is told that there is no room; the other ten keep it."""
    phones = [
        await Phone(f"colleague {number}", server.plain, key, folder / f"colleague{number}.json").start()
        for number in range(10)
    ]
    for phone in phones:
        expect_equal((await phone.device.set_alias("team")).code, 0, f"alias of {phone.name}")
    page = walk.page
    await page.goto(f"http://{server.http}/console/apps/{key}/virtual")
    await page.get_by_role("button", name="Start device").click()
    await page.locator("[data-device-status]").get_by_text("Online").wait_for()
    await page.get_by_label("Alias of this device").fill("team")
    await page.locator("form[data-device-alias] button").click()
    await page.locator("form[data-device-alias]").get_by_text("already has 10 devices").wait_for()
    await walk.look("alias-full")
    await page.get_by_role("link", name="devices with this alias").click()
    await page.locator("table.devices a", has_text=phones[0].device.registration_id).click()
    await page.get_by_text("Remove alias").first.click()
    await walk.look("device-with-alias")
    await page.get_by_role("button", name="Remove alias").click()
    await page.get_by_text("The device's alias was removed.").wait_for()
    await page.goto(f"http://{server.http}/console/apps/{key}/virtual")
    await page.locator("[data-device-status]").get_by_text("Online").wait_for()
    await page.get_by_label("Alias of this device").fill("team")
    await page.locator("form[data-device-alias] button").click()
    await page.locator("form[data-device-alias]").get_by_text("Saved.").wait_for()
    await answer(page, "Reset device")
    await page.get_by_role("button", name="Start device").wait_for()
    for phone in phones:
        await phone.stop()


async def visit_as_viewer(walk: Any, address: str, key: str, password: str) -> None:
    """A viewer sees pushes and devices, and nothing that sends or changes; what is typed into the address is refused."""
    owner = walk.page
    await owner.goto(f"{address}/console/accounts/1/people")
    await owner.get_by_label("Email address").fill("kim@example.com")
    await owner.get_by_label("Role").last.select_option("viewer")
    await owner.get_by_role("button", name="Create link").click()
    link = await owner.locator("code", has_text="/console/invitations/").inner_text()
    await walk.look("people")
    page = await walk.open(locale="en-GB")
    await page.goto(link)
    await page.get_by_text("Your role: Viewer.").wait_for()
    await walk.look("invitation")
    await page.get_by_label("Your name").fill("Kim")
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Join").click()
    await page.get_by_role("link", name="Northern Lights").click()
    await page.get_by_role("heading", name="Northern Lights").wait_for()
    tabs = await page.get_by_role("navigation").get_by_role("link").all_inner_texts()
    expect_equal([name for name in tabs if re.search("Send|Settings", name)], [], "pages of others for a viewer")
    await walk.look("viewer")
    for path, status in [("pushes", 200), ("devices", 200), ("push", 403), ("settings", 403)]:
        answer = await page.request.get(f"{address}/console/apps/{key}/{path}")
        expect_equal(answer.status, status, f"{path} for a viewer")
    walk.page = owner
