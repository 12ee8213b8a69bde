package io.borealis.push;

import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** The content coding aes128gcm of RFC 8188, for reading. */
final class ContentCoding {
  /** The largest ciphertext that is read, in bytes: more than any push holds. */
  private static final int MAX_SIZE = 65_536;
  private static final int SALT = 16;
  private static final int TAG = 16;
  /** Salt, size of a record, length of the key's name. */
  private static final int FIXED_HEADER = SALT + 4 + 1;

  private final byte[] bytes;
  private final byte[] salt;
  private final int recordSize;
  private final byte[] keyName;

  /** Reads the header of a ciphertext. */
  ContentCoding(byte[] bytes) throws ContentException {
    this.bytes = bytes;
    BodyReader reader = new BodyReader(bytes, 0, bytes.length);
    try {
      salt = reader.bytes(SALT);
      recordSize = (int) Math.min(reader.u32(), Integer.MAX_VALUE);
      keyName = reader.counted();
    } catch (FrameException error) {
      throw ContentException.malformed();
    }
    if (bytes.length > MAX_SIZE || recordSize < TAG + 2) throw ContentException.malformed();
  }

  /** Which key opens it, at most 255 bytes. */
  byte[] keyName() {
    return keyName;
  }

  /** Opens all records with a secret. */
  byte[] open(byte[] secret) throws ContentException {
    int start = FIXED_HEADER + keyName.length;
    if (start >= bytes.length) throw ContentException.malformed();
    byte[] key = derive(salt, secret, "Content-Encoding: aes128gcm\0", 16);
    byte[] nonce = derive(salt, secret, "Content-Encoding: nonce\0", 12);
    ByteArrayOutputStream plain = new ByteArrayOutputStream();
    for (long number = 0; start < bytes.length; number++) {
      int end = recordSize >= bytes.length - start ? bytes.length : start + recordSize;
      if (end - start <= TAG) throw ContentException.malformed();
      byte[] record = decrypt(key, nonce(nonce, number), start, end);
      // Padding is zeros after a delimiter, which says whether more records follow, so that truncation is
      // detected.
      int last = record.length - 1;
      while (last >= 0 && record[last] == 0) last--;
      if (last < 0 || record[last] != (end == bytes.length ? 2 : 1)) throw ContentException.damaged();
      plain.write(record, 0, last);
      start = end;
    }
    return plain.toByteArray();
  }

  private static byte[] nonce(byte[] base, long number) {
    byte[] nonce = base.clone();
    for (int index = 0; index < 8; index++) nonce[4 + index] ^= (byte) (number >>> 56 - 8 * index);
    return nonce;
  }

  private byte[] decrypt(byte[] key, byte[] nonce, int start, int end) throws ContentException {
    try {
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(8 * TAG, nonce));
      return cipher.doFinal(bytes, start, end - start);
    } catch (GeneralSecurityException error) {
      throw ContentException.damaged();
    }
  }

  private static byte[] derive(byte[] salt, byte[] secret, String info, int count) {
    return derive(salt, secret, Wire.utf8(info), count);
  }

  /** HKDF with SHA-256 (RFC 5869) for at most 32 bytes. The salt is not empty. */
  static byte[] derive(byte[] salt, byte[] secret, byte[] info, int count) {
    byte[] input = Arrays.copyOf(info, info.length + 1);
    input[info.length] = 1;
    return Arrays.copyOf(hmac(hmac(salt, secret), input), count);
  }

  private static byte[] hmac(byte[] key, byte[] input) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(input);
    } catch (GeneralSecurityException error) {
      // Every Java platform has it.
      throw new IllegalStateException(error);
    }
  }
}
