"""The part of the walk through the console that goes by what surrounds every page: the sidebar, the menu that holds it on a phone,
and the menus of the bar; with the keyboard alone, and without JavaScript."""

from typing import Any

from stage import expect, expect_equal

FOCUS = "document.activeElement.getAttribute('href') ?? document.activeElement.tagName"


async def use_the_frame(walk: Any, address: str, key: str) -> None:
    page, app = walk.page, f"/console/apps/{key}"
    await page.goto(f"{address}{app}/pushes")
    expect_equal(await page.title(), "History · Northern Lights · Borealis", "the title")
    current = page.locator(".side [aria-current=page]")
    expect_equal(await current.inner_text(), "History", "the page that is marked")
    await switch_apps(walk, address, key)
    await open_the_menu(walk, f"{address}{app}/pushes")
    # The same without a script.
    cookies = await page.context.cookies()
    plain = await walk.open(locale="en-GB", java_script_enabled=False)
    await plain.context.add_cookies(cookies)
    await plain.goto(f"{address}{app}/pushes")
    await open_the_menu(walk, f"{address}{app}/pushes")
    await plain.locator(".apps-menu summary").click()
    await plain.get_by_role("link", name="All apps").click()
    await plain.get_by_role("heading", name="Apps").wait_for()
    await plain.locator(".me summary").click()
    await plain.get_by_role("button", name="中文").click()
    await plain.get_by_role("heading", name="应用").wait_for()
    await plain.locator(".me summary").click()
    await plain.get_by_role("button", name="English").click()
    await plain.get_by_role("heading", name="Apps").wait_for()
    await plain.context.close()
    walk.page = page


async def switch_apps(walk: Any, address: str, key: str) -> None:
    """The list of apps opens by the keyboard, closes by Escape and when the focus leaves it, and leads to an app."""
    page = walk.page
    menu, entry = page.locator(".apps-menu"), page.locator(".apps-menu a").first
    await menu.locator("summary").focus()
    await page.keyboard.press("Enter")
    await entry.wait_for()
    await walk.look("apps-menu")
    await page.keyboard.press("Escape")
    await entry.wait_for(state="hidden")
    expect_equal(await page.evaluate(FOCUS), "SUMMARY", "the focus after Escape")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Shift+Tab")
    await entry.wait_for(state="hidden")
    await page.locator(".me summary").focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Log out").wait_for()
    await walk.look("account-menu")
    await page.mouse.click(700, 600)
    await page.get_by_role("button", name="Log out").wait_for(state="hidden")
    await menu.locator("summary").click()
    await page.keyboard.press("Tab")
    expect_equal(await page.evaluate(FOCUS), f"/console/apps/{key}", "the first app of the list")
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="Northern Lights").wait_for()


async def open_the_menu(walk: Any, place: str) -> None:
    """On a phone the pages are behind a button, which the keyboard opens and Escape closes."""
    page = walk.page
    await page.goto(place)
    await page.set_viewport_size({"width": 375, "height": 900})
    side = page.locator("#side")
    expect(not await side.is_visible(), "the sidebar covers the page of a phone")
    await page.get_by_role("button", name="Menu").focus()
    await page.keyboard.press("Enter")
    await side.wait_for()
    await page.keyboard.press("Escape")
    await side.wait_for(state="hidden")
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("link", name="Devices", exact=True).click()
    await page.get_by_role("heading", name="Devices", exact=True).wait_for()
    expect(not await side.is_visible(), "the sidebar stays open on the next page")
    await page.set_viewport_size({"width": 1440, "height": 900})
    expect(await side.is_visible(), "there is no sidebar at a desk")
