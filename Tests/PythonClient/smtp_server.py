"""A mail server for tests, aiosmtpd in a process of its own: prints its port, then each mail as a line of JSON.

    python3 smtp_server.py --certificate cert.pem --key key.pem --user push --password secret [--busy N]

Nothing is taken without STARTTLS and a login. The first N mails are answered with 451, as a busy server does.
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

    def __init__(self, busy: int):
        self._busy = busy

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if address.startswith("gone@"):
            return "550 5.1.1 no such person"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self._busy > 0:
            self._busy -= 1
            print(json.dumps({"busy": envelope.rcpt_tos}), flush=True)
            return "451 4.3.0 later, please"
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        print(json.dumps({
            "from": envelope.mail_from, "to": envelope.rcpt_tos, "subject": str(mail["subject"]),
            "header_from": str(mail["from"]), "id": str(mail["message-id"]), "tls": session.ssl is not None,
            "body": mail.get_content().replace("\r\n", "\n"),
        }), flush=True)  # fmt: skip
        return "250 OK"


async def run(options: argparse.Namespace) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
    expected = LoginPassword(options.user.encode(), options.password.encode())

    def check(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
        return AuthResult(success=given == expected, handled=False)

    post = Post(options.busy)

    def connection() -> SMTP:
        return SMTP(post, tls_context=context, require_starttls=True, authenticator=check, auth_required=True,
                    hostname="mail.test")  # fmt: skip

    server = await asyncio.get_running_loop().create_server(connection, "127.0.0.1", options.port)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("certificate", "key", "user", "password"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(run(parser.parse_args()))
