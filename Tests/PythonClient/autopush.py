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
SENDERS = 4


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
        ("first", {"ttl": 60}), ("old", {"ttl": 60, "headers": {"Topic": "score"}}), ("other", {"ttl": 60}),
        ("new", {"ttl": 60, "headers": {"Topic": "score"}}),
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
        body = bytes(WebPusher(subscription).encode(text)["body"])
        until = time.monotonic() + 4 * DEADLINE
        while True:
            try:
                answer = requests.post(
                    subscription["endpoint"], data=body, headers={"TTL": "3600", "Content-Encoding": "aes128gcm"} | fields,
                    timeout=DEADLINE)  # fmt: skip
                if answer.status_code == 201:
                    break
                # Too many wait, or the server is being killed.
                expect(answer.status_code in (429, 503), f"the status {answer.status_code}")
            except requests.RequestException:
                pass
            expect(time.monotonic() < until, "the server does not come back")
            time.sleep(0.05)


async def killed(server: Server, browser: Browser) -> None:
    key = new_key()
    subscription = await browser.subscribe(point(key.public_key))
    fields = key.sign({"sub": CONTACT, "aud": f"http://{server.http}", "exp": int(time.time()) + 43_200})
    texts = [f"message {number}" for number in range(PUSHES)]
    sending = asyncio.gather(
        *(asyncio.to_thread(insist, subscription, texts[start::SENDERS], fields) for start in range(SENDERS)))
    for kill in range(KILLS):
        await browser.until(lambda: len(browser.read) >= PUSHES * (kill + 1) // (KILLS + 1))
        await server.stop(signal.SIGKILL)
        await server.start()
    await sending
    await browser.until(lambda: len(browser.read) >= PUSHES)
    # What is repeated comes before what is accepted after it.
    await asyncio.to_thread(insist, subscription, ["the end"], fields)
    await browser.until(lambda: browser.read[-1] == b"the end")
    read = sorted(text.decode() for text in browser.read[:-1])
    expect(read == sorted(texts), f"{len(read)} of {PUSHES} read, {len(set(texts) - set(read))} lost")
    print(f"ok - {PUSHES} messages over {KILLS} kills: each read once; {browser.repeated} came again and were known")


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
        await killed(server, browser)
    except Failed:
        print(server.log()[-2000:], file=sys.stderr)
        raise
    finally:
        await browser.stop()
        await server.stop(signal.SIGKILL)


if __name__ == "__main__":
    main(__doc__ or "", play)
