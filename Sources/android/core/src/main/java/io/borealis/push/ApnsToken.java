package io.borealis.push;

/** A token of Apple's push service. Devices of other platforms have none. */
final class ApnsToken {
  static final ApnsToken NONE = new ApnsToken(0, new byte[0]);

  /** 0 none, 1 production, 2 sandbox. */
  final int environment;
  final byte[] bytes;

  ApnsToken(int environment, byte[] bytes) {
    this.environment = environment;
    this.bytes = bytes.clone();
  }
}
