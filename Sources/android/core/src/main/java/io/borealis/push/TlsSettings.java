package io.borealis.push;

import java.io.BufferedInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** TLS 1.2 and 1.3 with the checks that a configuration asks for. */
final class TlsSettings {
  private static final List<String> PROTOCOLS = Arrays.asList("TLSv1.3", "TLSv1.2");

  private final SSLContext context;
  /** SHA-256 of the keys that are accepted, in hexadecimal; empty for all. */
  private final Set<String> pins;

  /** Reads the file with certificates; null stands for the system's authorities. */
  TlsSettings(File caFile, Set<String> pins) throws IOException {
    this.pins = pins;
    try {
      context = SSLContext.getInstance("TLS");
      context.init(null, caFile == null ? null : trustManagers(caFile), null);
    } catch (GeneralSecurityException error) {
      throw new IOException("TLS cannot be set up: " + error.getMessage(), error);
    }
  }

  private static TrustManager[] trustManagers(File file) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    int count = 0;
    try (InputStream input = new BufferedInputStream(new FileInputStream(file))) {
      for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(input)) {
        store.setCertificateEntry("ca-" + count++, certificate);
      }
    }
    if (count == 0) throw new IOException(file + " has no certificate");
    TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory.getTrustManagers();
  }

  /** The client's side of a connection. */
  SSLEngine engine(ServerAddress server) {
    SSLEngine engine = context.createSSLEngine(server.host, server.port);
    engine.setUseClientMode(true);
    List<String> protocols = new ArrayList<>();
    for (String protocol : engine.getSupportedProtocols()) {
      if (PROTOCOLS.contains(protocol)) protocols.add(protocol);
    }
    engine.setEnabledProtocols(protocols.toArray(new String[0]));
    try {
      SSLParameters parameters = engine.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      engine.setSSLParameters(parameters);
    } catch (NoSuchMethodError error) {
      // Android before API 24: verify() does it.
      return engine;
    }
    return engine;
  }

  /** Checks the certificate of a server after the handshake, which has verified its chain. */
  void verify(ServerAddress server, SSLEngine engine) throws IOException {
    Certificate[] chain;
    try {
      chain = engine.getSession().getPeerCertificates();
    } catch (SSLPeerUnverifiedException error) {
      throw new IOException("the server has no certificate", error);
    }
    if (chain.length == 0 || !(chain[0] instanceof X509Certificate)) {
      throw new IOException("the server has no certificate");
    }
    if (!HostNames.matches(server, (X509Certificate) chain[0])) {
      throw new IOException("the certificate is not for " + server.host);
    }
    // Only the server's own: what else it sends may not be what it was verified by.
    if (!pins.isEmpty() && !pins.contains(pin(chain[0]))) {
      throw new IOException("the certificate has another key than the pins");
    }
  }

  private static String pin(Certificate certificate) throws IOException {
    try {
      return Hex.of(MessageDigest.getInstance("SHA-256").digest(certificate.getPublicKey().getEncoded()));
    } catch (GeneralSecurityException error) {
      throw new IOException(error);
    }
  }
}
