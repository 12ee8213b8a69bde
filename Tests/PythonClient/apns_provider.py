"""A provider that shares no code with Borealis: HTTP/2 by the package h2, tokens by the program openssl."""

import base64
import contextlib
import json
import socket
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import h2.config
import h2.connection
import h2.events
import h2.exceptions

DEADLINE = 30  # seconds for anything that has to happen; it takes a small part of that


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def raw_signature(der: bytes) -> bytes:
    """r and s of 32 bytes each, out of a SEQUENCE of two INTEGERs."""
    numbers, rest = [], der[2:]
    for _ in range(2):
        length = rest[1]
        numbers.append(int.from_bytes(rest[2 : 2 + length], "big"))
        rest = rest[2 + length :]
    return b"".join(number.to_bytes(32, "big") for number in numbers)


def provider_token(key_file: str, key_id: str, team_id: str, issued_at: float | None = None) -> str:
    claims = {"iss": team_id, "iat": int(time.time() if issued_at is None else issued_at)}
    parts = [json.dumps(part).encode() for part in ({"alg": "ES256", "kid": key_id}, claims)]
    signed = ".".join(base64url(part) for part in parts)
    command = ["openssl", "dgst", "-sha256", "-sign", key_file]
    made = subprocess.run(command, input=signed.encode(), capture_output=True, check=True)
    return signed + "." + base64url(raw_signature(made.stdout))


@dataclass
class Answer:
    """What came on one stream."""

    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    pieces: int = 0
    reset: int | None = None
    ended: bool = False

    @property
    def status(self) -> int:
        return int(self.headers.get(":status", "0"))

    @property
    def reason(self) -> str | None:
        return json.loads(self.body)["reason"] if self.body else None


class Connection:
    """One HTTP/2 connection, on which the caller waits for what he wants to see."""

    def __init__(self, address: str, tls: ssl.SSLContext):
        host, _, port = address.rpartition(":")
        self.settings: list[int] = []  # limits of streams, in the order they came
        self.go_aways: list[tuple[int, int, bytes]] = []
        self.answers: dict[int, Answer] = {}
        self.pongs = 0
        self.closed = False
        self._rest = b""  # the beginning of a frame
        self._socket = tls.wrap_socket(
            socket.create_connection((host, int(port)), DEADLINE), server_hostname=host
        )
        self._http = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self._http.initiate_connection()
        self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def push(self, headers: dict[str, str], body: bytes, token: str, **changes: str) -> int:
        """Sends a push and returns its stream. `changes` replace pseudo fields, without their colon."""
        stream = self._http.get_next_available_stream_id()
        pseudo = {"method": "POST", "scheme": "https", "authority": "localhost", "path": "/3/device/" + token}
        pseudo.update(changes)
        fields = [(":" + name, value) for name, value in pseudo.items()] + list(headers.items())
        self._http.send_headers(stream, fields, end_stream=not body)
        if body:
            self._http.send_data(stream, body, end_stream=True)
        self.answers[stream] = Answer()
        self._flush()
        return stream

    def ping(self) -> None:
        self._http.ping(b"12345678")
        self._flush()

    def wait(self, holds: Callable[[], Any], what: str) -> None:
        """Reads until something holds."""
        end = time.monotonic() + DEADLINE
        while not holds():
            if self.closed or time.monotonic() > end:
                raise AssertionError(
                    f"{what} did not happen; the connection is {'closed' if self.closed else 'open'}"
                )
            self._read(end - time.monotonic())

    def answer(self, stream: int) -> Answer:
        answer = self.answers[stream]
        self.wait(lambda: answer.ended or answer.reset is not None, f"an answer on stream {stream}")
        return answer

    def is_silent(self, seconds: float) -> bool:
        """Whether nothing comes for a while."""
        self._socket.settimeout(seconds)
        try:
            return not self._socket.recv(1)
        except TimeoutError:
            return True

    def _flush(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.sendall(self._http.data_to_send())

    def _read(self, seconds: float) -> None:
        self._socket.settimeout(max(0.01, seconds))
        try:
            data = self._socket.recv(65536)
        except TimeoutError:
            return
        except OSError:
            data = b""
        if not data:
            self.closed = True
            return
        # h2 takes nothing after a GOAWAY, so that frame is kept from it.
        for frame in self._frames(data):
            self._take(frame)
        self._flush()

    def _frames(self, data: bytes) -> list[bytes]:
        self._rest += data
        frames = []
        while len(self._rest) >= 9 and len(self._rest) >= 9 + int.from_bytes(self._rest[:3], "big"):
            end = 9 + int.from_bytes(self._rest[:3], "big")
            frames.append(self._rest[:end])
            self._rest = self._rest[end:]
        return frames

    def _take(self, frame: bytes) -> None:
        if frame[3] == 7:
            last, code = int.from_bytes(frame[9:13], "big"), int.from_bytes(frame[13:17], "big")
            self.go_aways.append((last, code, frame[17:]))
            return
        for event in self._http.receive_data(frame):
            self._note(event)

    def _note(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RemoteSettingsChanged():
                changed = event.changed_settings.get(h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS)
                if changed:
                    self.settings.append(changed.new_value)
            case h2.events.ResponseReceived():
                self.answers[event.stream_id].headers = dict(event.headers)
            case h2.events.DataReceived():
                answer = self.answers[event.stream_id]
                answer.body += event.data
                answer.pieces += 1 if event.data else 0
            case h2.events.StreamEnded():
                self.answers[event.stream_id].ended = True
            case h2.events.StreamReset():
                self.answers[event.stream_id].reset = event.error_code
            case h2.events.PingAckReceived():
                self.pongs += 1


class Control:
    """The simulator's control API."""

    def __init__(self, address: str):
        self._address = address

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self._address}/{path}", data=data, method=method)
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            return json.load(answer)
