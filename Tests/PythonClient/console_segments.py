"""The walk of console.py through segments: one is made, counted while it is typed, pushed to, and deleted."""

from typing import Any

from stage import expect, expect_equal


async def use_a_segment(walk: Any, address: str, key: str) -> None:
    """Readers of the news: the number follows what is typed, and a push goes to them by name."""
    page = walk.page
    await page.goto(f"{address}/console/apps/{key}/segments")
    await page.get_by_text("There are no segments yet.").wait_for()
    await page.get_by_role("link", name="New segment").click()
    await page.get_by_label("Name").fill("Readers of the news who have been here within the last days")
    await page.get_by_label("Condition 1").select_option("tag")
    await page.get_by_label("Value 1").fill("news")
    size = page.locator("[data-audience-size]")
    await size.get_by_text("1 device now").wait_for()
    await page.get_by_label("Condition 2").select_option("last_seen")
    await page.get_by_label("Comparison 2").select_option("within")
    await page.get_by_label("Value 2").fill("soon")
    before = len(walk.complaints)
    await page.get_by_role("button", name="Save").click()
    await page.get_by_text("Condition 2 is incomplete, or the value does not fit.").wait_for()
    expect_equal(await page.get_by_label("Value 1").input_value(), "news", "what was typed")
    # Browsers note each answer that is an error.
    walk.complaints[before:] = [line for line in walk.complaints[before:] if "422" not in line]
    await walk.look("segment-wrong")
    await page.get_by_label("Value 2").fill("30")
    await size.get_by_text("1 device now").wait_for()
    await walk.look("segment-new")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_text("Devices with tag news and last seen within 30 days").wait_for()
    await walk.look("segment")
    await page.get_by_role("link", name="Segments", exact=True).first.click()
    await page.locator("tr", has_text="Readers of the news").wait_for()
    await walk.look("segments")
    await page.get_by_role("link", name="Readers of the news").click()
    await page.get_by_role("link", name="Send a push to it").click()
    expect(await page.get_by_role("radio", name="Segment", exact=True).is_checked(), "the segment is the audience")
    await page.get_by_label("Text", exact=True).fill("Read this")
    await size.get_by_text("Reaches 1").wait_for()
    await walk.look("push-segment")
    await page.get_by_role("button", name="Next").click()
    await page.locator(".outline dd", has_text="segment Readers of the news").wait_for()
    await page.goto(f"{address}/console/apps/{key}/segments")
    await page.get_by_role("link", name="Readers of the news").click()
    await page.locator("summary", has_text="Delete segment").click()
    await page.get_by_role("button", name="Delete segment").click()
    await page.get_by_text("The segment was deleted.").wait_for()
