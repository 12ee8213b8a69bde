"""Proves that browsers take their Web Push from Borealis: a browser speaks the autopush protocol, pywebpush sends, and the server
is killed again and again while messages come. Each message that was accepted is read once.

    python3 autopush.py --binary .build/debug/borealis

BOREALIS_PUSHES and BOREALIS_KILLS make it longer: the goal is 10000 and 20.
"""

import asyncio
import os
import pathlib
import signal
import sys
import time
from typing import Any

import requests
from autopush_browser import Browser
from py_vapid import Vapid02
from pywebpush import WebPusher, WebPushException, webpush
from stage import DEADLINE, Failed, Server, expect, expect_equal, main
from web_push import CONTACT, point

PUSHES = int(os.environ.get("BOREALIS_PUSHES", "800"))
KILLS = int(os.environ.get("BOREALIS_KILLS", "4"))


def new_key() -> Vapid02:
    key = Vapid02()
    key.generate_keys()
    return key


def send(subscription: dict[str, Any], text: str, key: Vapid02, **options: Any) -> int:
    """The status for a message of pywebpush."""
    claims = {"sub": CONTACT}
    try:
        return webpush(subscription, text, vapid_private_key=key, vapid_claims=claims, timeout=DEADLINE, **options).status_code
    except WebPushException as refusal:
        return refusal.response.status_code


async def statuses(server: Server, browser: Browser) -> None:
    key, other = new_key(), new_key()
    open_to_all, own = await browser.subscribe(), await browser.subscribe(point(key.public_key))
    expect_equal(await asyncio.to_thread(send, own, "with the key", key, ttl=60), 201, "the status for the key")
    expect_equal(await asyncio.to_thread(send, own, "x", other, ttl=60), 403, "the status for another key")
    plain = await asyncio.to_thread(WebPusher(open_to_all).send, "without a key", {}, 60)
    expect_equal(plain.status_code, 201, "the status without a key")
    await browser.until(lambda: len(browser.read) == 2)
    expect_equal(browser.read, [b"with the key", b"without a key"], "what the browser reads")
    await browser.unsubscribe(own)
    expect_equal(await asyncio.to_thread(send, own, "x", key, ttl=60), 410, "the status for a subscription that has ended")
    browser.read.clear()
    print("ok - pywebpush sends, and only the owner of the key does")


async def away(server: Server, browser: Browser) -> None:
    """What comes while the browser is away: it waits, is replaced by its topic, is taken back, or is not kept at all."""
    key = new_key()
    subscription = await browser.subscribe(point(key.public_key))
    await browser.stop()
    for text, options in [
        ("first", {"ttl": 60}), ("not kept", {"ttl": 0}), ("old", {"ttl": 60, "headers": {"Topic": "score"}}),
        ("other", {"ttl": 60}), ("new", {"ttl": 60, "headers": {"Topic": "score"}}),
    ]:  # fmt: skip
        expect_equal(await asyncio.to_thread(send, subscription, text, key, **options), 201, f"the status for {text}")
    claims = key.sign({"sub": CONTACT, "aud": f"http://{server.http}", "exp": int(time.time()) + 3600})
    answer = await asyncio.to_thread(WebPusher(subscription).send, "taken back", claims, 60)
    expect_equal(answer.status_code, 201, "the status for a message to be taken back")
    gone = await asyncio.to_thread(requests.delete, answer.headers["Location"], timeout=DEADLINE)
    expect_equal(gone.status_code, 204, "the status for taking a message back")
    await browser.start()
    await browser.until(lambda: len(browser.read) >= 3)
    expect_equal(await asyncio.to_thread(send, subscription, "last", key, ttl=60), 201, "the status for the last")
    await browser.until(lambda: browser.read[-1] == b"last")
    expect_equal(browser.read, [b"first", b"other", b"new", b"last"], "what the browser reads when it is back")
    browser.read.clear()
    print("ok - messages wait, and topics replace them")


def insist(subscription: dict[str, Any], texts: list[str], fields: dict[str, str]) -> None:
    """Sends each message until it is accepted, always the same bytes."""
    for text in texts:
        body = bytes(WebPusher(subscription).encode(text.encode())["body"])
        until = time.monotonic() + 4 * DEADLINE
        while True:
            try:
                answer = requests.post(
                    subscription["endpoint"], data=body, headers={"TTL": "3600", "Content-Encoding": "aes128gcm"} | fields,
                    timeout=DEADLINE)  # fmt: skip
                if answer.status_code == 201:
                    break
                # Too many wait, or came in this minute, or the server is being killed.
                expect(answer.status_code in (429, 503), f"the status {answer.status_code}")
            except requests.RequestException:
                pass
            expect(time.monotonic() < until, "the server does not come back")
            time.sleep(0.05)


async def dropped(server: Server, browser: Browser) -> None:
    """A browser gets messages on two connections before the acknowledgements of the first are stored, and then the server is
    killed."""
    key = new_key()
    subscription = await browser.subscribe(point(key.public_key))
    fields = key.sign({"sub": CONTACT, "aud": f"http://{server.http}", "exp": int(time.time()) + 43_200})
    texts = [f"message {number}" for number in range(60)]
    for start in range(0, len(texts), 20):
        for first in (start, start + 10):
            await asyncio.to_thread(insist, subscription, texts[first : first + 10], fields)
            await browser.until(lambda count=first + 10: len(browser.read) >= count)
            await browser.drop()
        await server.stop(signal.SIGKILL)
        await server.start()
    await asyncio.to_thread(insist, subscription, ["the end"], fields)
    await browser.until(lambda: browser.read[-1] == b"the end")
    expect_equal([text.decode() for text in browser.read], [*texts, "the end"], "what the browser reads")
    browser.read.clear()
    print("ok - a browser that reconnects before the server is killed reads each message once")


async def killed(server: Server, first: Browser) -> None:
    """As many browsers as the messages need that one gets in a minute."""
    browsers = [first, *(Browser(server.http, first.news) for _ in range(PUSHES // 80))]
    key = new_key()
    fields = key.sign({"sub": CONTACT, "aud": f"http://{server.http}", "exp": int(time.time()) + 43_200})
    texts = [f"message {number}" for number in range(PUSHES)]

    def count() -> int:
        return sum(len(browser.read) for browser in browsers)

    try:
        for browser in browsers[1:]:
            await browser.start()
        subscriptions = [await browser.subscribe(point(key.public_key)) for browser in browsers]
        sending = asyncio.gather(
            *(asyncio.to_thread(insist, subscription, texts[start :: len(browsers)], fields)
              for start, subscription in enumerate(subscriptions)))  # fmt: skip
        for kill in range(KILLS):
            await first.until(lambda goal=PUSHES * (kill + 1) // (KILLS + 1): count() >= goal)
            await server.stop(signal.SIGKILL)
            await server.start()
        await sending
        await first.until(lambda: count() >= PUSHES)
        for browser, subscription in zip(browsers, subscriptions, strict=True):
            # What is repeated comes before what is accepted after it.
            await asyncio.to_thread(insist, subscription, ["the end"], fields)
            await browser.until(lambda browser=browser: browser.read[-1] == b"the end")
    finally:
        for browser in browsers[1:]:
            await browser.stop()
    read = sorted(text.decode() for browser in browsers for text in browser.read[:-1])
    expect(read == sorted(texts), f"{len(read)} of {PUSHES} read, {len(set(texts) - set(read))} lost")
    repeated = sum(browser.repeated for browser in browsers)
    print(f"ok - {PUSHES} messages over {KILLS} kills: each read once; {repeated} came again and were known")


async def play(binary: str, folder: pathlib.Path) -> None:
    server = Server(binary, folder)
    browser = Browser(server.http)
    try:
        app, _ = await server.create_app("browsers")
        server.add("--autopush-app", app, "--public-url", f"http://{server.http}")
        await server.start()
        await browser.start()
        await statuses(server, browser)
        await away(server, browser)
        await dropped(server, browser)
        await killed(server, browser)
    except Failed:
        print(server.log()[-2000:], file=sys.stderr)
        raise
    finally:
        await browser.stop()
        await server.stop(signal.SIGKILL)


if __name__ == "__main__":
    main(__doc__ or "", play)
