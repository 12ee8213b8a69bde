"""Contents that only devices read, for app servers in Python: Docs/encryption.md.

Copy this file; it needs the package `cryptography` and nothing of Borealis. Keys come from GET /v1/devices/keys:

    key = DeviceKey.of(answer["keys"][0])
    push = {"platform": "all", "audience": {"registration_id": [key.registration_id]},
            "notification": {"alert": "You have news"},
            "options": {"encryption": key.encryption(notification={"alert": "Your order has shipped"})}}

For many devices a content key is shared first, with PUT /v1/keys/{id}:

    shared = ContentKey()
    requests.put(f"{api}/v1/keys/{shared.id}", json={"devices": {key.registration_id: shared.sealed_for(key)}})
    push["options"] = {"encryption": shared.encryption(message={"msg_content": "for all of you"})}

Keys of the kind "sm2" are for `borealis push --encrypt`: the package has no SM2.
"""

import base64
import hashlib
import json
import os
from dataclasses import dataclass, field

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def _derive(salt: bytes, secret: bytes, info: bytes, size: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=size, salt=salt, info=info).derive(secret)


def seal(plain: bytes, secret: bytes, key_name: bytes) -> bytes:
    """One record of aes128gcm (RFC 8188)."""
    salt = os.urandom(16)
    key = _derive(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(salt, secret, b"Content-Encoding: nonce\0", 12)
    size = max(4096, len(plain) + 17)
    header = salt + size.to_bytes(4, "big") + bytes([len(key_name)]) + key_name
    return header + AESGCM(key).encrypt(nonce, plain + b"\2", None)


def _encryption(key: str, encipher, parts: dict[str, dict]) -> dict[str, str]:
    members = {"alg": "aes128gcm", "key": key}
    for part, content in parts.items():
        plain = json.dumps(content, ensure_ascii=False).encode()
        members[part] = base64.b64encode(encipher(plain)).decode()
    return members


@dataclass(frozen=True)
class DeviceKey:
    """The public key of one device."""

    registration_id: str
    kind: str
    point: bytes
    auth: bytes

    @classmethod
    def of(cls, entry: dict[str, str]) -> "DeviceKey":
        """Reads an entry of the answer to GET /v1/devices/keys."""
        if entry["kind"] not in ("x25519", "p256"):
            raise ValueError(f"keys of the kind {entry['kind']} are not supported")
        point, auth = base64.b64decode(entry["point"]), base64.b64decode(entry["auth"])
        return cls(entry["registration_id"], entry["kind"], point, auth)

    @property
    def id(self) -> str:
        return hashlib.sha256(self.point).digest()[:8].hex()

    def seal(self, plain: bytes) -> bytes:
        """Enciphers for this device (RFC 8291)."""
        if self.kind == "x25519":
            own = x25519.X25519PrivateKey.generate()
            name = own.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
            common = own.exchange(x25519.X25519PublicKey.from_public_bytes(self.point))
        else:
            own = ec.generate_private_key(ec.SECP256R1())
            name = own.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
            peer = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), self.point)
            common = own.exchange(ec.ECDH(), peer)
        secret = _derive(self.auth, common, b"WebPush: info\0" + self.point + name, 32)
        return seal(plain, secret, name)

    def encryption(self, **parts: dict) -> dict[str, str]:
        """`options.encryption` of a push to this device; the parts are `notification` and `message`."""
        return _encryption(self.id, self.seal, parts)


@dataclass(frozen=True)
class ContentKey:
    """A key that many devices share. Keep `id` and `secret` as long as it is used."""

    id: str = field(default_factory=lambda: os.urandom(8).hex())
    secret: bytes = field(default_factory=lambda: os.urandom(32), repr=False)

    def sealed_for(self, device: DeviceKey) -> str:
        """The key, enciphered for a device, as PUT /v1/keys/{id} takes it."""
        return base64.b64encode(device.seal(b"\1" + self.secret)).decode()

    def encryption(self, **parts: dict) -> dict[str, str]:
        """`options.encryption` of a push to all who have the key."""
        return _encryption(self.id, lambda plain: seal(plain, self.secret, bytes.fromhex(self.id)), parts)
