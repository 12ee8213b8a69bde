"""A mail server for tests, aiosmtpd in a process of its own: prints its port, then each mail as a line of JSON.

    python3 smtp_server.py --certificate cert.pem --key key.pem --user push --password secret [--refuse STEP=ANSWER ...]

Nothing is taken without STARTTLS and a login. Each refusal is given once, in their order, when its step comes: `greeting`, `MAIL`,
`RCPT`, or `DATA` for what is answered behind a mail. It is told as a line of JSON as well.
"""

import argparse
import asyncio
import email
import email.header
import email.policy
import json
import ssl
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword


class Post:
    """Prints what comes."""

    def __init__(self, refusals: list[str]):
        self._refusals = [tuple(text.split("=", 1)) for text in refusals]

    def refusal(self, step: str) -> str | None:
        """What to answer to a step instead of what is usual."""
        if not self._refusals or self._refusals[0][0] != step:
            return None
        print(json.dumps({"refused": step}), flush=True)
        return self._refusals.pop(0)[1]

    async def handle_MAIL(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if refusal := self.refusal("MAIL"):
            return refusal
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if refusal := self.refusal("RCPT"):
            return refusal
        if address.startswith("gone@"):
            return "550 5.1.1 no such person"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if refusal := self.refusal("DATA"):
            return refusal
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        print(json.dumps({
            "from": envelope.mail_from, "to": envelope.rcpt_tos, "subject": str(mail["subject"]),
            "header_from": str(mail["from"]), "id": str(mail["message-id"]), "tls": session.ssl is not None,
            "name": session.host_name, "body": mail.get_content().replace("\r\n", "\n"),
        }), flush=True)  # fmt: skip
        return "250 OK"


class Conversation(SMTP):
    """A conversation that may begin with a refusal."""

    def __init__(self, post: Post, **options: Any):
        super().__init__(post, **options)
        self._post = post

    async def push(self, status: str | bytes) -> None:
        if isinstance(status, str) and status.startswith("220 mail.test "):
            if refusal := self._post.refusal("greeting"):
                await super().push(refusal)
                self.transport.close()
                return
        await super().push(status)


async def run(options: argparse.Namespace) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
    expected = LoginPassword(options.user.encode(), options.password.encode())

    def check(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
        return AuthResult(success=given == expected, handled=False)

    post = Post(options.refuse)

    def connection() -> SMTP:
        return Conversation(post, tls_context=context, require_starttls=True, authenticator=check, auth_required=True,
                            hostname="mail.test")  # fmt: skip

    server = await asyncio.get_running_loop().create_server(connection, "127.0.0.1", options.port)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("certificate", "key", "user", "password"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--refuse", action="append", default=[])
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(run(parser.parse_args()))
