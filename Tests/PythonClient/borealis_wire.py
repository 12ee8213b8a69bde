"""The frames of Borealis' device protocol: Docs/protocol.md, sections 1 to 3, both directions."""

from typing import Any, NamedTuple


class ProtocolError(Exception):
    """The bytes are not what the page allows; the connection has to be closed."""


def require(condition: bool, reason: str) -> None:
    if not condition:
        raise ProtocolError(reason)


class Body:
    """The bytes of one frame behind its type, taken from front to back."""

    def __init__(self, data: bytes):
        self.left = data

    def take(self, count: int) -> bytes:
        require(count <= len(self.left), "body ends early")
        taken, self.left = self.left[:count], self.left[count:]
        return taken


class Integer:
    def __init__(self, size: int, low: int = 0, high: int | None = None):
        self.size, self.low = size, low
        self.high = 256**size - 1 if high is None else high

    def write(self, value: int) -> bytes:
        require(self.low <= value <= self.high, f"number {value} out of range")
        return value.to_bytes(self.size, "big")

    def read(self, body: Body) -> int:
        value = int.from_bytes(body.take(self.size), "big")
        require(self.low <= value <= self.high, f"number {value} out of range")
        return value


class Bytes8:
    def __init__(self, low: int, high: int):
        self.count = Integer(1, low, high)

    def write(self, value: bytes) -> bytes:
        return self.count.write(len(value)) + value

    def read(self, body: Body) -> bytes:
        return body.take(self.count.read(body))


class Text8:
    raw = Bytes8(0, 255)

    def write(self, value: str) -> bytes:
        return self.raw.write(value.encode())

    def read(self, body: Body) -> str:
        try:
            return self.raw.read(body).decode()
        except UnicodeDecodeError:
            raise ProtocolError("text is not UTF-8") from None


class Tags:
    count, tag = Integer(2), Text8()

    def write(self, value: list[str]) -> bytes:
        return self.count.write(len(value)) + b"".join(map(self.tag.write, value))

    def read(self, body: Body) -> list[str]:
        return [self.tag.read(body) for _ in range(self.count.read(body))]


class Facts:
    """Facts by their numbers, each once."""

    number, value = Integer(1, 1, 9), Text8()

    def write(self, value: dict[int, str]) -> bytes:
        require(bool(value), "no facts")
        entries = (self.number.write(number) + self.value.write(text) for number, text in sorted(value.items()))
        return len(value).to_bytes(1) + b"".join(entries)

    def read(self, body: Body) -> dict[int, str]:
        count = body.take(1)[0]
        facts = dict((self.number.read(body), self.value.read(body)) for _ in range(count))
        require(0 < count == len(facts), "no facts, or one twice")
        return facts


class HexDigits:
    """Hexadecimal digits, two a byte; an odd number of them is filled up with a zero digit."""

    def __init__(self, digits: int):
        self.digits, self.size = digits, (digits + 1) // 2

    def write(self, value: str) -> bytes:
        require(len(value) == self.digits, f"not {self.digits} digits: {value}")
        return bytes.fromhex(value.ljust(2 * self.size, "0"))

    def read(self, body: Body) -> str:
        text = body.take(self.size).hex()
        require(not text[self.digits :].strip("0"), "the last digit is not zero")
        return text[: self.digits]


class TokenSlot:
    """Which of Apple's tokens: its kind, and a name for all kinds but that for calls."""

    kind, name = Integer(1, 2, 4), Text8()

    def write(self, value: tuple[int, str]) -> bytes:
        require((value[0] == 2) == (value[1] == ""), "a name that is missing, or not needed")
        return self.kind.write(value[0]) + self.name.write(value[1])

    def read(self, body: Body) -> tuple[int, str]:
        value = self.kind.read(body), self.name.read(body)
        self.write(value)
        return value


class DeviceKey:
    """Kind and bytes of a device's public key: a point, then 16 bytes; no bytes for none."""

    SIZES = {1: 48, 2: 81, 3: 81}

    def write(self, value: tuple[int, bytes]) -> bytes:
        require(value[0] in self.SIZES, "unknown kind of key")
        require(len(value[1]) in (0, self.SIZES[value[0]]), "wrong size of a key")
        return bytes([value[0], len(value[1])]) + value[1]

    def read(self, body: Body) -> tuple[int, bytes]:
        kind, count = body.take(2)
        value = kind, body.take(count)
        self.write(value)
        return value


class Fixed:
    def __init__(self, size: int, only: bytes | None = None):
        self.size, self.only = size, only

    def write(self, value: bytes) -> bytes:
        require(len(value) == self.size and self.only in (None, value), "wrong bytes")
        return value

    def read(self, body: Body) -> bytes:
        return self.write(body.take(self.size))


class Versions:
    def write(self, value: tuple[int, int]) -> bytes:
        require(1 <= value[0] <= value[1] <= 255, "no range of versions")
        return bytes(value)

    def read(self, body: Body) -> tuple[int, int]:
        low, high = body.take(2)
        require(1 <= low <= high, "no range of versions")
        return low, high


class Rest:
    def write(self, value: bytes) -> bytes:
        return value

    def read(self, body: Body) -> bytes:
        return body.take(len(body.left))


class LongText:
    """Text of bounded length with a count of two bytes."""

    def __init__(self, most: int):
        self.most = most

    def write(self, value: str) -> bytes:
        data = value.encode()
        require(len(data) <= self.most, "text too long")
        return len(data).to_bytes(2) + data

    def read(self, body: Body) -> str:
        try:
            text = body.take(int.from_bytes(body.take(2))).decode()
        except UnicodeDecodeError:
            raise ProtocolError("text is not UTF-8") from None
        self.write(text)
        return text


class ListToEnd:
    """Entries of some fields each, up to the end of the body; an entry of one field is that value itself."""

    def __init__(self, low: int, high: int, *fields):
        self.low, self.high, self.fields = low, high, fields

    def write(self, value: list) -> bytes:
        require(self.low <= len(value) <= self.high, "number of entries out of range")
        entries = ((entry,) if len(self.fields) == 1 else entry for entry in value)
        parts = (zip(self.fields, entry, strict=True) for entry in entries)
        return b"".join(field.write(part) for entry in parts for field, part in entry)

    def read(self, body: Body) -> list:
        entries = []
        while body.left:
            entry = tuple(f.read(body) for f in self.fields)
            entries.append(entry[0] if len(entry) == 1 else entry)
        require(self.low <= len(entries) <= self.high, "number of entries out of range")
        return entries


U8, U16, U32, U64, TEXT, TAGS = Integer(1), Integer(2), Integer(4), Integer(8), Text8(), Tags()
MSG_ID = Integer(8, high=2**53 - 1)
APP_KEY, REGISTRATION_ID, SECRET = HexDigits(24), HexDigits(19), Fixed(16)
APP_STATE, KIND = Integer(1, 0, 1), Integer(1, 1, 4)
APNS = {"environment": Integer(1, 0, 2), "token": Bytes8(0, 100)}
SEQ = {"seq": U32}
MAX_LENGTH = 65536

FROM_CLIENT: dict[int, tuple[str, dict]] = {
    0x01: ("PING", {}),
    0x10: ("HELLO", {"magic": Fixed(4, b"BRLS"), "versions": Versions(), "client_name": TEXT}),
    0x11: ("REGISTER", {"app_key": APP_KEY, "platform": Integer(1, 1, 4), "fingerprint": Bytes8(1, 64)}
           | APNS | {"app_version": TEXT}),
    0x12: ("LOGIN", {"app_key": APP_KEY, "registration_id": REGISTRATION_ID, "secret": SECRET,
                     "heartbeat": U16, "app_state": APP_STATE}),
    0x20: ("ACK", {"msg_ids": ListToEnd(1, 512, MSG_ID)}),
    0x22: ("ACK_AGE", {"entries": ListToEnd(1, 512, MSG_ID, U32)}),
    0x21: ("RECEIPT", {"entries": ListToEnd(1, 256, KIND, MSG_ID)}),
    0x30: ("SET_ALIAS", SEQ | {"alias": TEXT}),
    0x31: ("DELETE_ALIAS", SEQ),
    0x32: ("GET_ALIAS", SEQ),
    0x33: ("SET_TAGS", SEQ | {"tags": TAGS}),
    0x34: ("ADD_TAGS", SEQ | {"tags": TAGS}),
    0x35: ("DELETE_TAGS", SEQ | {"tags": TAGS}),
    0x36: ("CLEAN_TAGS", SEQ),
    0x37: ("GET_TAGS", SEQ),
    0x38: ("CHECK_TAG", SEQ | {"tag": TEXT}),
    0x39: ("SET_BADGE", SEQ | {"badge": U32}),
    0x3A: ("SET_TOKEN", SEQ | APNS),
    0x3B: ("APP_STATE", SEQ | {"app_state": APP_STATE}),
    0x3C: ("LOGOUT", SEQ),
    0x3D: ("SET_OTHER_TOKEN", SEQ | {"slot": TokenSlot(), "environment": Integer(1, 0, 2),
                                     "token": Bytes8(0, 255)}),
    0x3E: ("SET_KEY", SEQ | {"key": DeviceKey()}),
    0x3F: ("GET_KEY", SEQ | {"key_id": Fixed(8)}),
    0x40: ("SET_CHANNEL_TOKEN", SEQ | {"channel": TEXT, "kind": TEXT, "token_name": TEXT, "service": TEXT,
                                       "token": LongText(4096)}),
    0x41: ("SET_FACTS", SEQ | {"facts": Facts()}),
}  # fmt: skip
FROM_SERVER: dict[int, tuple[str, dict]] = {
    0x02: ("PONG", {}),
    0x90: ("HELLO_OK", {"version": U8, "server_time": U64, "max_frame": U32}),
    0x91: ("REGISTER_OK", {"registration_id": REGISTRATION_ID, "secret": SECRET}),
    0x92: ("LOGIN_OK", {"heartbeat": Integer(2, 1), "ack_delay": U16, "server_time": U64, "pending": U32}),
    0x93: ("FACTS_WANTED", {"facts": U16}),
    0xA0: ("PUSH", {"msg_id": MSG_ID, "flags": Integer(1, 0, 1), "content": Rest()}),
    0xA1: ("RECALL", {"msg_id": MSG_ID}),
    0xB0: ("RESULT", {"seq": U32, "code": U16, "payload": Rest()}),
    0xE0: ("GO_AWAY", {"reason": U8, "retry_after": U32, "host": TEXT}),
    0xE1: ("ERROR", {"code": U16, "reconnect": Integer(1, 0, 2), "message": TEXT}),
}
# What a RESULT with code 0 carries, by the operation that it answers.
PAYLOADS: dict[str, dict] = {
    "GET_ALIAS": {"value": TEXT},
    "GET_TAGS": {"value": TAGS},
    "CHECK_TAG": {"value": Integer(1, 0, 1)},
    "GET_KEY": {"value": Bytes8(0, 255)},
}


class Frame(NamedTuple):
    name: str
    fields: dict[str, Any]


def read_fields(layout: dict, data: bytes) -> dict[str, Any]:
    body = Body(data)
    fields = {name: field.read(body) for name, field in layout.items()}
    require(not body.left, "body goes on after its fields")
    return fields


def decode(table: dict, payload: bytes) -> Frame:
    """The frame whose type and body are `payload`, from the side that `table` describes."""
    require(payload[0] in table, f"unknown type {payload[0]:#04x}")
    name, layout = table[payload[0]]
    return Frame(name, read_fields(layout, payload[1:]))


def encode(table: dict, name: str, **fields) -> bytes:
    kind, layout = next((kind, layout) for kind, (known, layout) in table.items() if known == name)
    payload = bytes([kind]) + b"".join(field.write(fields[key]) for key, field in layout.items())
    require(len(payload) <= MAX_LENGTH, "frame too large")
    length, digits = len(payload), bytearray()
    while length > 127:
        digits.append(length & 127 | 128)
        length >>= 7
    return bytes(digits) + bytes([length]) + payload


class FrameBuffer:
    """Cuts a stream of bytes into frames."""

    def __init__(self):
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def next(self) -> bytes | None:
        """Type and body of the next frame, None as long as it is not complete."""
        length = 0
        for place, byte in enumerate(self._bytes[:3]):
            length |= (byte & 127) << 7 * place
            if byte < 128:
                require(length == 0 or byte != 0, "length is not as short as possible")
                require(1 <= length <= MAX_LENGTH, f"length {length}")
                return self._cut(place + 1, place + 1 + length)
        require(len(self._bytes) < 3, "length goes on after three bytes")
        return None

    @property
    def is_empty(self) -> bool:
        """Whether no frame has begun."""
        return not self._bytes

    def _cut(self, start: int, end: int) -> bytes | None:
        if len(self._bytes) < end:
            return None
        payload = bytes(self._bytes[start:end])
        del self._bytes[:end]
        return payload
