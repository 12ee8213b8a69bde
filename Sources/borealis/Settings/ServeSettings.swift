import BorealisBase
import BorealisNet
import CLinux
import Channels
import Core
import DeviceGateway
import HTTP

/// The validated settings of `borealis serve`.
struct ServeSettings {
  let folder: DataFolder
  let http: HostPort?
  let httpTLS: HostPort?
  private(set) var device: HostPort?
  private(set) var devicePlain: HostPort?
  /// Certificate and key of the operator's; nil to have them made.
  let tlsFiles: (certificate: String, key: String)?
  /// Names and addresses for a certificate that is made.
  let tlsNames: [String]
  /// Nil unless a certificate authority issues the certificate.
  let acme: ACMESettings?
  /// Whether devices' connections with TLS 1.3 go on without OpenSSL behind their handshake.
  let releasesSessions: Bool
  let secretKeyFile: SecretKeyFile
  let log: Log
  let loops: Int
  let drainDelay: Int
  let drainSeconds: Int
  let heartbeat: ClosedRange<UInt16>
  let acknowledgementDelay: UInt16
  let maxDevices: Int?
  let maxHTTPConnections: Int
  let pushCallsPerMinute: Int
  let deviceCallsPerMinute: Int
  let httpConnectionsPerNetwork: Int?
  let unauthenticatedPerNetwork: Int
  let registrationsPerNetwork: Int
  let registrationsPerApp: Int
  let trustedProxies: [IPNetwork]
  /// Balancers that send the PROXY protocol to devices' ports.
  let deviceProxies: [IPNetwork]
  /// Web pages that may connect as devices.
  let deviceOrigins: OriginRule
  /// Nil if the server is not a push service for browsers.
  let autopush: AutopushOptions?
  /// Which calls of the HTTP APIs are kept in the database.
  let requestLog: RequestLog.Extent
  /// Whether the documentation is shown under `/docs`.
  let servesDocs: Bool
  /// Seconds for which pushes that are over are kept.
  let retention: Int64
  /// Seconds after which registrations are deleted that nobody used after the first hour, and those that
  /// nobody uses; nil for never.
  let newcomerSeconds: Int64?
  let inactiveSeconds: Int64?
  /// The zone of the process, which is set.
  let zone: ProcessZone
  /// Schedules of an app.
  let schedules: Int
  /// Seconds by which a schedule may fire late.
  let scheduleGrace: Int64

  let apnsHosts: APNsHosts
  /// The proxy that requests to other servers go through; nil for none.
  let proxy: OutgoingProxy?
  let vendors: Vendors
  let callbacks: CallbackService.Options
  let mail: MailSettings
  /// Nil if people log in with passwords only.
  let signOn: SignOnSettings?
  /// Nil if nothing is traced.
  let tracing: TracingSettings?
  /// Nil for a server that is alone.
  let cluster: ClusterSettings?

  /// The addresses to listen on, by the names of their settings.
  var addresses: [(name: String, address: HostPort)] {
    let all: [(String, HostPort?)] = [
      ("http", http), ("http-tls", httpTLS), ("device", device), ("device-plain", devicePlain),
      ("node", cluster?.address),
    ]
    return all.compactMap { name, address in address.map { (name, $0) } }
  }

  var usesTLS: Bool { device != nil || httpTLS != nil }

  /// The same with the addresses for devices that were bound: a port of 0 lets the system choose.
  func listening(on bound: [Listeners]) -> ServeSettings {
    func address(_ name: String) -> HostPort? {
      bound.first { $0.name == name }.flatMap { HostPort($0.address) }
    }
    var settings = self
    (settings.device, settings.devicePlain) = (address("device"), address("device-plain"))
    return settings
  }

  init(_ input: Input) throws(Failure) {
    let settings = input.settings
    folder = try DataFolder(input)
    secretKeyFile = SecretKeyFile(settings, folder: folder, isServer: true)
    http = settings.address("http")
    httpTLS = settings.address("http-tls")
    device = settings.address("device")
    devicePlain = settings.address("device-plain")
    guard http != nil || httpTLS != nil else { throw .usage("give --http or --http-tls") }
    guard device != nil || devicePlain != nil else { throw .usage("give --device or --device-plain") }
    cluster = try ClusterSettings(settings, isOnPostgres: !folder.holdsDatabase)
    (tlsFiles, tlsNames) = try Self.tls(settings, isUsed: device != nil || httpTLS != nil)
    releasesSessions = settings.text("tls-records") != "openssl"
    log = Log(
      level: LogLevel.allCases.first { $0.name == settings.text("log-level") } ?? .info,
      format: settings.text("log-format") == "json" ? .json : .text)
    loops = settings.number("loops") ?? Int(cl_cpu_count())
    drainDelay = try Self.milliseconds(settings, "drain-delay", 0...600_000)
    drainSeconds = settings.number("drain-seconds") ?? 0
    heartbeat = try Self.heartbeat(settings)
    acknowledgementDelay = UInt16(try Self.milliseconds(settings, "ack-delay", 0...10_000))
    maxDevices = settings.number("max-devices")
    maxHTTPConnections = settings.number("max-http-connections") ?? 0
    pushCallsPerMinute = settings.number("push-calls") ?? 0
    deviceCallsPerMinute = settings.number("device-calls") ?? 0
    httpConnectionsPerNetwork = settings.number("network-http-connections")
    unauthenticatedPerNetwork = settings.number("network-strangers") ?? 0
    registrationsPerApp = settings.number("app-registrations") ?? 0
    registrationsPerNetwork = settings.number("network-registrations") ?? 0
    trustedProxies = try Self.networks(settings, "trusted-proxies")
    deviceProxies = try Self.networks(settings, "device-proxies")
    proxy = try OutgoingProxySettings.read(settings)
    acme = try ACMESettings(settings, proxy: proxy)
    apnsHosts = try Self.apnsHosts(settings, through: proxy)
    vendors = try Vendors(settings)
    callbacks = try Self.callbacks(settings, through: proxy)
    mail = try MailSettings(settings)
    signOn = try SignOnSettings.read(settings, site: mail.site)
    tracing = try TracingSettings.read(settings)
    deviceOrigins = try Self.origins(settings, "device-origins", site: mail.site)
    autopush = try Self.autopush(settings, site: mail.site)
    zone = try Self.zone(settings)
    schedules = settings.number("schedules") ?? 0
    scheduleGrace = Int64(try Self.milliseconds(settings, "schedule-grace", 60_000...86_400_000) / 1000)
    requestLog = settings.text("request-log").flatMap { RequestLog.Extent(rawValue: $0) } ?? .all
    servesDocs = settings.text("docs") != "off"
    newcomerSeconds = try Self.deletion(settings, "keep-newcomers")
    inactiveSeconds = try Self.deletion(settings, "keep-inactive")
    retention = Int64(try Self.milliseconds(settings, "keep-pushes", 86_400_000...Int.max) / 1000)
  }

  /// Seconds; nil for 0, which means never.
  private static func deletion(_ settings: Settings, _ name: String) throws(Failure) -> Int64? {
    let seconds = Int64(try milliseconds(settings, name, 0...Int.max) / 1000)
    guard seconds == 0 || seconds >= 86_400 else { throw .usage("--\(name): at least 1d, or 0s for never") }
    return seconds == 0 ? nil : seconds
  }

  private static func zone(_ settings: Settings) throws(Failure) -> ProcessZone {
    let name = settings.text("time-zone") ?? "UTC"
    guard let zone = ProcessZone(settingTo: name) else {
      throw .usage("--time-zone: there is no \"\(name)\" in /usr/share/zoneinfo (package tzdata)")
    }
    return zone
  }

  private static func networks(_ settings: Settings, _ name: String) throws(Failure) -> [IPNetwork] {
    var networks: [IPNetwork] = []
    for text in settings.list(name) {
      guard let network = IPNetwork(text) else {
        throw .usage("--\(name): \"\(text)\" is not a network; expected an address range such as 10.0.0.0/8")
      }
      networks.append(network)
    }
    return networks
  }

  private static func origins(
    _ settings: Settings, _ name: String, site: String?
  ) throws(Failure) -> OriginRule {
    let others = settings.list(name)
    if let rule = OriginRule(others: others, site: site) { return rule }
    guard OriginRule(others: others) != nil else {
      throw .usage(
        "--\(name): give origins such as https://www.example.com, without a path, capacitor://localhost, null or *"
      )
    }
    throw .usage("--public-url: \"\(site ?? "")\" is not an address such as https://push.example.com")
  }

  private static func autopush(_ settings: Settings, site: String?) throws(Failure) -> AutopushOptions? {
    guard let key = settings.text("autopush-app") else { return nil }
    guard let app = AppKey(key) else {
      throw .usage("--autopush-app: \"\(key.prefix(64))\" is not an app key: it has 24 hexadecimal digits")
    }
    // Malformed ones were refused before.
    guard let origin = site.flatMap({ OriginRule.origin(of: $0) }) else {
      throw .usage("--autopush-app needs --public-url: subscriptions have their addresses there")
    }
    return AutopushOptions(app: app, origin: origin)
  }

  private static func callbacks(
    _ settings: Settings, through proxy: OutgoingProxy?
  ) throws(Failure) -> CallbackService.Options {
    var options = CallbackService.Options()
    options.proxy = proxy
    options.networks = try networks(settings, "callback-networks")
    options.authorities = try authorities(settings, "callback-ca")
    options.retention = Int64(try milliseconds(settings, "keep-callbacks", 60_000...Int.max) / 1000)
    return options
  }

  /// The file of certificates to trust that a setting names. Otherwise only the first connection would show
  /// that it is a wrong one.
  static func authorities(_ settings: Settings, _ name: String) throws(Failure) -> String? {
    guard let file = settings.text(name) else { return nil }
    do throws(TLSError) { _ = try TLSContext.client(caFile: file) } catch {
      throw .usage("--\(name): \(error.description)")
    }
    return file
  }

  private static func apnsHosts(
    _ settings: Settings, through proxy: OutgoingProxy?
  ) throws(Failure) -> APNsHosts {
    var hosts = APNsHosts()
    hosts.proxy = proxy
    if let other = settings.address("apns-production") { hosts.production = .init(other.host, other.port) }
    if let other = settings.address("apns-sandbox") { hosts.sandbox = .init(other.host, other.port) }
    if let file = try authorities(settings, "apns-ca") {
      hosts.trust = .systemAndPEM(try SmallFiles.contents(file))
    }
    return hosts
  }

  private static func tls(
    _ settings: Settings, isUsed: Bool
  ) throws(Failure) -> (files: (certificate: String, key: String)?, names: [String]) {
    let names = settings.list("tls-names")
    switch (settings.text("tls-certificate"), settings.text("tls-key")) {
    case (let certificate?, let key?):
      guard isUsed else {
        throw .usage("--tls-certificate is given, but neither --device nor --http-tls, which use it")
      }
      guard names.isEmpty else {
        throw .usage("--tls-names is for a generated certificate, but --tls-certificate is set")
      }
      do throws(TLSError) { _ = try TLSContext.server(certificatePath: certificate, keyPath: key) } catch {
        throw .usage(error.description)
      }
      return ((certificate, key), [])
    case (nil, nil): return (nil, names)
    case (_, nil): throw .usage("--tls-certificate needs --tls-key")
    case (nil, _): throw .usage("--tls-key needs --tls-certificate")
    }
  }

  private static func heartbeat(_ settings: Settings) throws(Failure) -> ClosedRange<UInt16> {
    let lower = try milliseconds(settings, "heartbeat-min", 10_000...3_600_000) / 1000
    let upper = try milliseconds(settings, "heartbeat-max", 10_000...3_600_000) / 1000
    guard lower <= upper else { throw .usage("--heartbeat-min is more than --heartbeat-max") }
    return UInt16(lower)...UInt16(upper)
  }

  private static func milliseconds(
    _ settings: Settings, _ name: String, _ range: ClosedRange<Int>
  ) throws(Failure) -> Int {
    let value = settings.milliseconds(name) ?? range.lowerBound
    guard value >= range.lowerBound else { throw .usage("--\(name): at least \(range.lowerBound / 1000)s") }
    guard value <= range.upperBound else { throw .usage("--\(name): at most \(range.upperBound / 1000)s") }
    return value
  }
}
