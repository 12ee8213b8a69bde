"""Proves in a real browser that people log in to the console with an identity provider of another site, with and without scripts,
over a crash of the server; and that they are told what to do when they may not, or when the provider fails.

    python3 console_signon.py --binary .build/debug/borealis [--pictures FOLDER]
"""

import argparse
import asyncio
import pathlib
import signal
import sys
import tempfile
from typing import Any

from console import CHROMIUM, FLAGS, Walk, set_up
from oidc_provider import CLIENT, SECRET, Provider
from playwright.async_api import Page, async_playwright
from stage import Server, expect, expect_equal

BUTTON = "Log in with Company account"
KIM = {"sub": "kim-1", "email": "kim@example.com", "email_verified": True, "name": "Kim"}


class Scene:
    """A server, its provider, and a way to log in."""

    def __init__(self, server: Server, provider: Provider, walk: Walk):
        self.server, self.provider, self.walk = server, provider, walk
        self.address = f"http://{server.http}"

    async def open(self, **options: Any) -> Page:
        page = await self.walk.open(**options)
        await page.goto(f"{self.address}/console/login")
        return page

    async def to_provider(self, page: Page, button: str = BUTTON) -> None:
        await page.get_by_role("link", name=button).click()
        await page.get_by_role("heading", name="Company").wait_for()
        expect(page.url.startswith(self.provider.issuer), f"the browser is at {page.url}")

    async def log_in(self, page: Page, **claims: Any) -> None:
        self.provider.claims = {**KIM, **claims}
        await self.to_provider(page)
        await page.get_by_role("button", name="Continue").click()

    async def fails(self, page: Page, text: str, name: str) -> None:
        await page.get_by_role("heading", name="Login failed").wait_for()
        found = await page.get_by_role("alert").inner_text()
        expect(text in found, f"{name}: {found!r}")
        await self.walk.look(name)


async def enter(scene: Scene) -> None:
    """A new person comes in with the role of a group, and returns to the page that was asked for."""
    page = await scene.open(locale="en-GB")
    await scene.walk.look("signon-login")
    await page.goto(f"{scene.address}/console/me")
    await page.get_by_text("Log in to continue.").wait_for()
    await scene.log_in(page, groups=["push-team", "others"])
    await page.get_by_role("heading", name="Your account").wait_for()
    await page.get_by_text("You log in with Company account and have no password here.").wait_for()
    expect_equal(await page.get_by_label("Current password").count(), 0, "fields for a password")
    await page.get_by_text("was created at the first single sign-on").wait_for()
    await scene.walk.look("signon-profile")
    await page.goto(f"{scene.address}/console/")
    await page.get_by_role("heading", name="Apps").wait_for()
    used = [name["name"] for name in await page.context.cookies() if name["value"]]
    expect("borealis_signon" not in used, "the ticket is still there")


async def follow_groups(scene: Scene, owner: Page) -> None:
    """A role ends with the group, at the next login; the owner sees where it comes from."""
    page = await scene.open(locale="en-GB")
    await scene.log_in(page, groups=["push-admins"])
    await page.get_by_role("heading", name="Apps").wait_for()
    await owner.goto(f"{scene.address}/console/accounts/1/people")
    await owner.get_by_text("By single sign-on").wait_for()
    scene.walk.page = owner
    await scene.walk.look("signon-members")
    expect_equal(await owner.locator("tr", has_text="Kim").get_by_label("Role").input_value(), "admin", "Kim's role")
    await owner.goto(f"{scene.address}/console/accounts/1/audit")
    await owner.locator("ol.story").get_by_text("had the role changed by single sign-on").first.wait_for()
    page = await scene.open(locale="en-GB")
    await scene.log_in(page, groups=["others"])
    await scene.fails(page, "You are not a member of any account here.", "signon-no-role")
    await owner.goto(f"{scene.address}/console/accounts/1/people")
    expect_equal(await owner.locator("tr", has_text="Kim").count(), 0, "Kim among the members")


async def do_without_scripts(scene: Scene) -> None:
    page = await scene.open(locale="en-GB", java_script_enabled=False)
    await scene.log_in(page, groups="push-team")
    await page.get_by_role("heading", name="Apps").wait_for()


async def crash(scene: Scene) -> None:
    """The server dies while somebody is at the provider."""
    page = await scene.open(locale="en-GB")
    scene.provider.claims = {**KIM, "groups": ["push-team"]}
    await scene.to_provider(page)
    await scene.server.stop(signal.SIGKILL)
    await scene.server.start()
    await page.get_by_role("button", name="Continue").click()
    await page.get_by_role("heading", name="Apps").wait_for()


async def connect_the_owner(scene: Scene, owner: Page) -> None:
    """Who has a password keeps it."""
    page = await scene.open(locale="en-GB")
    await scene.log_in(page, sub="zoe-1", email="zoe@example.com", groups=[])
    await page.get_by_role("heading", name="Apps").wait_for()
    await owner.goto(f"{scene.address}/console/me")
    await owner.get_by_text("You can log in with Company account or with your password.").wait_for()
    await owner.get_by_label("Current password").first.wait_for()


async def be_refused(scene: Scene) -> None:
    """What people see who decline, take an old answer, or come when the provider fails."""
    page = await scene.open(locale="en-GB")
    await scene.to_provider(page)
    await page.get_by_role("button", name="Cancel").click()
    await scene.fails(page, "did not let you in (access_denied)", "signon-declined")
    declined = page.url
    await page.get_by_role("link", name="Try again").click()
    await page.get_by_role("heading", name="Company").wait_for()
    await page.goto(declined)
    await scene.fails(page, "was started in another browser", "signon-ended")
    for fault in ("huge", "slow"):
        scene.provider.fault = fault
        page = await scene.open(locale="zh-CN" if fault == "slow" else "en-GB")
        if fault == "slow":
            await scene.to_provider(page, "使用 Company account 登录")
            await page.get_by_role("button", name="Continue").click()
            await page.get_by_text("无法连接 Company account").wait_for()
            await scene.walk.look("signon-slow-chinese")
        else:
            await scene.log_in(page)
            await scene.fails(page, "cannot be reached or did not answer as expected", "signon-huge")
    scene.provider.fault = ""


def keeps_secrets(scene: Scene) -> None:
    log = scene.server.log()
    expect("identity provider failed" in log, "the log has no failure of the provider")
    for secret in scene.provider.secrets:
        expect(secret not in log, "a secret is in the log")
    expect_equal(scene.provider.refusals, [], "what the provider refused")


async def scenario(server: Server, provider: Provider, pictures: pathlib.Path | None) -> None:
    await server.start()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        walk = Walk(browser, pictures)
        await set_up(walk, (await server.setup_link()))
        owner = walk.page
        scene = Scene(server, provider, walk)
        await enter(scene)
        await follow_groups(scene, owner)
        await do_without_scripts(scene)
        await crash(scene)
        await connect_the_owner(scene, owner)
        expect_equal([line for line in walk.complaints if "status of 403" not in line], [], "complaints of the browser")
        await be_refused(scene)
        await browser.close()
    keeps_secrets(scene)


async def run(binary: str, pictures: pathlib.Path | None) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = Server(binary, folder)
        provider = Provider(f"http://{server.http}/console/login/oidc/callback")
        secret = folder / "client-secret"
        secret.write_text(SECRET + "\n")
        server.add(
            "--public-url", f"http://{server.http}", "--oidc-issuer", provider.issuer, "--oidc-client-id", CLIENT,
            "--oidc-client-secret-file", str(secret), "--oidc-name", "Company account", "--oidc-role-claim", "groups",
            "--oidc-roles", "push-team=sender,push-admins=admin",
        )  # fmt: skip
        try:
            await scenario(server, provider, pictures)
        except Exception as problem:
            print(f"{type(problem).__name__}: {problem}\n{server.log()}\n{provider.refusals}", file=sys.stderr)
            return 1
        finally:
            await server.stop(signal.SIGTERM)
            provider.stop()
    print("ok - single sign-on in a browser")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--pictures", type=pathlib.Path)
    options = parser.parse_args()
    sys.exit(asyncio.run(run(options.binary, options.pictures)))
