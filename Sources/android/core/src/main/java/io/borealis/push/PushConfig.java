package io.borealis.push;

import java.io.File;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * The server, the app and the device. Immutable.
 *
 * <pre>{@code
 * PushConfig config =
 *     PushConfig.builder("push.example.com:7900", "0123456789abcdef00112233", new File("push.state"))
 *         .appVersion("1.2")
 *         .build();
 * }</pre>
 */
public final class PushConfig implements Cloneable {
  // They do not change once the configuration is built.
  final ServerAddress server;
  final byte[] appKey;
  final File stateFile;
  Platform platform = Platform.ANDROID;
  String appVersion = "";
  String clientName = "borealis-java/1";
  int heartbeat;
  boolean foreground;
  String formerRegistrationId;
  Encryption encryption = Encryption.NONE;
  boolean plain;
  File caFile;
  Set<String> pins = Collections.emptySet();
  Executor executor;
  FactSource facts = fact -> fact == FactSource.APP_VERSION ? appVersion : null;

  PushConfig(String server, String appKey, File stateFile) {
    this.server = ServerAddress.parse(server);
    if (this.server == null) throw new IllegalArgumentException("\"" + server + "\" is not host:port");
    this.appKey = Hex.bytes(appKey);
    if (this.appKey == null || this.appKey.length != 12) {
      throw new IllegalArgumentException("an app key has 24 hexadecimal digits");
    }
    this.stateFile = check(stateFile, "stateFile");
  }

  static <T> T check(T value, String name) {
    if (value == null) throw new NullPointerException(name);
    return value;
  }

  /**
   * Starts a configuration.
   *
   * @param server the device port of the server, {@code host:port} or {@code [IPv6]:port}
   * @param appKey the app's key, 24 hexadecimal digits
   * @param stateFile where the library keeps its state; it makes files beside it whose names begin with the
   *     same. Use a folder that other apps cannot read and that backups leave out, since the file holds the
   *     registration's secret
   * @throws IllegalArgumentException if the address or the key is malformed
   */
  public static Builder builder(String server, String appKey, File stateFile) {
    return new Builder(new PushConfig(server, appKey, stateFile));
  }

  /** Collects the settings that have defaults. */
  public static final class Builder {
    private final PushConfig config;

    Builder(PushConfig config) {
      this.config = config;
    }

    /** What the device runs; {@link Platform#ANDROID} by default. */
    public Builder platform(Platform platform) {
      config.platform = check(platform, "platform");
      return this;
    }

    /** The app's version, of which the first 255 bytes of UTF-8 count; empty by default. */
    public Builder appVersion(String version) {
      config.appVersion = check(version, "version");
      return this;
    }

    /**
     * A name for the server's logs, of which the first 255 bytes of UTF-8 count; the library's name by
     * default.
     */
    public Builder clientName(String name) {
      config.clientName = check(name, "name");
      return this;
    }

    /**
     * The heartbeat interval to request, 0 to 65535 seconds; by default 0, which lets the server choose. The
     * server grants 30 to 1800 seconds unless its operator changed that.
     */
    public Builder heartbeat(int seconds) {
      if (seconds < 0 || seconds > 0xFFFF) {
        throw new IllegalArgumentException("a heartbeat is 0 to 65535 seconds");
      }
      config.heartbeat = seconds;
      return this;
    }

    /** Whether the app starts in the foreground; false by default. */
    public Builder foreground(boolean foreground) {
      config.foreground = foreground;
      return this;
    }

    /**
     * The registration ID that JPush issued to this install, or its CID at Getui, at most 58 bytes. If it was
     * imported, the first registration takes it over with its alias and tags. Null, the default, if there was
     * none.
     */
    public Builder formerRegistrationId(@Nullable String id) {
      config.formerRegistrationId = id;
      return this;
    }

    /** The kind of key for end-to-end encryption; {@link Encryption#NONE} by default. */
    public Builder encryption(Encryption encryption) {
      config.encryption = check(encryption, "encryption");
      return this;
    }

    /** Reads facts about the device, before the sources that were set earlier. */
    public Builder facts(FactSource source) {
      FactSource earlier = config.facts;
      config.facts = fact -> {
        String value = source.read(fact);
        return value == null ? earlier.read(fact) : value;
      };
      return this;
    }

    /** Connects without TLS: for local use. By default the connection uses TLS 1.2 or newer. */
    public Builder plain() {
      config.plain = true;
      return this;
    }

    /**
     * A file with certificates in PEM. The server's certificate must be signed by one of them, or be one of
     * them, instead of by one of the system's authorities. It is read at the start.
     */
    public Builder caFile(@Nullable File file) {
      config.caFile = file;
      return this;
    }

    /**
     * Accepts only servers whose certificate has one of these keys, in addition to the other checks. A pin is
     * the SHA-256 of the certificate's SubjectPublicKeyInfo in Base64, as {@code openssl} and browsers have
     * it. Pin a second key, which the server does not use yet, so that the first one can be replaced.
     *
     * @throws IllegalArgumentException if a pin is not the Base64 of 32 bytes
     */
    public Builder pins(Collection<String> pins) {
      Set<String> copy = new LinkedHashSet<>();
      for (String pin : pins) {
        byte[] bytes = Base64.decode(pin);
        if (bytes == null || bytes.length != 32) {
          throw new IllegalArgumentException("\"" + pin + "\" is not a pin");
        }
        copy.add(Hex.of(bytes));
      }
      config.pins = Collections.unmodifiableSet(copy);
      return this;
    }

    /**
     * Where the listener is called: on Android usually the main thread. Calls never overlap and keep their
     * order, whatever the executor does. Null, the default, is a thread of the library.
     */
    public Builder executor(@Nullable Executor executor) {
      config.executor = executor;
      return this;
    }

    /**
     * Ends the configuration.
     *
     * @throws IllegalArgumentException if settings contradict each other
     */
    public PushConfig build() {
      if (config.plain && (config.caFile != null || !config.pins.isEmpty())) {
        throw new IllegalArgumentException("a connection without TLS has no certificate to check");
      }
      try {
        return (PushConfig) config.clone();
      } catch (CloneNotSupportedException error) {
        throw new IllegalStateException(error);
      }
    }
  }
}
