"""An identity provider (OpenID Connect Core 1.0) for tests, with one page on which its user agrees or declines.

It is strict: it refuses requests that lack something, and a code is good once, for the client, the redirect URI and the verifier
of PKCE of its request.
"""

import base64
import hashlib
import html
import http.server
import json
import secrets
import threading
import time
import urllib.parse
from typing import Any

CLIENT, SECRET = "borealis-console", "p4ss: with/other=characters"


def text_of(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Provider:
    """Where it listens; who its user is, what the next answers do, and which secrets it has given out."""

    def __init__(self, redirect: str):
        self.redirect = redirect
        self.claims: dict[str, Any] = {}
        self.fault = ""  # of the token endpoint: "slow" or "huge"
        self.secrets: list[str] = [SECRET]
        self.refusals: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}
        provider = self

        class Handler(_Handler):
            owner = provider

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._released = threading.Event()
        # Another site than the console's, which is at an address.
        self.issuer = f"http://localhost:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()

    def hang(self) -> None:
        self._released.wait(30)

    def refuse(self, what: str) -> str:
        self.refusals.append(what)
        return what

    def wrong(self, request: dict[str, str]) -> str:
        """What is wrong with the request that a browser brings; empty if nothing is."""
        wanted = {"response_type": "code", "client_id": CLIENT, "redirect_uri": self.redirect, "code_challenge_method": "S256"}
        for name, value in wanted.items():
            if request.get(name) != value:
                return self.refuse(f"{name} is {request.get(name)!r}")
        for name, length in {"state": 32, "nonce": 32, "code_challenge": 43}.items():
            if len(request.get(name, "")) < length:
                return self.refuse(f"{name} is too short")
        if "openid" not in request.get("scope", "").split():
            return self.refuse("no scope openid")
        return ""

    def code(self, request: dict[str, str]) -> str:
        code = secrets.token_urlsafe(24)
        self.codes[code] = request
        self.secrets += [code, request["nonce"], request["state"]]
        return code

    def tokens(self, form: dict[str, str], login: str) -> tuple[int, dict[str, Any]]:
        pair = ":".join(urllib.parse.quote(part, safe="") for part in (CLIENT, SECRET))
        if urllib.parse.unquote(login) != urllib.parse.unquote(pair):
            return 401, {"error": "invalid_client", "error_description": self.refuse("client")}
        request = self.codes.pop(form.get("code", ""), None)
        digest = text_of(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if not request or form.get("grant_type") != "authorization_code" or form.get("redirect_uri") != self.redirect \
                or digest != request["code_challenge"]:  # fmt: skip
            return 400, {"error": "invalid_grant", "error_description": self.refuse("grant")}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": request["nonce"], **self.claims}
        parts = [json.dumps({"alg": "RS256", "kid": "1"}).encode(), json.dumps(claims).encode(), secrets.token_bytes(256)]
        token, access = ".".join(text_of(part) for part in parts), secrets.token_urlsafe(24)
        self.secrets += [token, access, form["code_verifier"]]
        return 200, {"access_token": access, "token_type": "Bearer", "id_token": token}


class _Handler(http.server.BaseHTTPRequestHandler):
    owner: Provider

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        place = urllib.parse.urlsplit(self.path)
        if place.path == "/.well-known/openid-configuration":
            issuer = self.owner.issuer
            self._answer(200, {
                "issuer": issuer, "authorization_endpoint": f"{issuer}/authorize", "token_endpoint": f"{issuer}/token",
                "response_types_supported": ["code"], "authorization_response_iss_parameter_supported": True,
            })  # fmt: skip
        elif place.path == "/authorize":
            request = dict(urllib.parse.parse_qsl(place.query))
            if wrong := self.owner.wrong(request):
                return self._page(400, f"<h1>{html.escape(wrong)}</h1>")
            hidden = "".join(
                f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in request.items()
            )
            self._page(200, f'<h1>Company</h1><form method="post" action="/authorize">{hidden}'
                            '<button name="act" value="agree">Continue</button><button name="act" value="decline">Cancel</button>'
                            "</form>")  # fmt: skip
        else:
            self._answer(404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        form = dict(urllib.parse.parse_qsl(body))
        if self.path == "/token":
            self._token(form)
        elif self.path == "/authorize":
            answer = {"state": form["state"], "iss": self.owner.issuer}
            answer |= {"code": self.owner.code(form)} if form["act"] == "agree" else {"error": "access_denied"}
            self.send_response(303)
            self.send_header("Location", f"{form['redirect_uri']}?{urllib.parse.urlencode(answer)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._answer(404, {})

    def _token(self, form: dict[str, str]) -> None:
        if self.owner.fault == "slow":
            return self.owner.hang()
        if self.owner.fault == "huge":
            return self._answer(200, {"id_token": "x" * 10_000_000})
        kind, _, login = self.headers.get("Authorization", "").partition(" ")
        self._answer(*self.owner.tokens(form, base64.b64decode(login).decode() if kind == "Basic" else ""))

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(body).encode())

    def _page(self, status: int, body: str) -> None:
        page = f'<!doctype html><html lang="en"><title>Company</title><link rel="icon" href="data:,"><body>{body}</body></html>'
        self._send(status, "text/html; charset=utf-8", page.encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass  # The server has read enough.
