"""Proves in a real browser, Debian's Chromium driven by Playwright, that the console does what people expect: from the setup link
to a push that a device shows, in both languages, at the widths of a phone, a tablet and a desk, without errors in its console.

    python3 console.py --binary .build/debug/borealis [--pictures FOLDER]
"""

import argparse
import asyncio
import csv
import importlib.resources
import pathlib
import signal
import sys
import tempfile

from channel_simulator import Simulator
from console_abtests import use_an_ab_test
from console_brakes import use_the_brakes
from console_docs import read_the_docs
from console_frame import use_the_frame
from console_limits import fill_an_alias, visit_as_viewer
from console_returning import go_back, lose_the_session, read_over_a_slow_network, recover, send_too_much
from console_segments import use_a_segment
from console_sending import fill_in_a_push, plan_a_push, plan_in_own_time, take_back
from console_settings import configure, configure_in_chinese
from console_templates import use_a_template
from console_virtual import two_tabs, virtual_device
from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright
from stage import DEADLINE, Phone, Server, expect, expect_equal

PASSWORD = "correct horse battery"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--disable-sync"]  # fmt: skip
WIDTHS = (375, 768, 1440)
SHOWN = 1  # the kind of a receipt, Docs/protocol.md

# Deque's rules for WCAG 2.2, levels A and AA, and for what is good practice besides.
AXE = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SETTLED = "Promise.all(document.getAnimations().map(animation => animation.finished.catch(() => 0)))"
# How far parts of the page have moved without anybody doing anything, and which (Layout Instability API).
SHIFTS = """new PerformanceObserver((list) => {
  for (const { hadRecentInput, value, sources } of list.getEntries()) {
    if (hadRecentInput) continue;
    window.shifted = (window.shifted ?? 0) + value;
    window.moved = [...window.moved ?? [], ...sources.map(({ node }) => node?.outerHTML?.slice(0, 80))];
  }
}).observe({type: "layout-shift", buffered: true});"""
VIOLATIONS = """async (rules) => (await axe.run(document, {runOnly: rules, resultTypes: ["violations"]})).violations
  .map(rule => `${rule.id}: ${rule.nodes.map(node => node.target.join(" ")).join(", ")}`)"""


class Walk:
    """A way through the pages. What a browser complains of on the way is a failure."""

    def __init__(self, browser: Browser, pictures: pathlib.Path | None):
        self._browser, self._pictures, self._count = browser, pictures, 0
        self.complaints: list[str] = []
        self.page: Page

    async def open(self, **options: str) -> Page:
        """A new browser without cookies."""
        context = await self._browser.new_context(**options)  # type: ignore[arg-type]
        context.set_default_timeout(DEADLINE * 1000)
        await context.add_init_script(SHIFTS)
        self.page = await context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", self._miss)
        return self.page

    def _miss(self, request: Request) -> None:
        # A download is a page that the browser does not go to, and a page that is left asks for nothing more.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"failed: {request.url}: {request.failure}")

    def _hear(self, line: ConsoleMessage) -> None:
        if line.type in ("error", "warning"):
            self.complaints.append(line.text)

    async def look(self, name: str) -> None:
        """Checks the page at all widths, and takes pictures if they are wanted."""
        shifted, moved = await self.page.evaluate("[window.shifted ?? 0, window.moved ?? []]")
        # Where a push or a device is followed, what comes makes room for itself.
        most = 0.1 if await self.page.locator("[data-trace], [data-device-status]").count() else 0.01
        expect(shifted <= most, f"{name}: its parts moved by {shifted}: {moved}")
        for width in WIDTHS:
            await self.page.set_viewport_size({"width": width, "height": 900})
            over = await self.page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            expect(over <= 0, f"{name} is {over} pixels too wide for {width}")
            if self._pictures:
                self._count += 1
                path = self._pictures / f"{self._count:02}-{name}-{width}.png"
                await self.page.screenshot(path=path, full_page=True)
        # What fades in has its colours only at the end.
        await self.page.evaluate(SETTLED)
        await self.page.evaluate(AXE)
        expect_equal(await self.page.evaluate(VIOLATIONS, RULES), [], f"{name}: rules of axe")


async def set_up(walk: Walk, link: str) -> None:
    page = await walk.open(locale="en-GB")
    await page.goto(link)
    await walk.look("setup")
    await page.get_by_label("Your name").fill("Zoe")
    await page.get_by_label("Email address").fill("zoe@example.com")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Set up").click()
    await page.get_by_role("heading", name="Apps").wait_for()
    await walk.look("home")


async def make_app(walk: Walk) -> str:
    page = walk.page
    await page.get_by_role("link", name="Create app").click()
    await page.get_by_label("App name").fill("Northern Lights")
    await page.get_by_role("button", name="Create").click()
    key = await page.locator("dl.keys code").first.inner_text()
    await walk.look("keys")
    await page.get_by_role("link", name="Back to the app").click()
    await page.get_by_role("heading", name="Northern Lights").wait_for()
    await walk.look("app")
    return key


async def push(walk: Walk, phone: Phone) -> None:
    page, device = walk.page, phone.device.registration_id
    names = page.get_by_label("Registration IDs")
    await page.get_by_role("link", name="Send", exact=True).click()
    await names.fill("0123456789abcdef012")
    await page.get_by_text("This audience matches no device.").wait_for()
    await names.fill(device)
    await page.get_by_text("Reaches 1: 0 iOS, 1 others; 1 online now").wait_for()
    await page.get_by_label("Title").fill("Hello")
    await page.get_by_label("Text", exact=True).fill("The sky is <green> tonight")
    banner = await page.locator(".banner").inner_text()
    expect(banner.endswith("The sky is <green> tonight"), f"the preview shows {banner!r}")
    await walk.look("push")
    await page.get_by_role("button", name="Next").click()
    await page.get_by_text("Target devices: 1").wait_for()
    await page.get_by_text("If it is sent now, it goes to 1 of 1 devices.").wait_for()
    row = page.get_by_role("row", name="Direct connection, now 1 1 0")
    expect_equal(await row.count(), 1, "rows of the forecast")
    await walk.look("confirm")
    await page.get_by_role("link", name="Change").click()
    expect_equal(await names.input_value(), device, "the device after thinking better of it")
    await page.get_by_role("button", name="Next").click()
    await page.get_by_role("button", name="Send now (1)").click()
    await phone.shows("The sky is <green> tonight")
    phone.device.receipt(SHOWN, phone.pushes[0].msg_id)
    for step in ("Delivered", "Shown"):
        row = page.locator("ol.funnel li", has_text=step)
        await row.locator("strong", has_text="1").wait_for()
    row = page.locator("[data-trace] table").get_by_role("row", name="Direct connection 1 1 1")
    expect_equal(await row.count(), 1, "rows with forecast and outcome")
    await page.get_by_text("Forecast at the time of sending").click()
    await page.get_by_text("When it was sent, it was expected to go to 1 of 1 devices.").wait_for()
    await walk.look("result")


async def look_back(walk: Walk, phone: Phone) -> None:
    page = walk.page
    await page.get_by_role("link", name="History").click()
    await page.get_by_role("link", name="Hello The sky is <green> tonight").wait_for()
    await walk.look("history")
    await page.get_by_role("link", name="Devices", exact=True).click()
    await page.get_by_label("Registration ID, alias, tag or push token").fill(phone.device.registration_id)
    await page.get_by_role("button", name="Find").click()
    await page.get_by_text("online since").wait_for()
    await walk.look("device")


async def study_results(walk: Walk, phone: Phone) -> None:
    """The history with its filters and its file, one push with its results, sending it again, and the charts."""
    page = walk.page
    await page.get_by_role("link", name="History").click()
    for text, number in [("nothing like it", 0), ("GREEN", 2)]:
        await page.get_by_label("Text or msg_id").fill(text)
        await page.get_by_label("Sent by").select_option("Console")
        async with page.expect_navigation():
            await page.get_by_role("button", name="Search").click()
        await page.get_by_role("link", name="Show all").wait_for()
        expect_equal(await page.locator("table.history tr.push").count(), number, f"pushes with {text!r}")
    await walk.look("history-found")
    async with page.expect_download() as download:
        await page.get_by_role("link", name="Download as CSV").click()
    path = await (await download.value).path()
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    expect_equal([row["Title"] for row in rows], ["Hello", "Aurora"], "titles in the file")

    await page.get_by_role("link", name="Hello The sky is <green> tonight").click()
    await page.get_by_role("heading", name="Why didn't it arrive?").wait_for()
    await page.get_by_text("curl", exact=True).click()
    await page.get_by_text("$MASTER_SECRET").first.wait_for()
    await walk.look("push-page")
    async with page.expect_download() as download:
        await page.get_by_role("link", name="Download as CSV").click()
    with (await (await download.value).path()).open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    wanted = [(phone.device.registration_id, "delivered")]
    expect_equal([(row["Registration ID"], row["State"]) for row in rows], wanted, "targets in the file")

    await page.get_by_role("link", name="Send again").click()
    await page.get_by_text("Target devices: 1").wait_for()
    await walk.look("send-again")
    await page.get_by_role("button", name="Send now (1)").click()
    await phone.shows(*["The sky is <green> tonight"] * 2)
    await page.locator("[data-trace] h2 + .state", has_text="delivered").wait_for()
    await page.get_by_role("link", name="Statistics").click()
    await page.locator("figure.chart svg").nth(3).wait_for()
    expect_equal(await page.locator("figure.chart").count(), 4, "charts")
    await page.get_by_text("Show as table").click()
    await walk.look("charts")
    await page.get_by_role("link", name="30 days").click()
    await page.get_by_text("By day").wait_for()
    await walk.look("charts-days")


async def search_for_anything(walk: Walk, address: str, key: str, device: str) -> None:
    """Ctrl+K and a name lead to the thing itself, or to a list; on a phone there is a link in place of the field."""
    page = walk.page
    await page.goto(f"{address}/console/search?q=e")
    await page.get_by_role("heading", name="Search").wait_for()
    await page.get_by_role("link", name="Northern Lights").wait_for()
    await walk.look("search")
    await page.goto(f"{address}/console/apps/{key}/pushes")
    await page.set_viewport_size({"width": 375, "height": 900})
    await page.keyboard.press("Control+k")
    await page.get_by_label("msg_id, registration ID").fill("<nothing>")
    await page.keyboard.press("Enter")
    await page.get_by_text("Nothing matches “<nothing>”.").wait_for()
    await walk.look("search-nothing")
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.keyboard.press("Control+k")
    await page.keyboard.type(device)
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"{address}/console/apps/{key}/devices/{device}")


async def list_devices(walk: Walk, address: str, key: str, device: str) -> None:
    """The list of devices, those that match a filter, and what is shown if none does."""
    page = walk.page
    await page.goto(f"{address}/console/apps/{key}/devices")
    row = page.locator("table.devices tbody tr", has_text=device)
    await row.get_by_text("online").wait_for()
    await walk.look("devices")
    await page.set_viewport_size({"width": 375, "height": 900})
    await walk.look("devices-phone")
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.get_by_label("Connection", exact=True).select_option("offline")
    await page.get_by_role("button", name="Find").click()
    await page.wait_for_url("**connection=offline**")
    expect_equal(await row.count(), 0, "connected devices among the others")
    await page.get_by_label("Connection", exact=True).select_option("online")
    await page.get_by_label("Token", exact=True).select_option("apns:sandbox")
    await page.get_by_role("button", name="Find").click()
    await page.get_by_text("No device matches.").wait_for()
    await walk.look("devices-none")
    await page.get_by_role("link", name="Show all").click()
    await row.get_by_role("link", name="Send a push").click()
    await page.wait_for_url(lambda url: "/push?" in url and f"registration_id={device}" in url)


async def ask_why(walk: Walk, phone: Phone, address: str, key: str) -> None:
    """From a device to the reason for which one of its pushes arrived, or did not; and back, with the keyboard."""
    page, device = walk.page, phone.device.registration_id
    await list_devices(walk, address, key, device)
    await search_for_anything(walk, address, key, device)
    await page.get_by_role("link", name="Why didn't it arrive?").first.click()
    await page.get_by_text("It was delivered to the device.").wait_for()
    steps = await page.locator("ol.steps li").count()
    expect(steps > 6, f"{steps} steps")
    await walk.look("why-arrived")
    field = page.get_by_label("Registration ID, alias or push token")
    await field.fill("nobody")
    await field.press("Enter")
    await page.get_by_text("The app has no such registration.").first.wait_for()
    await page.get_by_text("What to do").first.wait_for()
    await walk.look("why-failed")
    await page.emulate_media(color_scheme="dark")
    await walk.look("why-failed-dark")
    await page.goto(f"{address}/console/apps/{key}/devices/{device}")
    await walk.look("device-dark")
    await page.emulate_media(color_scheme="light")


async def speak_chinese(walk: Walk, address: str, key: str, device: str, folder: pathlib.Path) -> None:
    page = walk.page
    await page.locator(".me summary").click()
    await page.locator(".me").get_by_role("link", name="Your account").click()
    await page.get_by_label("Language").select_option("zh")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_role("heading", name="我的账号").wait_for()
    await walk.look("profile-chinese")
    await page.goto(f"{address}/console/apps/{key}/push")
    await page.get_by_role("heading", name="发送推送").wait_for()
    await walk.look("push-chinese")
    for name, heading in [("pushes", "推送历史"), ("charts", "统计")]:
        await page.goto(f"{address}/console/apps/{key}/{name}")
        await page.get_by_role("heading", name=heading).wait_for()
        await walk.look(f"{name}-chinese")
    await page.goto(f"{address}/console/apps/{key}/devices/{device}")
    await page.get_by_role("heading", name="最近事件").wait_for()
    await walk.look("device-chinese")
    await page.get_by_role("link", name="为什么没收到？").first.click()
    await page.get_by_text("推送已送达设备。").wait_for()
    await walk.look("why-chinese")
    await page.goto(f"{address}/console/apps/{key}/virtual")
    await page.get_by_text("未启动").wait_for()
    await walk.look("virtual-chinese")
    await configure_in_chinese(walk, address, key, folder)
    await page.locator(".me summary").click()
    await page.get_by_role("button", name="退出").click()
    await page.get_by_role("heading", name="Log in").wait_for()
    page = await walk.open(locale="zh-CN", color_scheme="dark")
    await page.goto(f"{address}/")
    await page.get_by_role("heading", name="登录").wait_for()
    await walk.look("login-dark")


async def scenario(server: Server, folder: pathlib.Path, account: pathlib.Path, pictures: pathlib.Path | None) -> None:
    await server.start()
    link = await server.setup_link()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        walk = Walk(browser, pictures)
        await set_up(walk, link)
        key = await make_app(walk)
        await virtual_device(walk)
        await two_tabs(walk)
        phone = await Phone("zoe's phone", server.plain, key, folder / "phone.json").start()
        await push(walk, phone)
        await use_the_frame(walk, f"http://{server.http}", key)
        before = walk.page
        await read_the_docs(walk, f"http://{server.http}")
        walk.page = before
        await look_back(walk, phone)
        await read_over_a_slow_network(walk, f"http://{server.http}", key)
        await study_results(walk, phone)
        await ask_why(walk, phone, f"http://{server.http}", key)
        await phone.device.set_tags(["news"])
        await fill_in_a_push(walk, f"http://{server.http}", key, phone.device.registration_id)
        await take_back(walk, f"http://{server.http}", key)
        await plan_a_push(walk, f"http://{server.http}", key, phone.device.registration_id)
        await plan_in_own_time(walk, f"http://{server.http}", key)
        await use_a_segment(walk, f"http://{server.http}", key)
        await use_a_template(walk, f"http://{server.http}", key)
        await use_an_ab_test(walk, server, key, folder)
        await go_back(walk, f"http://{server.http}", key, phone.device.registration_id)
        await lose_the_session(walk, f"http://{server.http}", key, PASSWORD)
        await configure(walk, server, key, folder, account)
        await fill_an_alias(walk, server, key, folder)
        await visit_as_viewer(walk, f"http://{server.http}", key, PASSWORD)
        await use_the_brakes(walk, f"http://{server.http}", key, phone, PASSWORD)
        await recover(walk, f"http://{server.http}")
        await send_too_much(server, key)
        device = phone.device.registration_id
        await speak_chinese(walk, f"http://{server.http}", key, device, folder)
        await phone.stop()
        await browser.close()
        expect_equal(walk.complaints, [], "complaints of the browser")


async def run(binary: str, pictures: pathlib.Path | None) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        simulator = await Simulator().start(binary, folder / "google")
        server = Server(binary, folder, ("--fcm-url", simulator.url))
        try:
            await scenario(server, folder, pathlib.Path(simulator.key), pictures)
        except Exception as problem:
            print(f"{type(problem).__name__}: {problem}\n{server.log()}", file=sys.stderr)
            return 1
        finally:
            await server.stop(signal.SIGTERM)
            await simulator.stop()
    print("ok - the console in a browser")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--pictures", type=pathlib.Path)
    options = parser.parse_args()
    sys.exit(asyncio.run(run(options.binary, options.pictures)))
