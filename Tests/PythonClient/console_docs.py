"""The part of the walk through the console that reads the documentation: without a login, in both languages, in light and in dark,
and without JavaScript."""

from typing import Any

from stage import expect, expect_equal

PAGES = ["", "/readme", "/operations/settings", "/api/jpush", "/api/reference", "/api/reference/push", "/architecture"]


def name_of(path: str) -> str:
    return f"docs{path.replace('/', '-')}"


async def read_the_docs(walk: Any, address: str) -> None:
    page = await walk.open(locale="en-GB")
    for path in PAGES:
        await page.goto(f"{address}/docs{path}")
        await page.locator("main h1").wait_for()
        await walk.look(name_of(path))
    await page.goto(f"{address}/docs")
    await find_a_page(walk)
    await copy_an_example(walk, address)
    # A link to a heading shows it below the bar.
    await page.goto(f"{address}/docs/console")
    await page.get_by_role("navigation", name="On this page").get_by_role("link", name="Security").click()
    await page.locator("h2#security").wait_for()
    top = await page.locator("h2#security").evaluate("heading => heading.getBoundingClientRect().top")
    expect(top > 50, f"the heading is {top} pixels below the top, under the bar")
    await page.context.close()
    await read_in_the_dark(walk, address)
    await read_without_scripts(walk, address)


async def find_a_page(walk: Any) -> None:
    """Ctrl+K leads to the search of each page, and a result to a section."""
    page = walk.page
    await page.keyboard.press("Control+k")
    await page.keyboard.type("time to live")
    await page.keyboard.press("Enter")
    await page.locator("ol.results mark").first.wait_for()
    await walk.look("docs-search")
    await page.locator("ol.results a").first.click()
    await page.locator("article, .call").first.wait_for()


async def copy_an_example(walk: Any, address: str) -> None:
    """One example is open at a time."""
    page = walk.page
    await page.goto(f"{address}/docs/api/reference/push")
    await page.locator(".examples summary", has_text="Python").click()
    await page.get_by_text("urllib.request.urlopen").first.wait_for()
    expect_equal(await page.locator(".examples details[open]").count(), 1, "open examples")
    await walk.look("docs-example")


async def read_in_the_dark(walk: Any, address: str) -> None:
    page = await walk.open(locale="zh-CN", color_scheme="dark")
    for path in ["", "/operations/settings", "/api/reference/push"]:
        await page.goto(f"{address}/docs{path}")
        await page.locator("main h1").wait_for()
        await walk.look(f"{name_of(path)}-dark")
    await page.goto(f"{address}/docs/search?q=回调")
    await page.locator("ol.results a").first.wait_for()
    await walk.look("docs-search-dark")
    await page.get_by_role("link", name="English").click()
    await page.get_by_role("heading", name="Search").wait_for()
    await page.context.close()


async def read_without_scripts(walk: Any, address: str) -> None:
    page = await walk.open(locale="en-GB", java_script_enabled=False)
    await page.goto(f"{address}/docs?lang=zh")
    await page.set_viewport_size({"width": 375, "height": 900})
    await page.get_by_role("button", name="菜单").click()
    await page.locator(".side").get_by_role("link", name="术语表").click()
    await page.get_by_role("heading", name="Glossary").wait_for()
    await page.get_by_role("link", name="搜索文档").click()
    await page.get_by_label("关键词、设置项、字段或接口路径").fill("request-log")
    await page.get_by_role("button", name="搜索").click()
    await page.locator("ol.results").get_by_role("link", name="设置项").first.click()
    await page.get_by_role("heading", name="Settings of borealis serve").wait_for()
    expect(page.url.endswith("/docs/operations/settings?lang=zh"), f"the language is lost at {page.url}")
    await page.context.close()
