package io.borealis.push;

/** A token by which the service of a channel, such as FCM, knows the device. */
final class ReportedToken {
  final String channel;
  /** Empty for the channel's ordinary kind. */
  final String kind;
  /** Empty for kinds of which a device has one. */
  final String name;
  /** Empty for the channel's first or only service. */
  final String service;
  /** Empty to remove the stored token. */
  final String token;

  ReportedToken(String channel, String kind, String name, String service, String token) {
    this.channel = channel;
    this.kind = kind;
    this.name = name;
    this.service = service;
    this.token = token;
  }

  /** Whether one replaces the other. */
  boolean hasSamePlace(ReportedToken other) {
    return channel.equals(other.channel) && kind.equals(other.kind) && name.equals(other.name);
  }
}
