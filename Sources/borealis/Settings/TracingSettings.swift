import BorealisBase
import HTTP

/// The collector of traces.
struct TracingSettings: Sendable {
  /// Where spans go, with the path for them.
  let url: String
  /// Fields of each request, as `Name: value`.
  let fields: [String]
  let service: String
  /// The share of the calls without `traceparent` that are traced.
  let share: Double
  /// A file of certificates to trust in addition to the system's.
  let authorities: String?
  /// Whether the collector is on this machine, which no proxy reaches.
  let isLocal: Bool

  static let definitions = [
    SettingDefinition(
      name: "otlp-endpoint", valueName: "URL",
      help:
        "The OpenTelemetry collector that gets traces over OTLP/HTTP, such as http://127.0.0.1:4318. No tracing if not given.",
      kind: .text),
    SettingDefinition(
      name: "otlp-headers", valueName: "NAME=VALUE,...",
      help: "Header fields for the collector, such as Authorization=Bearer%20..., with values as in URLs.",
      kind: .secret),
    SettingDefinition(
      name: "otlp-ca", valueName: "FILE",
      help: "Certificates (PEM) to trust for the collector in addition to the system's.", kind: .text),
    SettingDefinition(
      name: "otlp-service", valueName: "NAME", help: "The service.name of traces.", default: "borealis",
      kind: .text),
    SettingDefinition(
      name: "trace-share", valueName: "SHARE",
      help:
        "The share of calls without traceparent that are traced, from 0 to 1. With traceparent, the caller decides.",
      default: "0", kind: .text),
  ]

  /// Nil if nothing is traced.
  static func read(_ settings: Settings) throws(Failure) -> TracingSettings? {
    let share = try share(settings.text("trace-share") ?? "0")
    guard let endpoint = settings.text("otlp-endpoint") else {
      for name in ["otlp-headers", "otlp-ca"] where settings.text(name) != nil {
        throw .usage("--\(name) needs --otlp-endpoint")
      }
      guard share == 0 else { throw .usage("--trace-share needs --otlp-endpoint") }
      return nil
    }
    let url = try url(endpoint)
    return TracingSettings(
      url: url, fields: try fields(settings.text("otlp-headers")),
      service: settings.text("otlp-service") ?? "borealis", share: share,
      authorities: try ServeSettings.authorities(settings, "otlp-ca"), isLocal: isLocal(url))
  }

  private static func share(_ text: String) throws(Failure) -> Double {
    // Digits and a point only: no "nan", no "1e-3".
    guard text.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 }), let share = Double(text),
      (0...1).contains(share)
    else { throw .usage("--trace-share: expected a number from 0 to 1 such as 0.01, not \"\(text)\"") }
    return share
  }

  /// The address with the path of OTLP for spans, which it may have already.
  private static func url(_ text: String) throws(Failure) -> String {
    let scheme = ["http://", "https://"].first { text.lowercased().hasPrefix($0) }
    let rest = text.dropFirst(scheme?.count ?? 0)
    guard scheme != nil, URLAuthority(rest.prefix { $0 != "/" }) != nil,
      rest.utf8.allSatisfy({ $0 > 32 && $0 < 127 && !Array("?#\"<>\\".utf8).contains($0) })
    else { throw .usage("--otlp-endpoint: \"\(text)\" is not a URL such as http://127.0.0.1:4318") }
    let path = "/v1/traces"
    var url = text
    while url.hasSuffix("/") { url.removeLast() }
    return url.hasSuffix(path) ? url : url + path
  }

  private static func isLocal(_ url: String) -> Bool {
    let authority = url.split(separator: "/").dropFirst().first.flatMap { URLAuthority($0) }
    return authority.map { IPNetwork.isLoopback($0.host.filter { !"[]".contains($0) }) } ?? false
  }

  /// In the form of the variable OTEL_EXPORTER_OTLP_HEADERS.
  private static func fields(_ text: String?) throws(Failure) -> [String] {
    var fields: [String] = []
    for pair in (text ?? "").split(separator: ",") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.drop { $0 == " " } }
      guard parts.count == 2, let name = parts.first, !name.isEmpty, name.utf8.allSatisfy(isToken),
        let value = decodeEscapes(parts[1].utf8, plusIsSpace: false), !value.isEmpty,
        value.utf8.allSatisfy({ (32..<127).contains($0) })
      else { throw .usage("--otlp-headers: expected NAME=VALUE, separated by commas") }
      fields.append("\(name): \(value)")
    }
    return fields
  }
}

extension ServeSettings {
  /// What follows calls and pushes; nil if nothing is traced.
  func tracer(_ metrics: SpanMetrics) throws(Failure) -> Tracer? {
    guard let tracing else { return nil }
    var options = SpanExporter.Options(url: tracing.url)
    options.fields = tracing.fields
    options.version = Program.version
    options.resource = [
      SpanAttribute("service.name", tracing.service), SpanAttribute("service.version", Program.version),
    ]
    if let node = cluster?.name { options.resource.append(SpanAttribute("service.instance.id", node)) }
    options.authorities = tracing.authorities
    options.proxy = tracing.isLocal ? nil : proxy
    guard let exporter = SpanExporter(options, metrics: metrics, log: log) else {
      throw .failed("cannot start the thread that sends traces")
    }
    return Tracer(share: tracing.share, exporter)
  }
}
