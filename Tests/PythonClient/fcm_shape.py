"""Google's own client against the simulator of FCM, and what Borealis sends for the same content.

    python3 fcm_shape.py --binary .build/debug/borealis

The client proves that the simulator takes what Google takes: its tokens of access are granted for the client's assertions. Then
a server sends the same notification: both messages must say the same, but for what Borealis adds so that a device knows the push.
"""

import asyncio
import datetime
import json
import pathlib
import re
import signal
from typing import Any

import firebase_admin
from firebase_admin import credentials, exceptions, messaging

import push_api
from channel_simulator import Simulator
from stage import DEADLINE, Phone, Server, expect, expect_equal, main

TOKEN = "one:APA91"


def plain(message: dict[str, Any]) -> dict[str, Any]:
    """A message in the one form of several that mean the same."""
    message = json.loads(json.dumps(message))
    android = message["android"]
    android["priority"] = android["priority"].upper()
    notification = android["notification"]
    # The client writes down what it is not given; Google takes that for its default.
    for name in ("default_sound", "default_vibrate_timings", "default_light_settings"):
        if notification.get(name) is False:
            del notification[name]
    return message


def of_google(tag: str) -> messaging.Message:
    """What Google's client is to send."""
    notification = messaging.AndroidNotification(
        body="A long text", tag=tag, channel_id="news", color="#12abcd", click_action="com.example.OPEN", sound="bell",
        priority="high", notification_count=3, default_vibrate_timings=True, default_light_settings=True)  # fmt: skip
    android = messaging.AndroidConfig(priority="high", ttl=datetime.timedelta(hours=1), notification=notification)
    return messaging.Message(
        token=TOKEN, notification=messaging.Notification(title="Shop", body="Hello"),
        data={"msg_id": tag, "extras": '{"order":77}'}, android=android)  # fmt: skip


OURS = {
    "alert": "Hello", "title": "Shop", "style": 1, "big_text": "A long text", "channel_id": "news", "priority": 1,
    "icon_bg_color": "#12abcd", "uri_action": "com.example.OPEN", "sound": "bell", "badge_set_num": 3,
    "extras": {"order": 77},
}  # fmt: skip


def send_by_google(simulator: Simulator, tag: str) -> None:
    messaging._MessagingService.FCM_URL = simulator.url + "/v1/projects/{0}/messages:send"
    firebase_admin.initialize_app(credentials.Certificate(simulator.key))
    name = messaging.send(of_google(tag))
    expect(re.fullmatch(r"projects/demo-project/messages/\S+", name), f"the name of a message: {name}")
    for state, error in (
        ("unregistered", messaging.UnregisteredError),
        ("foreign", messaging.SenderIdMismatchError),
        ("malformed", exceptions.InvalidArgumentError),
    ):
        simulator.order("tokens", {"tokens": [{"token": TOKEN, "state": state}]})
        try:
            messaging.send(of_google(tag))
        except error:
            pass
        else:
            expect(False, f"Google's client sees nothing wrong with a token that is {state}")
    simulator.order("tokens", {"tokens": [{"token": TOKEN, "state": "registered"}]})


async def play(binary: str, folder: pathlib.Path) -> None:
    simulator = await Simulator().start(binary, folder / "google")
    server = Server(binary, folder, ("--fcm-url", simulator.url))
    try:
        await server.start()
        key, secret = await server.create_app("robots")
        await server.command(
            "app", "channel", "set", key, "fcm", "--file", simulator.key, "--fcm-url", simulator.url)  # fmt: skip
        phone = await Phone("one", server.plain, key, folder / "one.json").start()
        api = push_api.PlainAPI(f"http://{server.http}", key, secret)

        async def call(method: str, path: str, body: Any) -> Any:
            return await asyncio.to_thread(api.request, method, path, body)

        unknown = await phone.device.set_channel_token("fax", TOKEN)
        expect_equal(unknown.code, 6017, "the code for a channel that there is not")
        expect_equal((await phone.device.set_channel_token("fcm", TOKEN)).code, 0, "the code for a token")
        # Whether the phone is connected does not matter to `ospush`. The key is in use within seconds.
        async with asyncio.timeout(DEADLINE):
            while not (ours := simulator.messages()):
                push = await call("POST", "/v3/push", {
                    "platform": ["android"], "audience": "all", "notification": {"android": OURS},
                    "options": {"time_to_live": 3600, "third_party_channel": {"fcm": {"distribution": "ospush"}}}})  # fmt: skip
                await asyncio.sleep(0.5)
        tag = ours[0]["data"]["msg_id"]
        expect(push["msg_id"], "a push has an ID")
        await asyncio.to_thread(send_by_google, simulator, tag)
        theirs = simulator.messages()[len(ours)]
        one, other = plain(ours[0]), plain(theirs)
        # Seconds that passed since the push was accepted.
        left = int(one["android"].pop("ttl").removesuffix("s"))
        expect_equal(other["android"].pop("ttl"), "3600s", "the time to live of Google's client")
        expect(3500 < left <= 3600, f"a time to live of {left}")
        expect_equal(one, other, "what is sent for the same content")
        print("ok - Google's client and Borealis send the same")
    finally:
        await server.stop(signal.SIGKILL)
        await simulator.stop()


if __name__ == "__main__":
    main(__doc__ or "", play)
