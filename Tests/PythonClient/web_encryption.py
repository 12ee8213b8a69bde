"""Proves in Chromium that the console's device has a key of its own: it tells it, opens what was enciphered for it, waits and asks
for a key that is not there, and reports what it cannot read. The console's other pages show none of it, and its settings turn
encryption at rest on and off.

    python3 web_encryption.py --binary .build/debug/borealis
"""

import asyncio
import base64
import pathlib
import signal

from borealis_encryption import ContentKey, DeviceKey
from console import CHROMIUM, FLAGS, Walk, set_up
from encryption import AppServer
from playwright.async_api import async_playwright
from stage import DEADLINE, Server, answer, expect, expect_equal, main

MARKER = "marker-9c41-for-one-pair-of-eyes"
NEUTRAL = "You have news"


# Two tabs of a device: each change of the keys waits for the other's, and a tab that stores something else changes no key.
TABS = """async () => {
  const { State } = BorealisDevice, { Keys } = BorealisContent;
  const stored = () => new State("tabs").values.keys;
  const one = new State("tabs");
  one.begin(2);
  const two = new State("tabs");
  const made = await Promise.all([one, two].map((state) => new Keys(state).make()));
  const isSame = new Keys(one).id === new Keys(two).id && new Keys(one).id === stored().own.at(-1).id;
  const share = (state, id) => state.changeKeys((keys) => ({ ...keys, shared: [...keys.shared, { id }] }));
  const stale = new State("tabs");
  await Promise.all([new Keys(one).rotate(), share(two, "a"), share(one, "b"), new Keys(two).rotate()]);
  stale.keep({ id: 7 });
  stale.save();
  const { own, shared } = stored();
  // A reset while a key is made leaves none.
  const reset = new Keys(two).rotate();
  one.forget();
  const isLate = await reset;
  const left = localStorage.getItem("tabs.keys");
  // As earlier pages stored them.
  localStorage.setItem("tabs", JSON.stringify({ fingerprint: "00", keys: { own: own[0], shared } }));
  const old = new State("tabs");
  old.save();
  const kept = new State("tabs");
  const isKept = new Keys(kept).id === own[0].id && JSON.parse(localStorage.getItem("tabs")).keys === undefined;
  await new Keys(kept).rotate();
  const count = stored().own.length;
  // The first goes when the server has known another one for eleven days.
  await new Keys(kept).noteTold(new Keys(kept).id);
  const young = stored().own.length;
  await kept.changeKeys((keys) => ({ ...keys, own: keys.own.map((key) => ({ ...key, since: key.since - 11 * 86400000 })) }));
  await new Keys(kept).noteTold(new Keys(kept).id);
  const last = stored().own.map(({ id }) => id === new Keys(kept).id);
  kept.forget();
  return [made.filter(Boolean).length, isSame, own.length, shared.map(({ id }) => id).sort().join(), isLate, left, isKept, count,
          young, last.join()];
}"""


class Browser:
    """The device in the page, as an app server names it."""

    def __init__(self, registration_id: str):
        self.registration_id = registration_id


async def told_key(api: AppServer, device: Browser, other_than: str = "") -> DeviceKey:
    """The key that the page has told the server."""
    async with asyncio.timeout(DEADLINE):
        while True:
            answer = await api.call("GET", f"/v1/devices/keys?registration_id={device.registration_id}")
            if answer["keys"] and DeviceKey.of(answer["keys"][0]).id != other_than:
                return DeviceKey.of(answer["keys"][0])
            await asyncio.sleep(0.05)


async def delivered(api: AppServer, msg_id: str) -> None:
    """Waits until the server knows that the device has the push."""
    async with asyncio.timeout(DEADLINE):
        while (await api.call("GET", f"/v3/received/detail?msg_ids={msg_id}"))[0]["jpush_received"] != 1:
            await asyncio.sleep(0.05)


async def scenario(walk: Walk, server: Server) -> None:
    await set_up(walk, await server.setup_link())
    app, secret = await server.create_app("encrypted")
    api, page = AppServer(server, app, secret), walk.page
    base = f"http://{server.http}/console/apps/{app}"
    await page.goto(f"{base}/virtual")
    await page.get_by_role("button", name="Start device").click()
    status, shade = page.locator("[data-device-status]"), page.locator("[data-device-shade]")
    await status.get_by_text("Online").wait_for()
    device = Browser(await page.locator("[data-device-id]").inner_text())
    key = await told_key(api, device)
    expect_equal(key.kind, "p256", "the kind of the page's key")

    # Both parts, for this device alone.
    parts = {"notification": {"alert": f"{MARKER} shown"}, "message": {"msg_content": f"{MARKER} read"}}
    first = await api.push(device, key.encryption(**parts))
    await shade.get_by_text(f"{MARKER} shown").click()
    await shade.get_by_text("Opened").wait_for()
    await shade.get_by_text(f"{MARKER} read").wait_for()
    expect_equal(await shade.get_by_text(NEUTRAL).count(), 0, "neutral texts beside the real one")
    await delivered(api, first)
    await walk.look("virtual-encrypted")

    # The key comes after the push: it waits, and asks until the key is there.
    shared = ContentKey()
    late = await api.push(device, shared.encryption(message={"msg_content": f"{MARKER} late"}))
    await shade.get_by_text(f"waits for the key {shared.id}").wait_for()
    await api.call("PUT", f"/v1/keys/{shared.id}", {"devices": {device.registration_id: shared.sealed_for(key)}})
    await shade.get_by_text(f"{MARKER} late").wait_for()
    expect_equal(await shade.get_by_text("waits for the key").count(), 0, "pushes that wait")
    await delivered(api, late)

    # A key that never comes, and contents that were changed or are for somebody else.
    never = ContentKey()
    await api.push(device, never.encryption(message={"msg_content": MARKER}), time_to_live=1)
    await shade.get_by_text("cannot be read (code 6040)").wait_for()
    sound = key.encryption(message={"msg_content": f"{MARKER} changed"})
    data = bytearray(base64.b64decode(sound["message"]))
    data[-1] ^= 1
    changed = await api.push(device, sound | {"message": base64.b64encode(data).decode()})
    await shade.get_by_text("cannot be read (code 6042)").wait_for()
    await delivered(api, changed)
    expect_equal(await shade.get_by_text(f"{MARKER} changed").count(), 0, "changed contents that are shown")

    # After a reload it is the same device with the same keys, and a kept push is opened by them.
    await page.goto(f"{base}/pushes")
    kept = await api.push(device, shared.encryption(message={"msg_content": f"{MARKER} kept"}))
    await page.get_by_text("encrypted: only devices read it").first.wait_for()
    for address in (f"{base}/pushes", f"{base}/pushes/{first}", f"{base}/devices/{device.registration_id}"):
        await page.goto(address)
        expect(MARKER not in await page.content(), f"plain text on {address}")
    await page.goto(f"{base}/pushes/{first}")
    await page.get_by_text(NEUTRAL).first.wait_for()
    await page.goto(f"{base}/virtual")
    await status.get_by_text("Online").wait_for()
    await shade.get_by_text(f"{MARKER} kept").wait_for()
    await delivered(api, kept)
    expect_equal((await told_key(api, device)).id, key.id, "the key after a reload")

    # Replaced by hand: app servers get the new key, and what was enciphered for the one before is still read.
    expect_equal(
        await page.evaluate(TABS), [1, True, 3, "a,b", False, None, True, 2, 2, "true"], "keys of two tabs at once")  # fmt: skip
    shown = page.locator("[data-device-key-id]")
    expect_equal(await shown.inner_text(), key.id, "the key on the page")
    await page.get_by_role("button", name="Replace key").click()
    await page.get_by_text("The server has the new key.").wait_for()
    new = await told_key(api, device, other_than=key.id)
    expect_equal(await shown.inner_text(), new.id, "the new key on the page")
    await page.reload()
    await status.get_by_text("Online").wait_for()
    for one, text in ((key, "to the old key"), (new, "to the new key")):
        await delivered(api, await api.push(device, one.encryption(message={"msg_content": f"{MARKER} {text}"})))
        await shade.get_by_text(f"{MARKER} {text}").wait_for()
    expect_equal((await told_key(api, device)).id, new.id, "the key after another reload")
    await walk.look("virtual-key-replaced")

    # Forgotten, it is another device with another key.
    await answer(page, "Reset device")
    await status.get_by_text("Not started").wait_for()
    await page.get_by_role("button", name="Start device").click()
    await status.get_by_text("Online").wait_for()
    device = Browser(await page.locator("[data-device-id]").inner_text())
    await told_key(api, device, other_than=new.id)
    await seal(walk, api, base)


async def seal(walk: Walk, api: AppServer, base: str) -> None:
    """Encryption at rest is turned on and off on the page of the app's settings, which says what a change applies to."""
    page = walk.page
    await page.goto(f"{base}/settings")
    card = page.locator("#sealing")
    await card.get_by_text("A change applies to new data").wait_for()
    for button, state, is_on in [("Turn on", "On", True), ("Turn off", "Off", False)]:
        if is_on:
            await card.get_by_role("button", name=f"{button} encryption at rest").click()
        else:
            await answer(card, f"{button} encryption at rest")
        await card.locator(".state").get_by_text(state, exact=True).wait_for()
        expect_equal((await api.call("GET", "/v1/sealing"))["seal_contents"], is_on, "what the API says")
        await walk.look(f"sealing-{state}")


async def play(binary: str, folder: pathlib.Path) -> None:
    server = Server(binary, folder)
    try:
        await server.start()
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            walk = Walk(browser, None)
            await scenario(walk, server)
            await browser.close()
            expect_equal(walk.complaints, [], "complaints of the browser")
        print("ok - a device in the browser reads what only it can read")
    finally:
        await server.stop(signal.SIGKILL)


if __name__ == "__main__":
    main(__doc__, play)
