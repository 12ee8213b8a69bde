package io.borealis.push;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import javax.crypto.KeyAgreement;

/**
 * X25519 (RFC 7748) of the platform, which has it since Java 11 and Android 12. Its key classes are newer
 * than Java 8, so keys pass in their encodings (RFC 8410), which are a fixed prefix and 32 bytes.
 */
final class X25519Curve {
  private static final byte[] PRIVATE = Hex.bytes("302e020100300506032b656e04220420");
  private static final byte[] PUBLIC = Hex.bytes("302a300506032b656e032100");

  private X25519Curve() {}

  /** The public point of a private scalar: the product with the base point, whose coordinate is 9. */
  static byte[] point(byte[] scalar) throws GeneralSecurityException {
    byte[] base = new byte[32];
    base[0] = 9;
    return agree(scalar, base);
  }

  /** The secret that both sides have in common. It fails for points of small order. */
  static byte[] agree(byte[] scalar, byte[] point) throws GeneralSecurityException {
    KeyFactory factory = KeyFactory.getInstance("XDH");
    KeyAgreement agreement = KeyAgreement.getInstance("XDH");
    agreement.init(factory.generatePrivate(new PKCS8EncodedKeySpec(DeviceKey.concat(PRIVATE, scalar))));
    agreement.doPhase(factory.generatePublic(new X509EncodedKeySpec(DeviceKey.concat(PUBLIC, point))), true);
    byte[] secret = agreement.generateSecret();
    int sum = 0;
    for (byte value : secret) sum |= value;
    if (sum == 0) throw new GeneralSecurityException("a point of small order");
    return secret;
  }
}
