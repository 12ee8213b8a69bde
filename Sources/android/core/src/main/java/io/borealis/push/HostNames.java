package io.borealis.push;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

/**
 * Checks a certificate against a host by its subject alternative names (RFC 6125). The platform does this as
 * well, but Android before API 24 does not for the kind of TLS that the library uses.
 */
final class HostNames {
  private static final int DNS = 2;
  private static final int ADDRESS = 7;

  private HostNames() {}

  static boolean matches(ServerAddress server, X509Certificate certificate) {
    try {
      Collection<List<?>> names = certificate.getSubjectAlternativeNames();
      if (names == null) return false;
      for (List<?> name : names) {
        Object type = name.get(0);
        if (!(name.get(1) instanceof String)) continue;
        String text = (String) name.get(1);
        boolean isNumeric = server.isNumeric();
        if (isNumeric && type.equals(ADDRESS) && isSameAddress(server.host, text)) return true;
        if (!isNumeric && type.equals(DNS) && isSameName(server.host, text)) return true;
      }
      return false;
    } catch (CertificateParsingException error) {
      return false;
    }
  }

  private static boolean isSameAddress(String host, String name) {
    try {
      // Neither is a name, so nothing is resolved.
      return InetAddress.getByName(host).equals(InetAddress.getByName(name));
    } catch (UnknownHostException error) {
      return false;
    }
  }

  /** A star stands for the whole first label, and two more labels follow it. */
  static boolean isSameName(String host, String pattern) {
    String left = lower(host);
    String right = lower(pattern);
    if (!right.startsWith("*.")) return left.equals(right);
    int dot = left.indexOf('.');
    String parent = right.substring(1);
    boolean isWide = parent.indexOf('.', 1) < 0 || parent.indexOf('*') >= 0;
    return !isWide && dot > 0 && left.substring(dot).equals(parent);
  }

  private static String lower(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
  }
}
