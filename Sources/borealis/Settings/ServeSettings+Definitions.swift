import BorealisBase

extension ServeSettings {
  /// The settings of `borealis serve`, in the order of `--help` and of Docs/operations/settings.md.
  static let definitions: [SettingDefinition] =
    addresses + tls + ACMESettings.definitions + ClusterSettings.definitions + apns + Vendors.settings
    + callbacks
    + OutgoingProxySettings.definitions
    + MailSettings.definitions + SignOnSettings.definitions + logging + TracingSettings.definitions
    + stopping + limits + time

  private static let addresses =
    DataFolder.settings + [
      SettingDefinition(
        name: "http", valueName: "HOST:PORT", help: "The address of the HTTP APIs without TLS.",
        kind: .address),
      SettingDefinition(
        name: "http-tls", valueName: "HOST:PORT", help: "The address of the HTTP APIs over TLS.",
        kind: .address),
      SettingDefinition(
        name: "device", valueName: "HOST:PORT", help: "The address for devices over TLS.", kind: .address),
      SettingDefinition(
        name: "device-plain", valueName: "HOST:PORT", help: "The address for devices without TLS.",
        kind: .address),
      SettingDefinition(
        name: "config", valueName: "FILE", help: "A file with lines such as \"http = 127.0.0.1:8080\".",
        kind: .text),
      SettingDefinition(
        name: "loops", valueName: "N", help: "Event-loop threads; the default is one per core.",
        kind: .number(1...256)),
    ]

  private static let tls = [
    SettingDefinition(
      name: "tls-certificate", valueName: "FILE",
      help: "The certificate chain, PEM. Without it, the server creates a certificate in DIR/tls.",
      kind: .text),
    SettingDefinition(
      name: "tls-key", valueName: "FILE", help: "The certificate's private key, PEM, not encrypted.",
      kind: .text),
    SettingDefinition(
      name: "tls-names", valueName: "NAME,...",
      help: "DNS names and addresses for the created certificate, in addition to this machine's.",
      kind: .list),
    SettingDefinition(
      name: "tls-records", valueName: "WHO",
      help:
        "What protects a device's bytes after a TLS 1.3 handshake: Borealis, in less than 1 KB of memory, or OpenSSL, in 14 KB.",
      default: "borealis", kind: .choice(["borealis", "openssl"])),
  ]

  private static let apns = [
    SecretKeyFile.setting,
    SettingDefinition(
      name: "apns-production", valueName: "HOST:PORT",
      help: "The address of APNs, instead of api.push.apple.com:443: a simulator, or port 2197.",
      kind: .address),
    SettingDefinition(
      name: "apns-sandbox", valueName: "HOST:PORT",
      help: "The address of the APNs sandbox, instead of api.sandbox.push.apple.com:443.", kind: .address),
    SettingDefinition(
      name: "apns-ca", valueName: "FILE",
      help: "Certificates (PEM) to trust for APNs in addition to the system's, such as a simulator's.",
      kind: .text),
  ]

  private static let callbacks = [
    SettingDefinition(
      name: "callback-networks", valueName: "CIDR,...",
      help: "Private networks that callbacks may be sent to, such as 10.1.0.0/16.",
      kind: .list),
    SettingDefinition(
      name: "callback-ca", valueName: "FILE",
      help: "Certificates (PEM) to trust for callbacks in addition to the system's.", kind: .text),
    SettingDefinition(
      name: "keep-callbacks", valueName: "TIME",
      help: "How long callbacks and their outcomes are kept.", default: "3d",
      kind: .duration),
  ]

  private static let logging = [
    SettingDefinition(
      name: "log-level", valueName: "LEVEL",
      help: "The lowest level to log: debug, info, warning or error.", default: "info",
      kind: .choice(["debug", "info", "warning", "error"])),
    SettingDefinition(
      name: "log-format", valueName: "FORMAT", help: "The format of log lines: text or json.",
      default: "text",
      kind: .choice(["text", "json"])),
  ]

  private static let stopping = [
    SettingDefinition(
      name: "drain-delay", valueName: "TIME",
      help: "How long the server keeps serving after SIGTERM while /readyz answers 503, for load balancers.",
      default: "0s",
      kind: .duration),
    SettingDefinition(
      name: "drain-seconds", valueName: "N",
      help: "How long requests and devices may take to finish after that.", default: "20",
      kind: .number(1...3600)),
  ]

  private static let limits = [
    SettingDefinition(
      name: "heartbeat-min", valueName: "TIME", help: "The shortest heartbeat interval of a device.",
      default: "30s", kind: .duration),
    SettingDefinition(
      name: "heartbeat-max", valueName: "TIME",
      help:
        "The longest heartbeat interval of a device. The default interval is 10 minutes, within both limits.",
      default: "30m", kind: .duration),
    SettingDefinition(
      name: "ack-delay", valueName: "TIME",
      help: "How long a device may collect acknowledgements before it sends them.",
      default: "500ms", kind: .duration),
    SettingDefinition(
      name: "max-devices", valueName: "N",
      help: "Concurrent device connections; the default follows from the limit of open files.",
      kind: .number(1...10_000_000)),
    SettingDefinition(
      name: "max-http-connections", valueName: "N", help: "Concurrent HTTP connections.", default: "2048",
      kind: .number(16...1_000_000)),
    SettingDefinition(
      name: "network-http-connections", valueName: "N",
      help:
        "HTTP connections that one network (IPv4 address, IPv6 /64) may have; a quarter of all if not given, three quarters at most.",
      kind: .number(1...1_000_000)),
    SettingDefinition(
      name: "network-strangers", valueName: "N",
      help:
        "Device connections without a login that one network (IPv4 address, IPv6 /64) may have; at most a quarter of all.",
      default: "5000", kind: .number(1...1_000_000)),
    SettingDefinition(
      name: "network-registrations", valueName: "N",
      help: "Registrations per minute from one network.", default: "3000",
      kind: .number(1...100_000_000)),
    SettingDefinition(
      name: "app-registrations", valueName: "N",
      help: "Registrations that an app may have; further devices are refused until some are deleted.",
      default: "10000000", kind: .number(1...4_000_000_000)),
    SettingDefinition(
      name: "push-calls", valueName: "N", help: "Calls of the push API per minute and app.",
      default: "6000000", kind: .number(1...1_000_000_000)),
    SettingDefinition(
      name: "device-calls", valueName: "N", help: "Calls of the device API per minute and app.",
      default: "600000", kind: .number(1...1_000_000_000)),
    SettingDefinition(
      name: "trusted-proxies", valueName: "NETWORK,...",
      help: "Trusted proxies, whose X-Forwarded-For is used, such as 10.0.0.0/8; the default is none.",
      kind: .list),
    SettingDefinition(
      name: "device-proxies", valueName: "NETWORK,...",
      help:
        "Load balancers that send the PROXY protocol to the device ports, such as 10.0.0.0/8; each of their connections must begin with it.",
      kind: .list),
    SettingDefinition(
      name: "device-origins", valueName: "ORIGIN,...",
      help:
        "Origins of web pages that may connect as devices, such as https://www.example.com; * for all.",
      kind: .list),
    SettingDefinition(
      name: "autopush-app", valueName: "KEY",
      help:
        "The app whose devices browsers are that use this server as their push service (Docs/autopush.md); needs public-url.",
      kind: .text),
    SettingDefinition(
      name: "request-log", valueName: "WHICH",
      help:
        "Which calls of the HTTP APIs are kept in the database for seven days: all, refused or off.",
      default: "all", kind: .choice(["all", "refused", "off"])),
    SettingDefinition(
      name: "docs", valueName: "WHEN",
      help: "Whether the server shows its documentation to everybody under /docs: on or off.",
      default: "on", kind: .choice(["on", "off"])),
    SettingDefinition(
      name: "keep-newcomers", valueName: "TIME",
      help:
        "After which time a registration without a push token is deleted that no device used after its first hour; 0s for never.",
      default: "30d", kind: .duration),
    SettingDefinition(
      name: "keep-inactive", valueName: "TIME",
      help: "After which time a registration is deleted whose device was not connected; 0s for never.",
      default: "255d", kind: .duration),
    SettingDefinition(
      name: "keep-pushes", valueName: "TIME",
      help: "How long pushes are kept after acceptance; a push that is still pending is kept longer.",
      default: "30d", kind: .duration),
  ]

  private static let time = [
    SettingDefinition(
      name: "time-zone", valueName: "ZONE",
      help: "The time zone of requests and responses, such as Europe/Berlin.",
      default: "Asia/Shanghai", kind: .text),
    SettingDefinition(
      name: "schedules", valueName: "N", help: "Schedules that an app may have.", default: "100",
      kind: .number(1...1_000_000)),
    SettingDefinition(
      name: "schedule-grace", valueName: "TIME",
      help: "How late a missed schedule may still fire, within the push's time to live.", default: "6h",
      kind: .duration),
  ]
}
