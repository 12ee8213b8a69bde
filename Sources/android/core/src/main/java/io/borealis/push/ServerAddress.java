package io.borealis.push;

/** Where a server listens. */
final class ServerAddress {
  /** A host name or a numeric address, without brackets. */
  final String host;
  final int port;

  private ServerAddress(String host, int port) {
    this.host = host;
    this.port = port;
  }

  /** Reads {@code host:port} or {@code [IPv6]:port}; null for anything else. */
  static ServerAddress parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 0) return null;
    int port = 0;
    if (colon + 1 == text.length() || text.length() - colon > 6) return null;
    for (int index = colon + 1; index < text.length(); index++) {
      char digit = text.charAt(index);
      if (digit < '0' || digit > '9') return null;
      port = 10 * port + digit - '0';
    }
    if (port < 1 || port > 65_535) return null;
    String host = text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]") && host.length() >= 2) {
      host = host.substring(1, host.length() - 1);
    } else if (host.indexOf(':') >= 0) {
      return null;
    }
    if (host.isEmpty() || host.length() > 253) return null;
    for (int index = 0; index < host.length(); index++) {
      char character = host.charAt(index);
      if (character <= ' ' || character >= 127 || character == '/') return null;
    }
    return new ServerAddress(host, port);
  }

  /** Whether the host is an address and not a name. */
  boolean isNumeric() {
    if (host.indexOf(':') >= 0) return true;
    String[] parts = host.split("\\.", -1);
    if (parts.length != 4) return false;
    for (String part : parts) {
      if (part.isEmpty() || part.length() > 3) return false;
      for (int index = 0; index < part.length(); index++) {
        if (part.charAt(index) < '0' || part.charAt(index) > '9') return false;
      }
      if (Integer.parseInt(part) > 255) return false;
    }
    return true;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ServerAddress && ((ServerAddress) other).port == port
        && ((ServerAddress) other).host.equals(host);
  }

  @Override
  public int hashCode() {
    return 31 * host.hashCode() + port;
  }

  /** {@code host:port}, an IPv6 address in brackets. */
  @Override
  public String toString() {
    return host.indexOf(':') >= 0 ? "[" + host + "]:" + port : host + ":" + port;
  }
}
