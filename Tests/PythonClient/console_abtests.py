"""The walk of console.py through A/B tests: one is made, sent, stopped and deleted."""

import pathlib
from typing import Any

from stage import Phone, Server


async def use_an_ab_test(walk: Any, server: Server, key: str, folder: pathlib.Path) -> None:
    """What is wrong is said at its field; the question shows all contents; the run is on the page until it is stopped."""
    page, address = walk.page, f"http://{server.http}"
    other = await Phone("other", server.plain, key, folder / "abtest.state").start()
    await page.goto(f"{address}/console/apps/{key}/abtests")
    await page.get_by_text("There are no A/B tests yet.").wait_for()
    await page.get_by_role("link", name="New A/B test").click()
    await page.get_by_label("Name", exact=True).fill("Which words make people look at the autumn sale")
    await page.get_by_label("Title A").fill("Autumn sale")
    await page.get_by_label("Text A").fill("Up to 30 % off, on everything that is left of the summer")
    before = len(walk.complaints)
    await page.get_by_role("button", name="Save").click()
    await page.get_by_text("Enter at least two contents").wait_for()
    # Browsers note each answer that is an error.
    walk.complaints[before:] = [line for line in walk.complaints[before:] if "422" not in line]
    await walk.look("abtest-wrong")
    await page.get_by_label("Text B").fill("Look what became cheaper")
    await page.get_by_label("Choose the winner earlier").select_option("95")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_text("or earlier with 95% confidence").wait_for()
    await walk.look("abtest")
    await page.get_by_role("link", name="Send", exact=True).last.click()
    await page.get_by_text("Look what became cheaper").first.wait_for()
    await walk.look("abtest-confirm")
    await page.locator("main form button").first.click()
    await page.get_by_text("Targets by state").first.wait_for()
    await page.get_by_role("link", name="A/B tests", exact=True).click()
    await page.get_by_text("Running").wait_for()
    await walk.look("abtests")
    await page.get_by_role("link", name="Which words make people look").click()
    await page.get_by_text("wait for the winner").wait_for()
    await walk.look("abtest-running")
    await page.locator("summary", has_text="Stop").click()
    await page.get_by_role("button", name="Stop").click()
    await page.get_by_text("The A/B test was stopped.").wait_for()
    await walk.look("abtest-stopped")
    await page.locator("summary", has_text="Delete A/B test").click()
    await page.get_by_role("button", name="Delete A/B test").click()
    await page.get_by_text("The A/B test was deleted.").wait_for()
    await other.stop()
