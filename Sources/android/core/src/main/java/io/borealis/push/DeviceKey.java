package io.borealis.push;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;

/** A key pair of the device for contents that only it reads: Docs/encryption.md. Immutable. */
final class DeviceKey {
  static final int X25519 = 1;
  static final int P256 = 2;

  private static final int SCALAR = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  final int kind;
  private final byte[] scalar;
  private final byte[] point;
  private final byte[] auth;

  private DeviceKey(int kind, byte[] scalar, byte[] point, byte[] auth) {
    this.kind = kind;
    this.scalar = scalar;
    this.point = point;
    this.auth = auth;
  }

  /** How many bytes a public point has; 0 for kinds that the library does not know. */
  static int pointSize(int kind) {
    return kind == X25519 ? 32 : kind == P256 ? 65 : 0;
  }

  /** Makes a key pair; fails if the platform does not have the curve. */
  static DeviceKey create(int kind) throws GeneralSecurityException {
    byte[] auth = new byte[Wire.AUTH_BYTES];
    RANDOM.nextBytes(auth);
    if (kind == P256) {
      byte[][] pair = P256Curve.pair();
      return new DeviceKey(kind, pair[0], pair[1], auth);
    }
    byte[] scalar = new byte[SCALAR];
    RANDOM.nextBytes(scalar);
    return new DeviceKey(kind, scalar, X25519Curve.point(scalar), auth);
  }

  /** Reads what {@link #bytes} gave; fails unless the two halves belong together. */
  static DeviceKey read(int kind, byte[] bytes) throws GeneralSecurityException {
    int size = pointSize(kind);
    if (size == 0 || bytes.length != SCALAR + size + Wire.AUTH_BYTES) {
      throw new GeneralSecurityException("not a key");
    }
    byte[] scalar = Arrays.copyOf(bytes, SCALAR);
    byte[] point = Arrays.copyOfRange(bytes, SCALAR, SCALAR + size);
    boolean belong =
        kind == X25519 ? Arrays.equals(X25519Curve.point(scalar), point) : P256Curve.belong(scalar, point);
    if (!belong) throw new GeneralSecurityException("the halves of a key do not belong together");
    return new DeviceKey(kind, scalar, point, Arrays.copyOfRange(bytes, SCALAR + size, bytes.length));
  }

  /** The private scalar, then the public half: a secret. */
  byte[] bytes() {
    return concat(scalar, publicBytes());
  }

  /** The point, then {@code auth}: what the server gets. */
  byte[] publicBytes() {
    return concat(point, auth);
  }

  /** The first eight bytes of SHA-256 of the point. */
  long id() {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(point);
      long id = 0;
      for (int index = 0; index < 8; index++) id = id << 8 | digest[index] & 0xFF;
      return id;
    } catch (GeneralSecurityException error) {
      // Every Java platform has it.
      throw new IllegalStateException(error);
    }
  }

  /** Opens what was encrypted for the public half (RFC 8291). */
  byte[] open(byte[] sealed) throws ContentException {
    ContentCoding coding = new ContentCoding(sealed);
    byte[] sender = coding.keyName();
    if (sender.length != pointSize(kind)) throw ContentException.malformed();
    if (kind == P256 && sender[0] != 4) throw ContentException.malformed();
    byte[] secret;
    try {
      secret = kind == X25519 ? X25519Curve.agree(scalar, sender) : P256Curve.agree(scalar, sender);
    } catch (GeneralSecurityException error) {
      throw ContentException.damaged();
    }
    byte[] info = concat(Wire.utf8("WebPush: info\0"), concat(point, sender));
    return coding.open(ContentCoding.derive(auth, secret, info, 32));
  }

  static byte[] concat(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }
}
