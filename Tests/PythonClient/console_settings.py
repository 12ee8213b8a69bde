"""The part of the walk through the console that is about settings: credentials for Apple, callbacks, limits, groups, and the
installation."""

import asyncio
import base64
import pathlib
from typing import Any

from getui import Getui
from mail import BUNDLE, push_certificate
from stage import Server, expect, expect_equal


async def configure(walk: Any, server: Server, key: str, folder: pathlib.Path, account: pathlib.Path) -> None:
    """`account` is the key file of a service account that the simulator knows."""
    page, address = walk.page, f"http://{server.http}"
    await page.goto(f"{address}/console/apps/{key}/settings")
    # The system chose the ports; the page names those it chose.
    (tls, plain) = (listener.rpartition(":")[2] for listener in (server.tls, server.plain))
    await page.get_by_text(f"{tls} (TLS), {plain} (without TLS)").wait_for()
    await walk.look("settings")
    await replace_secret(walk, address, key)
    await use_getui(walk, address, key)
    await use_keys(walk, address, key)
    await upload_account(walk, address, key, account)
    await page.get_by_role("link", name="All channels").click()
    await page.get_by_role("link", name="APNs").click()
    await page.get_by_role("heading", name="Upload a certificate (.p12)").wait_for()
    await walk.look("apple-empty")
    form = page.locator("form", has=page.locator("input[name=certificate]"))
    before = len(walk.complaints)
    await upload(form, folder, 23, "wrong")
    await page.get_by_text("The file was refused: the password is wrong.").wait_for()
    # The browser complains of the status as well, as it should.
    expect_equal([line for line in walk.complaints[before:] if "422" not in line], [], "complaints")
    del walk.complaints[before:]
    await upload(form, folder, 23, "x")
    await page.get_by_text(f"This certificate is for {BUNDLE}, sandbox, and expires in 23 days.").wait_for()
    await page.get_by_text("Sandbox: the APNs certificate expires in 23 days.").wait_for()
    await walk.look("apple")
    await page.goto(f"{address}/console/")
    await page.get_by_text("APNs needs attention in one of your apps.").wait_for()
    await walk.look("home-alert")
    await page.get_by_role("link", name="Certificates and keys").click()
    await page.get_by_role("heading", name="Certificates and keys").wait_for()
    expect(await page.get_by_text("expires in 23 days").count() == 1, "the calendar lacks the certificate")
    await walk.look("calendar")
    row = page.get_by_role("row").filter(has_text="expires in 23 days")
    await row.get_by_role("link", name="Northern Lights").click()
    await page.get_by_text("Remove", exact=True).click()
    await page.get_by_role("button", name="Remove permanently").click()
    await page.get_by_text("The credential was removed.").wait_for()
    await rest(walk, address, key)


async def upload_account(walk: Any, address: str, key: str, account: pathlib.Path) -> None:
    """The channels, none of which is set up, and FCM's page: a file that is no key, the key, a pause, and its end."""
    page = walk.page
    await page.get_by_role("link", name="Channels", exact=True).click()
    for channel in ("APNs", "FCM", "Web Push"):
        entry = page.get_by_role("listitem").filter(has=page.get_by_role("link", name=channel))
        await entry.get_by_text("Not set up").wait_for()
    await walk.look("channels-empty")
    await page.get_by_role("link", name="FCM").click()
    await page.get_by_role("heading", name="Upload a service account key (.json)").wait_for()
    await walk.look("fcm-empty")
    form = page.locator("form", has=page.locator("input[name=file]"))
    before = len(walk.complaints)
    await form.locator("input[type=file]").set_input_files(
        {"name": "google-services.json", "mimeType": "application/json", "buffer": b'{"project_info": {}}'}
    )
    await form.locator("button").click()
    await page.get_by_text("This is not the key of a service account.").wait_for()
    expect_equal([line for line in walk.complaints[before:] if "422" not in line], [], "complaints")
    del walk.complaints[before:]
    await form.locator("input[type=file]").set_input_files(account)
    await form.locator("button").click()
    await page.get_by_text("This credential is for: Project demo-project.").wait_for()
    await page.get_by_text("The service accepted the credential. It is now in use.").wait_for()
    await walk.look("fcm")
    await page.get_by_role("button", name="Pause").click()
    await page.get_by_text("FCM: pushes are not sent: paused: by Zoe.").wait_for()
    await walk.look("fcm-paused")
    await page.get_by_role("button", name="Resume").click()
    await page.get_by_text("The service accepted the credential at").wait_for()
    await page.get_by_role("link", name="All channels").click()
    await walk.look("channels")
    await set_up_web_push(walk)


async def set_up_web_push(walk: Any) -> None:
    """A key for Web Push is made for a contact, and stays when the contact changes."""
    page = walk.page
    await page.get_by_role("link", name="Web Push").click()
    await page.get_by_role("heading", name="Set up a key (VAPID)").wait_for()
    await walk.look("web-push-empty")
    before = len(walk.complaints)
    await page.get_by_label("Contact").fill("zoe@example.com")
    await page.get_by_role("button", name="Save key").click()
    await page.get_by_text("Enter an address with a public domain, such as mailto:push@example.com").wait_for()
    expect_equal([line for line in walk.complaints[before:] if "422" not in line], [], "complaints")
    del walk.complaints[before:]
    await page.get_by_label("Contact").fill("mailto:zoe@example.com")
    await page.get_by_role("button", name="Save key").click()
    await page.get_by_text("The credential is now in use.").wait_for()
    key = await page.locator("ul.credentials code").inner_text()
    expect_equal(len(key), 87, "characters of the public key")
    await copy_without_clipboard(walk)
    await walk.look("web-push")
    await page.get_by_label("Contact").fill("https://example.com")
    await page.get_by_role("button", name="Save key").click()
    await page.get_by_text("This credential is for: Contact https://example.com.").wait_for()
    expect_equal(await page.locator("ul.credentials code").inner_text(), key, "the key for another contact")


async def replace_secret(walk: Any, address: str, key: str) -> None:
    """A new secret is made once, whatever the browser repeats; the old one works until it is retired."""
    page = walk.page
    await page.get_by_role("button", name="Create a new secret").click()
    await copy_without_clipboard(walk)
    first = await secret_shown(page)
    await page.reload()
    await page.get_by_text("This form was already submitted").wait_for()
    await page.get_by_text("not since the server started").wait_for()
    await walk.look("two-secrets")
    await accepts(walk, address, key, first, True)
    await page.get_by_text("New secret lost").click()
    await page.get_by_role("button", name="Create another").click()
    second = await secret_shown(page)
    await accepts(walk, address, key, first, False)
    await accepts(walk, address, key, second, True)
    await page.goto(f"{address}/console/apps/{key}/settings")
    await page.get_by_text("Retire the old secret").first.click()
    await page.get_by_role("button", name="Retire the old secret").click()
    await page.get_by_text("The old secret no longer works.").wait_for()
    await page.reload()
    expect_equal(await page.get_by_text("The old secret no longer works.").count(), 0, "words said twice")
    # An address that only a form has leads to its page.
    await page.goto(f"{address}/console/apps/{key}/settings/rotate")
    await page.get_by_role("button", name="Create a new secret").wait_for()


async def use_getui(walk: Any, address: str, key: str) -> None:
    """A master secret for Getui's API is behind a button when it is made, and nowhere afterwards."""
    page = walk.page
    await page.get_by_role("button", name="Create a master secret").click()
    expect(not await page.locator("dl.keys code").last.is_visible(), "the secret is not there to be read at once")
    await page.get_by_text("Show", exact=True).click()
    await walk.look("getui-secret")
    secret = await secret_shown(page)
    app = Getui(address, key, key, secret)
    await asyncio.to_thread(app.quota)
    await page.get_by_role("link", name="Back to the app").click()
    await page.goto(f"{address}/console/apps/{key}/settings")
    await page.get_by_text("Shown only when it was created").wait_for()
    expect_equal(await page.get_by_text(secret).count(), 0, "secrets shown later")
    await walk.look("settings-getui")


async def use_keys(walk: Any, address: str, key: str) -> None:
    """A key does what its rights say until it is revoked, and a refused call is found in the log."""
    page = walk.page
    await page.get_by_role("link", name="API keys").click()
    await page.get_by_text("No keys yet.").wait_for()
    await page.get_by_label("Name").fill("Shop in Shanghai, which sends the receipts of orders to its customers")
    await page.get_by_label("Push", exact=True).check()
    await page.get_by_label("Reports", exact=True).check()
    await page.get_by_label("Networks, one per line").fill("127.0.0.0/8\n::1/128")
    await walk.look("api-keys-new")
    await page.get_by_role("button", name="Create key").click()
    secret = await secret_shown_above(page)
    await walk.look("api-keys-created")
    await accepts(walk, address, key, secret, True)
    login = base64.b64encode(f"{key}:{secret}".encode()).decode()
    for path in ("tags", "aliases/a-name"):
        await page.request.get(f"{address}/v3/{path}", headers={"Authorization": f"Basic {login}"})
    await page.request.post(
        f"{address}/v3/push", headers={"Authorization": f"Basic {login}"}, data='{"platform": "all"}')  # fmt: skip
    await page.get_by_role("link", name="Back to the keys").click()
    await walk.look("api-keys")
    await page.get_by_role("link", name="Requests").last.click()
    await page.get_by_text("lacks the right").first.wait_for()
    await walk.look("requests")
    await page.get_by_label("Code").fill("1002")
    await page.get_by_role("button", name="Search").click()
    await page.get_by_text("Missing parameter: audience").wait_for()
    expect_equal(await page.get_by_text("lacks the right").count(), 0, "calls with another code")
    await page.get_by_role("link", name="Show all").click()
    await page.get_by_role("link", name="API keys").click()
    await page.locator("summary", has_text="Revoke").click()
    await walk.look("api-keys-revoke")
    await page.get_by_role("button", name="Revoke").click()
    await page.get_by_text("The key is revoked.").wait_for()
    await accepts(walk, address, key, secret, False)
    await page.goto(f"{address}/console/apps/{key}/settings")


async def secret_shown_above(page: Any) -> str:
    return str(await page.locator("dl.keys code").nth(1).inner_text())


async def secret_shown(page: Any) -> str:
    return str(await page.locator("dl.keys code").last.inner_text())


async def accepts(walk: Any, address: str, key: str, secret: str, wanted: bool) -> None:
    login = base64.b64encode(f"{key}:{secret}".encode()).decode()
    answer = await walk.page.request.get(f"{address}/v3/push/cid", headers={"Authorization": f"Basic {login}"})
    expect_equal(answer.status, 200 if wanted else 401, "an answer to a secret")


async def copy_without_clipboard(walk: Any) -> None:
    """Without TLS browsers have no clipboard: what is marked must be what the button is for."""
    page = walk.page
    for works in (True, False):
        await page.evaluate(
            """(works) => {
              Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
              document.execCommand = () => works;
            }""", works)  # fmt: skip
        for button in await page.locator("[data-copy]").all():
            await button.click()
            marked = await page.evaluate("getSelection().toString()")
            expect_equal(marked, await button.get_attribute("data-copy"), "what is marked")
            wanted = await button.get_attribute("data-done" if works else "data-manual")
            expect_equal(await button.inner_text(), wanted, "what the button says")
    await page.evaluate("delete navigator.clipboard")


async def upload(form: Any, folder: pathlib.Path, days: int, password: str) -> None:
    await form.locator("input[type=file]").set_input_files(push_certificate(folder, days))
    await form.get_by_label("File password").fill(password)
    await form.locator("button").click()


async def rest(walk: Any, address: str, key: str) -> None:
    page = walk.page
    await page.get_by_role("link", name="Callbacks").click()
    await page.get_by_label("URL", exact=True).fill("https://app.example.com/push-events")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_text("The secret is shown only once.").wait_for()
    await walk.look("callbacks")
    await page.get_by_role("link", name="Plan and limits").click()
    await page.get_by_label("Networks, one per line").fill("127.0.0.0/8\n::1/128")
    await page.locator("form", has=page.locator("#networks")).get_by_role("button", name="Save").click()
    await page.get_by_text("Saved.").wait_for()
    await walk.look("limits")
    await page.goto(f"{address}/console/accounts/1/groups")
    await page.get_by_label("Group name").fill("All our apps")
    await page.get_by_label("Northern Lights").check()
    await page.get_by_role("button", name="Create").click()
    await page.get_by_text("Group master secret").wait_for()
    await page.get_by_role("link", name="Back to groups").click()
    await walk.look("groups")
    await page.goto(f"{address}/console/operator")
    await page.get_by_role("heading", name="Installation", exact=True).wait_for()
    # Nothing is promised that needs a mail server.
    await page.get_by_text("The server sends no mail").wait_for()
    await walk.look("operator")
    await page.goto(f"{address}/console/me")
    await page.get_by_role("button", name="Set up an authenticator app").click()
    await page.get_by_role("img", name="QR code of the key below").wait_for()
    await walk.look("authenticator")
    await page.goto(f"{address}/console/apps/{key}")


async def configure_in_chinese(walk: Any, address: str, key: str, folder: pathlib.Path) -> None:
    """The same pages for a reader of Chinese who likes it dark; only looked at."""
    page = walk.page
    await page.emulate_media(color_scheme="dark")
    await page.goto(f"{address}/console/apps/{key}/settings/credentials/apns")
    form = page.locator("form", has=page.locator("input[name=certificate]"))
    await form.locator("input[type=file]").set_input_files(push_certificate(folder, 23))
    await form.get_by_label("文件密码").fill("x")
    await form.locator("button").click()
    await page.get_by_text(f"该证书用于 {BUNDLE}（开发环境），23 天后过期。").wait_for()
    await walk.look("apple-chinese-dark")
    for name, path in [
        ("channels", f"/console/apps/{key}/settings/credentials"),
        ("fcm", f"/console/apps/{key}/settings/credentials/fcm"),
        ("web-push", f"/console/apps/{key}/settings/credentials/webpush"),
        ("calendar", "/console/credentials"), ("callbacks", f"/console/apps/{key}/settings/callbacks"),
        ("limits", f"/console/apps/{key}/settings/limits"), ("operator", "/console/operator"),
        ("api-keys", f"/console/apps/{key}/settings/keys"), ("requests", f"/console/apps/{key}/settings/requests"),
        ("incidents", f"/console/apps/{key}/incidents"), ("person", f"/console/apps/{key}/persons"),
    ]:  # fmt: skip
        await page.goto(address + path)
        await walk.look(f"{name}-chinese-dark")
    await page.emulate_media(color_scheme="light")
