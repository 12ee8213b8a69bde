package io.borealis.push;

/** What REGISTER and LOGIN say of the device: Docs/protocol.md section 2. */
final class Profile {
  final byte[] appKey;
  final int platform;
  final String appVersion;
  final String clientName;
  /** Seconds; 0 lets the server choose. */
  final int heartbeat;
  final ApnsToken token;
  boolean foreground;

  Profile(byte[] appKey, int platform, String appVersion, String clientName, int heartbeat,
      boolean foreground) {
    this.appKey = appKey.clone();
    this.platform = platform;
    this.appVersion = appVersion;
    this.clientName = clientName;
    this.heartbeat = heartbeat;
    this.foreground = foreground;
    this.token = ApnsToken.NONE;
  }
}
