"""Proves with a provider that shares no code with it that the built APNs simulator answers as Apple does.

    python3 apns_simulator.py --binary .build/debug/borealis-dev

Nothing here sleeps to be in step with the simulator: everything waits for an event and fails when it has not
come by a deadline.
"""

import argparse
import contextlib
import json
import pathlib
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from apns_provider import DEADLINE, Answer, Connection, Control, provider_token

TOKEN = "0a" * 32
PAYLOAD = b'{"aps":{"alert":"hello"}}'
REFUSED_STREAM = 7


def expect_equal(found: Any, expected: Any, what: str) -> None:
    assert found == expected, f"{what}: expected {expected!r}, found {found!r}"


class Simulator:
    """The running program, and a provider's credentials for it."""

    def __init__(self, binary: str, folder: pathlib.Path, *options: str):
        self._folder = folder
        command = [binary, "apns-simulator", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0",
                   "--data", str(folder), *options]  # fmt: skip
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout, "the output was asked for"
        self.ready = json.loads(self._process.stdout.readline())
        self.control = Control(self.ready["control"])
        self.token = provider_token(self.ready["key"], self.ready["key_id"], self.ready["team_id"])

    def line(self) -> dict[str, Any]:
        assert self._process.stdout, "the output was asked for"
        return json.loads(self._process.stdout.readline())

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(DEADLINE)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def connect(self, certificate: bool = False) -> Connection:
        tls = ssl.create_default_context(cafile=self.ready["ca"])
        tls.set_alpn_protocols(["h2"])
        if certificate:
            tls.load_cert_chain(self._client_certificate())
        return Connection(self.ready["apns"], tls)

    def _client_certificate(self) -> pathlib.Path:
        file = self._folder / "client.pem"
        password = "pass:" + self.ready["client_certificate_password"]
        command = ["openssl", "pkcs12", "-in", self.ready["client_certificate"], "-nodes",
                   "-passin", password, "-out", str(file)]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)
        return file

    def headers(self, **changes: str | None) -> dict[str, str]:
        """The fields of a good push; underscores in the names of changes stand for hyphens."""
        headers: dict[str, str | None] = {
            "authorization": "bearer " + self.token,
            "apns-topic": self.ready["topic"],
            "apns-push-type": "alert",
        }
        headers.update({name.replace("_", "-"): value for name, value in changes.items()})
        return {name: value for name, value in headers.items() if value is not None}

    def push(
        self, connection: Connection, body: bytes = PAYLOAD, token: str = TOKEN, **changes: Any
    ) -> Answer:
        return connection.answer(connection.push(self.headers(**changes), body, token))

    def connections(self) -> list[dict[str, Any]]:
        return self.control("GET", "connections")["connections"]

    def eventually(self, holds: Callable[[], Any], what: str) -> None:
        """Asks again and again until something holds."""
        end = time.monotonic() + DEADLINE
        while not holds():
            assert time.monotonic() < end, f"{what} did not come about"

    def first_push(self, connection: Connection) -> None:
        """One push that opens the connection for more streams, as a client should send it."""
        expect_equal(self.push(connection).status, 200, "status of the first push")
        connection.wait(lambda: connection.settings[-1] > 1, "a higher limit of streams")

    @contextlib.contextmanager
    def script(self, **rule: Any) -> Iterator[None]:
        self.control("POST", "script", rule)
        yield
        self.control("DELETE", "script")


def accepted(simulator: Simulator) -> None:
    """A push is accepted, its ID comes back, and its line tells what was sent"""
    with simulator.connect() as connection:
        connection.wait(lambda: connection.settings, "SETTINGS")
        expect_equal(connection.settings, [1], "streams before anybody is known")
        own = "5b2f6a52-6c58-4d0f-9c33-0a6f0a4f7c11"
        answer = simulator.push(connection, apns_id=own, apns_collapse_id="c")
        expect_equal((answer.status, answer.body), (200, b""), "answer")
        expect_equal(answer.headers["apns-id"], own, "apns-id")
        assert "apns-unique-id" not in answer.headers, "production gives no unique ID"
        connection.wait(lambda: len(connection.settings) > 1, "a higher limit of streams")
        expect_equal(connection.settings, [1, 20], "limits of streams")
        line = simulator.line()
        assert "authorization" not in line["headers"], "the provider token is in the log"
        expect_equal(line["payload"], json.loads(PAYLOAD), "payload of the line")
        expect_equal((line["token"], line["apns_id"], line["status"]), (TOKEN, own, 200), "line")
        expect_equal(line["headers"]["apns-collapse-id"], "c", "collapse ID of the line")


def refused(simulator: Simulator) -> None:
    """Faults are answered with Apple's reasons"""
    now = time.time()
    ready = simulator.ready

    def bearer(issued_at: float, team: str = ready["team_id"]) -> str:
        return "bearer " + provider_token(ready["key"], ready["key_id"], team, issued_at)

    faults: list[tuple[int, str, dict[str, Any]]] = [
        (400, "BadDeviceToken", {"token": "0a"}),
        (400, "MissingDeviceToken", {"token": ""}),
        (400, "MissingTopic", {"apns_topic": None}),
        (400, "InvalidPushType", {"apns_push_type": "voip"}),
        (400, "BadPriority", {"apns_push_type": "background"}),
        (400, "PayloadEmpty", {"body": b""}),
        (413, "PayloadTooLarge", {"body": b'{"aps":{"alert":"' + b"x" * 4096 + b'"}}'}),
        (403, "MissingProviderToken", {"authorization": None}),
        (403, "InvalidProviderToken", {"authorization": "bearer " + simulator.token[:-4] + "AAAA"}),
        (403, "InvalidProviderToken", {"authorization": bearer(now, "TEAM999999")}),
        (403, "ExpiredProviderToken", {"authorization": bearer(now - 3700)}),
    ]
    with simulator.connect() as connection:
        for status, reason, changes in faults:
            answer = simulator.push(connection, **changes)
            expect_equal((answer.status, answer.reason), (status, reason), f"answer to {changes}"[:200])
        expect_equal(simulator.push(connection).status, 200, "a good push after them")
        stream = connection.push(simulator.headers(), PAYLOAD, TOKEN, method="PUT")
        expect_equal(connection.answer(stream).reason, "MethodNotAllowed", "reason for another method")
        stream = connection.push(simulator.headers(), PAYLOAD, TOKEN, path="/3/devices/" + TOKEN)
        expect_equal(connection.answer(stream).reason, "BadPath", "reason for another path")


def gone(simulator: Simulator) -> None:
    """A token that is gone is answered 410 with a time in milliseconds; a push after that is found"""
    state = {"token": TOKEN, "state": "unregistered", "timestamp": 1767225600123}
    simulator.control("POST", "tokens", {"tokens": [state]})
    with simulator.connect() as connection:
        for _ in range(2):
            answer = simulator.push(connection)
            expect_equal(answer.status, 410, "status")
            expected = {"reason": "Unregistered", "timestamp": 1767225600123}
            expect_equal(json.loads(answer.body), expected, "body")
        simulator.control("DELETE", "tokens")
        expect_equal(simulator.push(connection).status, 200, "status once it is forgotten")
    findings = simulator.control("GET", "totals")["findings"]
    expect_equal(findings["push to a token after 410"], 1, "pushes after 410")


def with_certificate(simulator: Simulator) -> None:
    """A client certificate needs no provider token and has all streams at once"""
    with simulator.connect(certificate=True) as connection:
        connection.wait(lambda: 20 in connection.settings, "the full limit of streams")
        answer = simulator.push(connection, authorization=None, apns_topic=None)
        expect_equal(answer.status, 200, "status with the certificate's own topic")
        answer = simulator.push(connection, authorization=None, apns_topic="com.example.other")
        expect_equal(answer.reason, "TopicDisallowed", "reason for another topic")


def going_away(simulator: Simulator) -> None:
    """GOAWAY by script names the last stream that is served, and why"""
    with simulator.connect() as connection:
        simulator.first_push(connection)
        with simulator.script(action="goaway", last="before", reason="Shutdown", times=1):
            connection.push(simulator.headers(), PAYLOAD, TOKEN)
            connection.wait(lambda: connection.go_aways, "a GOAWAY")
        expect_equal(connection.go_aways[0], (1, 0, b'{"reason":"Shutdown"}'), "GOAWAY before the push")
        expect_equal(
            simulator.control("GET", "log?limit=1")["entries"][0]["accepted"], True, "the first push"
        )
    with simulator.connect() as connection:
        simulator.first_push(connection)
        with simulator.script(action="goaway", last="this", times=1):
            stream = connection.push(simulator.headers(), PAYLOAD, TOKEN)
            expect_equal(connection.answer(stream).status, 200, "status of the last push")
            connection.wait(lambda: connection.go_aways, "a GOAWAY")
        expect_equal(connection.go_aways[0], (stream, 0, b""), "GOAWAY with the push")
    with simulator.connect() as connection:
        simulator.first_push(connection)
        with simulator.script(action="goaway", last="announce", reason="Shutdown", times=1):
            expect_equal(simulator.push(connection).status, 200, "status of the push before")
            connection.wait(lambda: len(connection.go_aways) > 1, "a second GOAWAY")
        expected = [(2**31 - 1, 0, b""), (3, 0, b'{"reason":"Shutdown"}')]
        expect_equal(connection.go_aways, expected, "GOAWAY in two steps")
    with simulator.connect() as connection:
        simulator.first_push(connection)
        simulator.control("POST", "connections", {"action": "goaway", "reason": "IdleTimeout"})
        connection.wait(lambda: connection.go_aways, "a GOAWAY by order")
        expect_equal(connection.go_aways[0], (1, 0, b'{"reason":"IdleTimeout"}'), "GOAWAY by order")


def odd_answers(simulator: Simulator) -> None:
    """Answers by script: another one, in pieces, without a body, late, or a reset"""
    with simulator.connect() as connection:
        simulator.first_push(connection)
        with simulator.script(
            action="answer", reason="ServiceUnavailable", body="split", retry_after=9, times=1
        ):
            answer = simulator.push(connection)
            expect_equal((answer.status, answer.reason), (503, "ServiceUnavailable"), "answer in pieces")
            expect_equal(answer.headers["retry-after"], "9", "retry-after")
            assert answer.pieces > 2, f"the body came in {answer.pieces} pieces"
            expect_equal(simulator.push(connection).status, 200, "the next answer")
        with simulator.script(action="answer", status=500, body="absent"):
            answer = simulator.push(connection)
            expect_equal((answer.status, answer.body), (500, b""), "answer without a body")
        with simulator.script(action="reset", code=REFUSED_STREAM, token=TOKEN):
            expect_equal(simulator.push(connection).reset, REFUSED_STREAM, "reset")
            expect_equal(simulator.push(connection, token="0b" * 32).status, 200, "another token")
        with simulator.script(action="delay", delay_ms=3_600_000, times=1):
            late = connection.push(simulator.headers(), PAYLOAD, TOKEN)
            prompt = connection.push(simulator.headers(), PAYLOAD, TOKEN)
            expect_equal(connection.answer(prompt).status, 200, "the prompt answer")
            assert not connection.answers[late].ended, "the answer of an hour later has come"
        with simulator.script(action="delay", delay_ms=20, times=1):
            expect_equal(simulator.push(connection).status, 200, "the late answer")
        with simulator.script(action="streams", streams=3, times=1):
            simulator.push(connection)
            connection.wait(lambda: connection.settings[-1] == 3, "another limit of streams")


def lost_answers(simulator: Simulator) -> None:
    """Connections are cut and frozen, before or after the push was accepted"""
    for action in "cut", "freeze":
        for accepted in False, True:
            before = simulator.control("GET", "totals")["accepted"]
            with (
                simulator.connect() as connection,
                simulator.script(action=action, accepted=accepted, after=1),
            ):
                simulator.first_push(connection)
                connection.push(simulator.headers(), PAYLOAD, TOKEN)
                if action == "cut":
                    with contextlib.suppress(AssertionError):
                        connection.wait(lambda: False, "the end")
                    assert connection.closed, "the connection is open"
                else:
                    simulator.eventually(lambda: simulator.connections()[-1]["frozen"], "a frozen connection")
                    connection.ping()
                    assert connection.is_silent(0.2), "a frozen connection speaks"
                    simulator.control("POST", "connections", {"action": "thaw"})
                    connection.wait(lambda: connection.pongs, "the answer to the PING")
            count = simulator.control("GET", "totals")["accepted"] - before
            expect_equal(count, 2 if accepted else 1, f"accepted pushes, {action}")


def new_connections(simulator: Simulator) -> None:
    """New connections are refused for a while"""
    simulator.control("POST", "policy", {"new_connections": "refuse"})
    with contextlib.suppress(OSError), simulator.connect() as connection:
        raise AssertionError(f"a connection was made: {connection}")
    simulator.control("POST", "policy", {"new_connections": "serve"})
    with simulator.connect() as connection:
        simulator.first_push(connection)


def token_updates(simulator: Simulator) -> None:
    """Provider tokens that change too often are answered 429, and the connection is of no more use"""
    ready, now = simulator.ready, time.time()
    with simulator.connect() as connection:
        reasons = []
        for age in 30, 20, 10:
            token = provider_token(ready["key"], ready["key_id"], ready["team_id"], now - age)
            reasons.append(simulator.push(connection, authorization="bearer " + token).reason)
        reasons.append(simulator.push(connection, authorization="bearer " + token).reason)
        late = "TooManyProviderTokenUpdates"
        expect_equal(reasons, [None, None, late, late], "reasons")


def in_the_sandbox(simulator: Simulator) -> None:
    """The sandbox gives a second ID; what was kept in the folder is used again"""
    with simulator.connect() as connection:
        answer = simulator.push(connection)
        assert len(answer.headers["apns-unique-id"]) == 36, "no unique ID"
    expect_equal(simulator.ready["environment"], "sandbox", "environment")


def play(binary: str, folder: pathlib.Path) -> None:
    scenarios = [
        accepted, refused, gone, with_certificate, going_away, odd_answers, lost_answers, new_connections,
        token_updates,
    ]  # fmt: skip
    for options, played in (["--streams", "20"], scenarios), (["--sandbox"], [in_the_sandbox]):
        simulator = Simulator(binary, folder, *options)
        try:
            for scenario in played:
                simulator.control("DELETE", "log")
                try:
                    scenario(simulator)
                except Exception as error:
                    raise AssertionError(f"{scenario.__name__}: {error!r}") from error
                print(f"ok - {scenario.__doc__}", flush=True)
            expect_equal(simulator.stop(), 0, "exit status")
        finally:
            simulator.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description="Proves a built APNs simulator with a provider of its own.")
    parser.add_argument("--binary", required=True, help="the built program")
    binary = str(pathlib.Path(parser.parse_args().binary).resolve())
    with tempfile.TemporaryDirectory(prefix="borealis-") as folder:
        try:
            play(binary, pathlib.Path(folder))
        except AssertionError as failure:
            sys.exit(f"FAILED {failure}")


if __name__ == "__main__":
    main()
