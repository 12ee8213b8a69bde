package io.borealis.push;

/** The kind of key with which app servers encrypt contents that only this device reads. */
public enum Encryption {
  /** No key: the app gets the neutral text of encrypted pushes. */
  NONE(0),
  /** X25519. The platform needs it: Java 11 or Android 12. */
  X25519(DeviceKey.X25519),
  /** NIST P-256, which every platform has. */
  P256(DeviceKey.P256);

  final int kind;

  Encryption(int kind) {
    this.kind = kind;
  }
}
