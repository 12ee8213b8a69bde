package io.borealis.push;

import java.util.Arrays;

/** The registration that the server issued. */
final class Identity {
  /** 19 hexadecimal digits in lower case. */
  final String registrationId;
  /** Its password, 16 bytes. */
  final byte[] secret;

  Identity(String registrationId, byte[] secret) {
    this.registrationId = registrationId;
    this.secret = secret.clone();
  }

  /** Reads ten bytes: 19 digits, then a zero digit. */
  static String registrationId(byte[] bytes) throws FrameException {
    if ((bytes[9] & 0xF) != 0) throw new FrameException("a registration ID does not end with a zero digit");
    return Hex.of(bytes).substring(0, 19);
  }

  byte[] registrationIdBytes() {
    return Hex.bytes(registrationId + "0");
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Identity && ((Identity) other).registrationId.equals(registrationId)
        && Arrays.equals(((Identity) other).secret, secret);
  }

  @Override
  public int hashCode() {
    return registrationId.hashCode();
  }

  /** Without the secret, so that it does not end up in a log. */
  @Override
  public String toString() {
    return registrationId;
  }
}
