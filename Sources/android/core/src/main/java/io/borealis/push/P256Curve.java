package io.borealis.push;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECFieldFp;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPrivateKeySpec;
import java.security.spec.ECPublicKeySpec;
import java.util.Arrays;
import javax.crypto.KeyAgreement;

/** NIST P-256 of the platform. Points are 65 bytes, uncompressed. */
final class P256Curve {
  private static final int SIZE = 32;

  private static volatile ECParameterSpec curve;

  private P256Curve() {}

  private static KeyPair generate() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    return generator.generateKeyPair();
  }

  /** A new scalar and its point. */
  static byte[][] pair() throws GeneralSecurityException {
    KeyPair pair = generate();
    return new byte[][] {
      fixed(((ECPrivateKey) pair.getPrivate()).getS()), encoded(((ECPublicKey) pair.getPublic()).getW())
    };
  }

  /** Whether a point is that of a scalar. */
  static boolean belong(byte[] scalar, byte[] point) throws GeneralSecurityException {
    ECParameterSpec curve = curve();
    ECPoint decoded = decoded(point, curve);
    // An agreement with the base point gives the first coordinate; the second one has two solutions, which
    // are equally good.
    return Arrays.equals(agree(scalar, encoded(curve.getGenerator())), fixed(decoded.getAffineX()));
  }

  /** The secret that both sides have in common. It fails for a point that is not on the curve. */
  static byte[] agree(byte[] scalar, byte[] point) throws GeneralSecurityException {
    ECParameterSpec curve = curve();
    KeyFactory factory = KeyFactory.getInstance("EC");
    KeyAgreement agreement = KeyAgreement.getInstance("ECDH");
    agreement.init(factory.generatePrivate(new ECPrivateKeySpec(new BigInteger(1, scalar), curve)));
    agreement.doPhase(factory.generatePublic(new ECPublicKeySpec(decoded(point, curve), curve)), true);
    return agreement.generateSecret();
  }

  /** The curve's numbers. Android has no other way to them before API 26. */
  private static ECParameterSpec curve() throws GeneralSecurityException {
    ECParameterSpec known = curve;
    if (known == null) {
      known = ((ECPublicKey) generate().getPublic()).getParams();
      curve = known;
    }
    return known;
  }

  private static ECPoint decoded(byte[] point, ECParameterSpec curve) throws GeneralSecurityException {
    if (point.length != 1 + 2 * SIZE || point[0] != 4) throw new GeneralSecurityException("not a point");
    BigInteger x = new BigInteger(1, Arrays.copyOfRange(point, 1, 1 + SIZE));
    BigInteger y = new BigInteger(1, Arrays.copyOfRange(point, 1 + SIZE, point.length));
    BigInteger prime = ((ECFieldFp) curve.getCurve().getField()).getP();
    BigInteger right = x.pow(3).add(curve.getCurve().getA().multiply(x)).add(curve.getCurve().getB());
    boolean isOnCurve = x.compareTo(prime) < 0 && y.compareTo(prime) < 0
        && y.multiply(y).subtract(right).mod(prime).signum() == 0;
    if (!isOnCurve) throw new GeneralSecurityException("the point is not on the curve");
    return new ECPoint(x, y);
  }

  private static byte[] encoded(ECPoint point) {
    byte[] coordinates = DeviceKey.concat(fixed(point.getAffineX()), fixed(point.getAffineY()));
    return DeviceKey.concat(new byte[] {4}, coordinates);
  }

  /** A number in 32 bytes. */
  private static byte[] fixed(BigInteger number) {
    byte[] bytes = number.toByteArray();
    byte[] fixed = new byte[SIZE];
    int count = Math.min(SIZE, bytes.length);
    System.arraycopy(bytes, bytes.length - count, fixed, SIZE - count, count);
    return fixed;
  }
}
