"""The walk of console.py through templates: one is made, previewed with values, and deleted."""

from typing import Any

from stage import expect_equal


async def use_a_template(walk: Any, address: str, key: str) -> None:
    """A template in two languages: what is wrong is said at its field, and the preview has the values."""
    page = walk.page
    await page.goto(f"{address}/console/apps/{key}/templates")
    await page.get_by_text("There are no templates yet.").wait_for()
    await page.get_by_role("link", name="New template").click()
    await page.get_by_label("Name", exact=True).fill("Parcels that have arrived, for everybody who waits for one")
    await page.get_by_label("Title", exact=True).fill("Parcel {number}")
    await page.get_by_label("Text", exact=True).fill("Hello {name|dear customer}, parcel { has arrived")
    await page.get_by_label("Language 1").fill("de")
    await page.get_by_label("Text 1").fill("Paket {number} ist da")
    before = len(walk.complaints)
    await page.get_by_role("button", name="Save").click()
    await page.get_by_text("A brace begins no variable.").wait_for()
    expect_equal(await page.get_by_label("Language 1").input_value(), "de", "what was typed")
    # Browsers note each answer that is an error.
    walk.complaints[before:] = [line for line in walk.complaints[before:] if "422" not in line]
    await walk.look("template-wrong")
    await page.get_by_label("Text", exact=True).fill("Hello {name|dear customer}, your parcel has arrived")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_text("Hello dear customer, your parcel has arrived").wait_for()
    await walk.look("template")
    await page.get_by_label("number", exact=True).fill("A77")
    await page.get_by_label("name", exact=True).fill("Anna")
    await page.get_by_role("button", name="Show").click()
    await page.get_by_text("Hello Anna, your parcel has arrived").wait_for()
    await page.get_by_text("Paket A77 ist da").wait_for()
    await walk.look("template-preview")
    await page.get_by_role("link", name="Templates", exact=True).first.click()
    await page.locator("tr", has_text="Parcels that have arrived").wait_for()
    await walk.look("templates")
    await page.get_by_role("link", name="Parcels that have arrived").click()
    await page.locator("summary", has_text="Delete template").click()
    await page.get_by_role("button", name="Delete template").click()
    await page.get_by_text("The template was deleted.").wait_for()
