"""The part of the walk through the console that sends by hand: what the form says meanwhile, and taking back."""

import datetime
from typing import Any

from stage import answer, expect, expect_equal


async def fill_in_a_push(walk: Any, address: str, key: str, device: str) -> None:
    """The form names what is unknown, labels what is asked for, and shows what an app or a phone gets."""
    page = walk.page
    await page.goto(f"{address}/console/apps/{key}/push")
    count = page.locator("[data-audience-size]")
    await suggest_a_tag(page)
    await page.get_by_label("Registration IDs").fill(f"{device}, bob")
    await count.get_by_text("Known: 1 of 2. Unknown: bob").wait_for()
    for choice, label in [("Alias", "Aliases"), ("Tag", "Tags"), ("Devices", "Registration IDs")]:
        await page.get_by_role("radio", name=choice, exact=True).check()
        shown = await page.locator("label[for=names]").inner_text()
        expect_equal(shown.strip(), label, f"label for {choice}")
    await page.get_by_label("Text", exact=True).fill('{"page": 7}')
    await page.get_by_role("radio", name="Custom message").check()
    await page.locator(".phone .silent code", has_text='{"page": 7}').wait_for()
    expect(not await page.locator(".phone .banner").is_visible(), "a message shows no banner")
    await page.get_by_text("More", exact=True).click()
    rows = page.locator(".extra:visible")
    expect_equal(await rows.count(), 1, "empty rows for extras")
    await page.get_by_label("Name 1", exact=True).fill("page")
    await page.get_by_label("Value 1", exact=True).fill("/cart")
    expect_equal(await rows.count(), 2, "rows for extras")
    await walk.look("push-message")
    await page.get_by_role("button", name="Next").click()
    await page.locator(".outline dd", has_text=f"devices {device} or bob").wait_for()
    await page.get_by_text("curl", exact=True).click()
    await page.locator("code", has_text='"extras":{"page":"/cart"}').first.wait_for()
    await walk.look("confirm-message")


async def suggest_a_tag(page: Any) -> None:
    """A tag is found by its first letters, with how many devices have it, and taken with the keyboard alone."""
    await page.get_by_role("radio", name="Tag", exact=True).check()
    field = page.get_by_role("combobox", name="Tags", exact=False).first
    await field.fill("nowhere, ")
    await field.press_sequentially("ne")
    option = page.get_by_role("option", name="news")
    await option.wait_for()
    expect_equal(await option.inner_text(), "news\n1", "a suggestion")
    await field.press("ArrowDown")
    await field.press("Enter")
    expect_equal(await field.input_value(), "nowhere, news, ", "the field after a choice")
    await page.locator("[data-audience-size]").get_by_text("tags nowhere or news").wait_for()
    await field.fill("")
    await page.get_by_role("radio", name="Devices", exact=True).check()


async def take_back(walk: Any, address: str, key: str) -> None:
    """A push to the browser's own device, which is away: it waits, and is recalled after a question."""
    page = walk.page
    await page.goto(f"{address}/console/apps/{key}/virtual")
    await page.get_by_role("button", name="Start device").click()
    await page.locator("[data-device-status]").get_by_text("Online").wait_for()
    device = await page.locator("[data-device-id]").inner_text()
    await page.get_by_role("button", name="Disconnect").click()
    await page.goto(f"{address}/console/apps/{key}/push")
    await page.get_by_role("button", name="Send to my virtual device").click()
    expect_equal(await page.get_by_label("Registration IDs").input_value(), device, "the own device")
    await page.get_by_label("Text", exact=True).fill("Never mind")
    await page.get_by_role("button", name="Next").click()
    await page.get_by_role("button", name="Send now (1)").click()
    await page.locator("table.targets", has_text=device).get_by_role("link", name="Why?").wait_for()
    await page.locator("ol.way", has_text="Pending: 1").wait_for()
    await walk.look("push-waits")
    await page.locator(".sure summary", has_text="Recall").click()
    await page.get_by_text("Recall it from 1 device?").wait_for()
    await page.get_by_role("button", name="Recall").click()
    await page.get_by_text("Recalled from 1 device.").wait_for()
    await walk.look("push-recalled")
    await page.goto(f"{address}/console/apps/{key}/virtual")
    await page.locator("[data-device-status]").get_by_text("Online").wait_for()
    await answer(page, "Reset device")
    await page.locator("[data-device-status]").get_by_text("Not started").wait_for()
    await page.get_by_role("button", name="Start device").wait_for()


async def plan_a_push(walk: Any, address: str, key: str, device: str) -> None:
    """A push for tomorrow, which is listed, edited and canceled, and one that repeats."""
    page = walk.page
    await page.goto(f"{address}/console/apps/{key}/push")
    expect(not await page.get_by_label("Date and time").is_visible(), "no time for a push that goes now")
    await page.get_by_label("Registration IDs").fill(device)
    await page.get_by_label("Text", exact=True).fill("See you tomorrow")
    await page.get_by_label("Picture (address)").fill("https://example.com/sea.png")
    await page.get_by_role("radio", name="Repeatedly").check()
    await page.get_by_label("Repeats").select_option("week")
    await page.get_by_label("Fri", exact=True).check()
    await page.get_by_label("Time", exact=True).fill("08:30")
    await walk.look("push-repeats")
    await page.get_by_role("button", name="Next").click()
    await page.get_by_text("every week (Fri) at 08:30:00").wait_for()
    await page.get_by_role("link", name="Change").click()
    await page.get_by_role("radio", name="At a time").check()
    tomorrow = (datetime.datetime.now() + datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    await page.get_by_label("Date and time").fill(tomorrow)
    await walk.look("push-later")
    await page.get_by_role("button", name="Next").click()
    await page.locator(".outline dd", has_text="https://example.com/sea.png").wait_for()
    await walk.look("confirm-later")
    await page.get_by_role("button", name="Schedule", exact=True).click()
    await page.get_by_role("heading", name="See you tomorrow").wait_for()
    await walk.look("planned-one")
    await page.get_by_role("link", name="Edit", exact=True).click()
    await page.get_by_label("Text", exact=True).fill("See you soon")
    await page.get_by_role("button", name="Next").click()
    await page.get_by_role("button", name="Schedule", exact=True).click()
    await page.get_by_role("heading", name="See you soon").wait_for()
    await answer(page, "Pause")
    await page.locator(".state", has_text="paused").wait_for()
    await page.get_by_role("link", name="Scheduled", exact=True).click()
    await page.locator("tr", has_text="See you soon").wait_for()
    await walk.look("planned")
    await page.get_by_role("link", name="See you soon").click()
    await page.locator("summary", has_text="Cancel").click()
    await page.get_by_role("button", name="Cancel this push").click()
    await page.get_by_text("Nothing is scheduled.").wait_for()


async def plan_in_own_time(walk: Any, address: str, key: str) -> None:
    """An app that asks for time zones can have a push go at each device's own time."""
    page = walk.page
    await page.goto(f"{address}/console/apps/{key}/push")
    expect_equal(await page.get_by_role("radio", name="Each device's own time").count(), 0, "choices without the fact")
    await choose_time_zone(page, f"{address}/console/apps/{key}", True)
    await page.goto(f"{address}/console/apps/{key}/push")
    own = page.get_by_role("radio", name="Each device's own time")
    expect(not await own.is_visible(), "no choice of clocks for a push that goes now")
    await page.get_by_role("radio", name="Everyone", exact=True).check()
    await page.get_by_label("Text", exact=True).fill("Good morning")
    await page.get_by_role("radio", name="At a time").check()
    await own.check()
    day = (datetime.datetime.now() + datetime.timedelta(days=2)).strftime("%Y-%m-%d")
    await page.get_by_label("Date and time").fill(f"{day}T09:00")
    await walk.look("push-own-time")
    await page.get_by_role("button", name="Next").click()
    await page.get_by_text(f"once, {day} 09:00:00, each device's own time").wait_for()
    await walk.look("confirm-own-time")
    await page.get_by_role("button", name="Schedule", exact=True).click()
    await page.get_by_role("heading", name="Good morning").wait_for()
    await page.get_by_role("listitem").filter(has_text=f"{day} 09:00:00").wait_for()
    await walk.look("planned-own-time")
    await page.get_by_role("link", name="Scheduled", exact=True).click()
    await page.locator("tr", has_text="each device's own time").wait_for()
    await page.get_by_role("link", name="Good morning").click()
    await page.locator("summary", has_text="Cancel").click()
    await page.get_by_role("button", name="Cancel this push").click()
    await page.get_by_text("Nothing is scheduled.").wait_for()
    await choose_time_zone(page, f"{address}/console/apps/{key}", False)


async def choose_time_zone(page: Any, app: str, wanted: bool) -> None:
    await page.goto(f"{app}/settings/facts")
    await page.get_by_role("checkbox", name="Time zone").set_checked(wanted)
    await page.get_by_role("button", name="Save").click()
    await page.get_by_text("Saved.").wait_for()
