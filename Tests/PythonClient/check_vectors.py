"""Checks the codec of borealis_wire.py against every line of Docs/protocol-vectors.txt."""

import pathlib
import sys

from borealis_wire import FROM_CLIENT, FROM_SERVER, FrameBuffer, ProtocolError, decode, encode

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "Docs" / "protocol-vectors.txt"

# What the page says that these bytes mean; all vectors of one frame share a name in front of the first digit.
KEY, ID, SECRET = "0123456789abcdef00112233", "1a2b3c4d5e6f7081923", bytes(range(16))
TIME, MSG_ID = 1800000000000, 403926205595649
MESSAGE = b'{"message":{"msg_content":"hi"}}'
IN_APP = b'{"notification":{"alert":"hi"},"inapp_message":true}'
MEANING = {
    "ping": ("PING", {}),
    "hello": ("HELLO", {"magic": b"BRLS", "versions": (1, 1), "client_name": "demo/1.0"}),
    "hello-both-versions": ("HELLO", {"magic": b"BRLS", "versions": (1, 2), "client_name": "demo/1.0"}),
    "hello-three-versions": ("HELLO", {"magic": b"BRLS", "versions": (1, 3), "client_name": "demo/1.0"}),
    "hello-four-versions": ("HELLO", {"magic": b"BRLS", "versions": (1, 4), "client_name": "demo/1.0"}),
    "hello-five-versions": ("HELLO", {"magic": b"BRLS", "versions": (1, 5), "client_name": "demo/1.0"}),
    "hello-all-versions": ("HELLO", {"magic": b"BRLS", "versions": (1, 7), "client_name": "demo/1.0"}),
    "hello-six-versions": ("HELLO", {"magic": b"BRLS", "versions": (1, 6), "client_name": "demo/1.0"}),
    "register": ("REGISTER", {"app_key": KEY, "platform": 1, "fingerprint": bytes.fromhex("f1f2f3f4"),
                              "environment": 2, "token": bytes.fromhex("aabb"), "app_version": "2.3"}),
    "register-no-token": ("REGISTER", {"app_key": KEY, "platform": 2, "fingerprint": b"\xf1",
                                       "environment": 0, "token": b"", "app_version": ""}),
    "login": ("LOGIN", {"app_key": KEY, "registration_id": ID, "secret": SECRET, "heartbeat": 300,
                        "app_state": 1}),
    "ack": ("ACK", {"msg_ids": [MSG_ID, MSG_ID + 1]}),
    "ack-age": ("ACK_AGE", {"entries": [(MSG_ID, 1000), (MSG_ID + 1, 2**32 - 1)]}),
    "receipt": ("RECEIPT", {"entries": [(1, MSG_ID), (2, MSG_ID)]}),
    "receipt-in-app": ("RECEIPT", {"entries": [(3, MSG_ID), (4, MSG_ID)]}),
    "set-alias": ("SET_ALIAS", {"seq": 1, "alias": "用户1"}),
    "delete-alias": ("DELETE_ALIAS", {"seq": 2}),
    "get-alias": ("GET_ALIAS", {"seq": 3}),
    "set-tags": ("SET_TAGS", {"seq": 4, "tags": ["vip", "北京"]}),
    "set-tags-empty": ("SET_TAGS", {"seq": 5, "tags": []}),
    "add-tags": ("ADD_TAGS", {"seq": 6, "tags": ["a"]}),
    "delete-tags": ("DELETE_TAGS", {"seq": 7, "tags": ["a", "b"]}),
    "clean-tags": ("CLEAN_TAGS", {"seq": 8}),
    "get-tags": ("GET_TAGS", {"seq": 9}),
    "check-tag": ("CHECK_TAG", {"seq": 10, "tag": "vip"}),
    "set-badge": ("SET_BADGE", {"seq": 11, "badge": 7}),
    "set-token": ("SET_TOKEN", {"seq": 12, "environment": 1, "token": bytes([1, 2, 3])}),
    "app-state": ("APP_STATE", {"seq": 13, "app_state": 0}),
    "logout": ("LOGOUT", {"seq": 2**32 - 1}),
    "set-other-token-voip": ("SET_OTHER_TOKEN", {"seq": 14, "slot": (2, ""), "environment": 1,
                                                 "token": bytes([1, 2, 3])}),
    "set-other-token-activity": ("SET_OTHER_TOKEN", {"seq": 15, "slot": (3, "game-7"), "environment": 2,
                                                     "token": bytes.fromhex("aabbcc")}),
    "set-other-token-none": ("SET_OTHER_TOKEN", {"seq": 16, "slot": (4, "Game"), "environment": 0,
                                                 "token": b""}),
    "set-key": ("SET_KEY", {"seq": 17, "key": (1, bytes(range(48)))}),
    "set-key-none": ("SET_KEY", {"seq": 18, "key": (1, b"")}),
    "get-key": ("GET_KEY", {"seq": 19, "key_id": bytes.fromhex("0123456789abcdef")}),
    "set-channel-token": ("SET_CHANNEL_TOKEN", {"seq": 20, "channel": "fcm", "kind": "", "token_name": "",
                                                "service": "", "token": "c1:APA91"}),
    "set-channel-token-named": ("SET_CHANNEL_TOKEN", {"seq": 21, "channel": "apns", "kind": "live_activity",
                                                      "token_name": "game-7", "service": "sandbox",
                                                      "token": "aabb"}),
    "set-channel-token-none": ("SET_CHANNEL_TOKEN", {"seq": 22, "channel": "fcm", "kind": "", "token_name": "",
                                                     "service": "", "token": ""}),
    "set-facts": ("SET_FACTS", {"seq": 23, "facts": {1: "zh-CN", 8: "on"}}),
    "set-facts-none": ("SET_FACTS", {"seq": 24, "facts": {5: ""}}),
    "pong": ("PONG", {}),
    "hello-ok": ("HELLO_OK", {"version": 1, "server_time": TIME, "max_frame": 65536}),
    "hello-ok-7": ("HELLO_OK", {"version": 7, "server_time": TIME, "max_frame": 65536}),
    "hello-ok-6": ("HELLO_OK", {"version": 6, "server_time": TIME, "max_frame": 65536}),
    "hello-ok-5": ("HELLO_OK", {"version": 5, "server_time": TIME, "max_frame": 65536}),
    "hello-ok-4": ("HELLO_OK", {"version": 4, "server_time": TIME, "max_frame": 65536}),
    "hello-ok-3": ("HELLO_OK", {"version": 3, "server_time": TIME, "max_frame": 65536}),
    "hello-ok-2": ("HELLO_OK", {"version": 2, "server_time": TIME, "max_frame": 65536}),
    "register-ok": ("REGISTER_OK", {"registration_id": ID, "secret": SECRET}),
    "login-ok": ("LOGIN_OK", {"heartbeat": 300, "ack_delay": 1000, "server_time": TIME, "pending": 2}),
    "facts-wanted": ("FACTS_WANTED", {"facts": 0x81}),
    "push": ("PUSH", {"msg_id": MSG_ID, "flags": 0, "content": MESSAGE}),
    "push-offline": ("PUSH", {"msg_id": MSG_ID, "flags": 1, "content": MESSAGE}),
    "push-long": ("PUSH", {"msg_id": MSG_ID, "flags": 0, "content": MESSAGE.replace(b"hi", b"x" * 100)}),
    "push-in-app": ("PUSH", {"msg_id": MSG_ID, "flags": 0, "content": IN_APP}),
    "recall": ("RECALL", {"msg_id": MSG_ID}),
    "result": ("RESULT", {"seq": 1, "code": 6027, "payload": b""}),
    "result-alias": ("RESULT", {"seq": 3, "code": 0, "payload": b"\x01a"}),
    "result-tags": ("RESULT", {"seq": 9, "code": 0, "payload": b"\0\x02\x01a\x01b"}),
    "result-flag": ("RESULT", {"seq": 10, "code": 0, "payload": b"\x01"}),
    "result-key": ("RESULT", {"seq": 19, "code": 0, "payload": b"\x03\x01\x02\x03"}),
    "go-away": ("GO_AWAY", {"reason": 1, "retry_after": 1500, "host": "push2.example.com:7900"}),
    "error": ("ERROR", {"code": 1011, "reconnect": 0, "message": "not registered"}),
}  # fmt: skip


def frames_in(table: dict, data: bytes) -> list:
    """The frames in `data`, fed byte by byte; bytes left over are a fault like any other."""
    buffer, frames = FrameBuffer(), []
    for byte in data:
        buffer.feed(bytes([byte]))
        while payload := buffer.next():
            frames.append(decode(table, payload))
    return frames


def fault(direction: str, name: str, data: bytes) -> str | None:
    table = FROM_SERVER if direction == "s" else FROM_CLIENT
    try:
        frames = frames_in(table, data)
    except ProtocolError as error:
        return None if direction == "x" else f"refused: {error}"
    if direction == "x":
        return f"taken as {frames}"
    if name not in MEANING:
        return "the meaning of this vector is not known here"
    if frames != [MEANING[name]]:
        return f"read as {frames}"
    written = encode(table, frames[0].name, **frames[0].fields)
    return None if written == data else f"written as {written.hex()}"


def main() -> None:
    lines = [line.split() for line in VECTORS.read_text(encoding="utf-8").splitlines()]
    vectors = [line for line in lines if line and line[0] in ("c", "s", "x")]
    checks = {name: fault(direction, name, bytes.fromhex(data)) for direction, name, data in vectors}
    faults = [f"{name}: {text}" for name, text in checks.items() if text]
    missing = MEANING.keys() - {name for _, name, _ in vectors}
    faults += [f"{name}: not in {VECTORS.name}" for name in sorted(missing)]
    if faults or not vectors:
        sys.exit("\n".join(faults) or f"no vectors in {VECTORS}")
    print(f"{len(vectors)} vectors hold")


if __name__ == "__main__":
    main()
