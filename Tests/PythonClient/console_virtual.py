"""The part of the walk through the console that has a device in the browser."""

import json
import pathlib
import re
from typing import Any

from stage import answer, expect, expect_equal

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "Docs" / "protocol-vectors.txt"

# As long as there is room for so many characters in the browser's storage.
SMALL_STORAGE = """(room) => {
  const set = Storage.prototype.setItem;
  Storage.prototype.setItem = function (key, value) {
    if (value.length > room) throw new DOMException("full", "QuotaExceededError");
    set.call(this, key, value);
  };
}"""
# A device that keeps 20 pushes, and what its page finds after a reload.
KEEP = """() => {
  const state = new BorealisDevice.State("test");
  state.begin(2);
  state.values.registrationID = "kept";
  for (let id = 1; id <= 20; id++) { state.handle(id); state.keep({ id, content: "x".repeat(1000) }); }
  state.save();
  const { values } = new BorealisDevice.State("test");
  const ids = values.pushes.map((push) => push.id);
  new BorealisDevice.State("test").forget();
  return [values.registrationID, values.handled.length, ids.length < 20, ids.at(-1)];
}"""

# A socket that the test plays.
SOCKET = """
  class Socket {
    static OPEN = 1;
    readyState = 1;
    constructor() { Socket.last = this; }
    send() {}
    close() {}
  }
  const real = globalThis.WebSocket;
  globalThis.WebSocket = Socket;
"""
# A device on a socket of the test that gets an in-app message twice: what the page got, and the kinds of the receipts.
IN_APP = """(frames) => {
  // SOCKET
  const state = new BorealisDevice.State("test");
  state.begin(2);
  Object.assign(state.values, { registrationID: "1a2b3c4d5e6f7081923", secret: "00".repeat(16) });
  const texts = [], kinds = [];
  const device = new BorealisDevice.Device("ws://test", "0123456789abcdef00112233", state, {
    push: (push) => {
      texts.push([push.content.notification.alert, push.content.inapp_message]);
      for (const isTapped of [false, true]) device.reportInApp(push, isTapped);
    },
    frame: (isOurs, name, values) => { if (name === "RECEIPT") kinds.push(...values[0].map(({ kind }) => kind)); },
  });
  device.start();
  Socket.last.onopen();
  for (const frame of frames) Socket.last.onmessage({ data: Uint8Array.from(frame).buffer });
  device.stop();
  state.forget();
  globalThis.WebSocket = real;
  return [texts, kinds];
}""".replace("// SOCKET", SOCKET)
# A page that gets a push by its worker and over the connection, in the order of the steps: what it got, and
# what it keeps. The worker shows what nobody has claimed; a page that is not shared claims nothing.
ADOPT = """async ([id, start, frames, steps, isShared]) => {
  // SOCKET
  const permission = Object.getOwnPropertyDescriptor(Notification, "permission");
  Object.defineProperty(Notification, "permission", { ...permission, get: () => "granted" });
  const state = new BorealisDevice.State("test");
  state.begin(2);
  Object.assign(state.values, { registrationID: "1a2b3c4d5e6f7081923", secret: "00".repeat(16) });
  const got = [];
  const device = new BorealisDevice.Device("ws://test", "0123456789abcdef00112233", state, {
    push: ({ content }) => got.push(Object.keys(content).join("+")), recalled: () => got.push("recalled"),
  });
  const scope = new URL("/test", location.href).href;
  const page = new BorealisWebPush(device, {
    server: location.origin, publicKey: "x", worker: "/none", scope,
    shown: ({ content }) => got.push(`worker: ${Object.keys(content).join("+")}`),
  });
  const store = new BorealisStore.Store(scope);
  await store.clear();
  if (isShared) device.claim = (id) => store.claim(id);
  const say = (frame) => Socket.last.onmessage({ data: Uint8Array.from(frame).buffer });
  device.start();
  Socket.last.onopen();
  start.forEach(say);
  for (const step of steps) {
    if (step === "worker") {
      const content = { notification: { alert: "hi" } };
      if (await store.claim(id, { at: 1, content })) await page.start();
    } else {
      say(frames[step]);
      const handled = step === "newer" ? id + 1 : id;
      while (!state.hasHandled(handled)) await new Promise((resolve) => { setTimeout(resolve, 5); });
    }
  }
  const kept = state.values.pushes.find((push) => push.id === id)?.content ?? {};
  device.stop();
  state.forget();
  await store.clear();
  Object.defineProperty(Notification, "permission", permission);
  globalThis.WebSocket = real;
  return [got, Object.keys(kept).sort()];
}""".replace("// SOCKET", SOCKET)


async def virtual_device(walk: Any) -> None:
    """A device in the browser: from nothing to a tapped notification, and back after a reload."""
    page = walk.page
    await page.get_by_role("link", name="Virtual device").last.click()
    await walk.look("virtual-fresh")
    await page.get_by_role("button", name="Start device").click()
    status = page.locator("[data-device-status]")
    await status.get_by_text("Online").wait_for()
    await codec(walk)
    shown = page.locator("[data-device-id]")
    device = await shown.inner_text()
    expect(re.fullmatch("[0-9a-f]{19}", device), f"the registration ID is {device!r}")

    await page.get_by_label("Alias of this device").fill("zoe")
    await page.locator("form[data-device-alias] button").click()
    await page.locator("form[data-device-alias]").get_by_text("Saved.").wait_for()
    await page.get_by_label("Tags of this device").fill("vip, not\u200ballowed")
    await page.locator("form[data-device-tags] button").click()
    tags = page.locator("form[data-device-tags]")
    await tags.get_by_text("a tag has blanks or invisible characters").wait_for()
    await page.get_by_label("Tags of this device").fill("vip, " + "长" * 100)
    await page.locator("form[data-device-tags] button").click()
    await tags.get_by_text("is too long").wait_for()
    await page.get_by_label("Tags of this device").fill("vip, 北京")
    await page.locator("form[data-device-tags] button").click()
    await page.locator("form[data-device-tags]").get_by_text("Saved.").wait_for()

    await page.get_by_label("Title").fill("Aurora")
    await page.get_by_label("Text", exact=True).fill("The sky is <green> tonight")
    await page.get_by_role("button", name="Send a push to it").click()
    note = page.get_by_role("button", name="The sky is <green> tonight")
    await note.click()
    await note.get_by_text("Opened").wait_for()
    await walk.look("virtual")

    await page.reload()
    await status.get_by_text("Online").wait_for()
    expect_equal(await shown.inner_text(), device, "the registration ID after a reload")
    await page.wait_for_function("document.querySelector('#device-alias').value === 'zoe'")
    opened = await page.locator(".note .opened").inner_text()
    expect_equal(opened, "Opened", "the notification after a reload")
    await page.get_by_role("button", name="Send a push to it").click()
    await page.get_by_role("button", name="Your first push has arrived.").wait_for()
    await page.get_by_role("link", name="Delivery status").click()
    for step in ("Delivered", "Shown"):
        await page.locator("ol.funnel li", has_text=step).locator("strong", has_text="1").wait_for()

    await page.get_by_role("link", name="Virtual device").first.click()
    await status.get_by_text("Online").wait_for()
    await answer(page, "Reset device")
    await status.get_by_text("Not started").wait_for()
    await page.get_by_role("radio", name="iOS").check()
    await page.get_by_role("button", name="Start device").click()
    await status.get_by_text("Online").wait_for()
    expect(await shown.inner_text() != device, "the forgotten device is back")
    await page.get_by_role("button", name="Send a push to it").click()
    await page.get_by_role("button", name="Your first push has arrived.").wait_for()
    await walk.look("virtual-ios")
    await answer(page, "Reset device")
    await status.get_by_text("Not started").wait_for()


async def codec(walk: Any) -> None:
    """The page's device, which may be copied, writes and reads the frames of Docs/protocol-vectors.txt."""
    lines = [line.split() for line in VECTORS.read_text().splitlines()]
    vectors = {(line[0], line[1]): line[2] for line in lines if len(line) == 3}
    key, device, secret = "0123456789abcdef00112233", "1a2b3c4d5e6f7081923", bytes(range(16)).hex()
    msg_id = 403926205595649
    for name, frame in {
        "ping": ["PING"], "login": ["LOGIN", key, device, secret, 300, 1],
        "ack": ["ACK", [msg_id, msg_id + 1]],
        "ack-age": ["ACK_AGE", [{"id": msg_id, "age": 1000}, {"id": msg_id + 1, "age": 2**32 - 1}]],
        "register": ["REGISTER", key, 1, [0xF1, 0xF2, 0xF3, 0xF4], 2, [0xAA, 0xBB], "2.3"],
        "receipt": ["RECEIPT", [{"kind": 1, "id": msg_id}, {"kind": 2, "id": msg_id}]],
        "receipt-in-app": ["RECEIPT", [{"kind": 3, "id": msg_id}, {"kind": 4, "id": msg_id}]],
        "set-alias": ["SET_ALIAS", 1, "用户1"], "set-tags": ["SET_TAGS", 4, ["vip", "北京"]],
        "app-state": ["APP_STATE", 13, 0], "logout": ["LOGOUT", 2**32 - 1],
    }.items():  # fmt: skip
        written = await walk.page.evaluate("(frame) => BorealisDevice.encode(...frame)", frame)
        expect_equal(bytes(written).hex(), vectors["c", name], f"{name} as the page writes it")
    for (direction, name), frame in vectors.items():
        if direction == "s":
            script = "(bytes) => BorealisDevice.decode(Uint8Array.from(bytes)).map(frame => frame.name)"
            (read,) = await walk.page.evaluate(script, list(bytes.fromhex(frame)))
            expect(name.upper().replace("-", "_").startswith(read), f"{name} is read as {read}")
    for version, kinds in (("7", [3, 4, 1]), ("6", [1])):
        names = (f"hello-ok-{version}", "login-ok", "push-in-app", "push-in-app")
        got = await walk.page.evaluate(IN_APP, [list(bytes.fromhex(vectors["s", name])) for name in names])
        expect_equal(got, [[["hi", True]], kinds], f"an in-app message by version {version}")
    await adoption(walk, msg_id, vectors)


async def adoption(walk: Any, msg_id: int, vectors: dict[tuple[str, str], str]) -> None:
    """The page gets each part of a push once, and nothing that was taken back, whichever of its two ways is faster."""

    def frame(number: int, content: dict[str, Any]) -> list[int]:
        body = b"\xa0" + number.to_bytes(8, "big") + b"\0" + json.dumps(content).encode()
        expect(len(body) < 128, "the length has one byte")
        return [len(body), *body]

    start = [list(bytes.fromhex(vectors["s", name])) for name in ("hello-ok-7", "login-ok")]
    frames = {
        "connection": frame(msg_id, {"notification": {"alert": "hi"}, "message": {"msg_content": "m"}}),
        "newer": frame(msg_id + 1, {"notification": {"alert": "new"}, "override": str(msg_id)}),
        "recall": list(bytes.fromhex(vectors["s", "recall"])),
    }
    both = ["message", "notification"]
    for steps, is_shared, got, kept in [
        (["worker", "connection"], True, ["worker: notification", "message"], both),
        (["connection", "worker"], True, ["notification+message"], both),
        (["connection", "worker"], False, ["notification+message"], both),
        (["recall", "worker"], True, ["recalled"], []),
        (["worker", "recall"], True, ["worker: notification", "recalled"], []),
        (["newer", "worker"], True, ["recalled", "notification+override"], []),
    ]:
        found = await walk.page.evaluate(ADOPT, [msg_id, start, frames, steps, is_shared])
        expect_equal(found, [got, kept], f"{' then '.join(steps)}, claimed {is_shared}")


async def two_tabs(walk: Any) -> None:
    """A tab that was opened before another one began starts the same device, which is then online in that tab alone."""
    first = walk.page
    second = await first.context.new_page()
    second.on("pageerror", lambda error: walk.complaints.append(str(error)))
    await second.goto(first.url)
    statuses = [page.locator("[data-device-status]") for page in (first, second)]
    await first.get_by_role("button", name="Start device").click()
    await statuses[0].get_by_text("Online").wait_for()
    device = await first.locator("[data-device-id]").inner_text()
    await second.locator("[data-device-id]").get_by_text(device).wait_for()
    await second.get_by_role("button", name="Start device").click()
    await statuses[1].get_by_text("Online").wait_for()
    expect_equal(await second.locator("[data-device-id]").inner_text(), device, "the device of the other tab")
    await statuses[0].get_by_text("Open in another tab or window").wait_for()
    await answer(second, "Reset device")
    await statuses[1].get_by_text("Not started").wait_for()
    await first.locator("[data-device-identity]").wait_for(state="hidden")
    await second.evaluate(SMALL_STORAGE, 9000)
    expect_equal(await second.evaluate(KEEP), ["kept", 20, True, 20], "what a small storage keeps")
    await second.close()
    await first.reload()
