package io.borealis.push;

import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** Encrypts contents as app servers do: RFC 8188 with one record, and RFC 8291. */
final class Sealer {
  private Sealer() {}

  /** For one device. */
  static byte[] seal(byte[] plain, DeviceKey receiver) throws GeneralSecurityException {
    DeviceKey sender = DeviceKey.create(receiver.kind);
    int size = DeviceKey.pointSize(receiver.kind);
    byte[] scalar = Arrays.copyOf(sender.bytes(), 32);
    byte[] senderPoint = Arrays.copyOf(sender.publicBytes(), size);
    byte[] point = Arrays.copyOf(receiver.publicBytes(), size);
    byte[] auth = Arrays.copyOfRange(receiver.publicBytes(), size, size + Wire.AUTH_BYTES);
    byte[] secret = receiver.kind == DeviceKey.X25519
        ? X25519Curve.agree(scalar, point) : P256Curve.agree(scalar, point);
    byte[] info = DeviceKey.concat(Wire.utf8("WebPush: info\0"), DeviceKey.concat(point, senderPoint));
    return seal(plain, ContentCoding.derive(auth, secret, info, 32), senderPoint);
  }

  /** Under a secret that the key's name stands for. */
  static byte[] seal(byte[] plain, byte[] secret, byte[] keyName) throws GeneralSecurityException {
    byte[] salt = new byte[16];
    new SecureRandom().nextBytes(salt);
    byte[] key = ContentCoding.derive(salt, secret, Wire.utf8("Content-Encoding: aes128gcm\0"), 16);
    byte[] nonce = ContentCoding.derive(salt, secret, Wire.utf8("Content-Encoding: nonce\0"), 12);
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, nonce));
    ByteArrayOutputStream sealed = new ByteArrayOutputStream();
    sealed.writeBytes(salt);
    sealed.writeBytes(new byte[] {0, 0, 16, 0, (byte) keyName.length});
    sealed.writeBytes(keyName);
    sealed.writeBytes(cipher.doFinal(Arrays.copyOf(DeviceKey.concat(plain, new byte[] {2}), plain.length
        + 1)));
    return sealed.toByteArray();
  }

  static String base64(byte[] bytes) {
    return java.util.Base64.getEncoder().encodeToString(bytes);
  }
}
