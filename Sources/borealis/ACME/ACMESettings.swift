import BorealisBase
import HTTP

/// The settings of certificates by ACME.
struct ACMESettings {
  /// The URL of the certificate authority's directory.
  let directory: String
  /// DNS names in small letters, in order.
  let names: [String]
  let email: String?
  let challenge: ACMEChallengeType
  /// A file of certificates to trust for the certificate authority itself, in addition to the system's.
  let authorities: String?
  /// The proxy that requests go through; nil for none.
  let proxy: OutgoingProxy?

  /// Names in one certificate; Let's Encrypt takes as many.
  private static let mostNames = 100

  static let definitions = [
    SettingDefinition(
      name: "acme-domain", valueName: "NAME,...",
      help: "DNS names of this server: obtain a certificate for them by ACME, and renew it.", kind: .list),
    SettingDefinition(
      name: "acme-accept-terms", valueName: "",
      help: "Agree to the certificate authority's terms of service; --acme-domain needs it.", kind: .flag),
    SettingDefinition(
      name: "acme-email", valueName: "ADDRESS",
      help:
        "An address that the certificate authority may write to, given when the account is made: a change has no effect on an account that exists.",
      kind: .text),
    SettingDefinition(
      name: "acme-directory", valueName: "URL",
      help: "The directory of the certificate authority; the default is Let's Encrypt's.", kind: .text),
    SettingDefinition(
      name: "acme-challenge", valueName: "TYPE",
      help:
        "How the certificate authority checks the names: http-01 at port 80, which must lead to --http, or tls-alpn-01 at port 443, which must lead to --http-tls or --device. The default is http-01 with --http, else tls-alpn-01.",
      kind: .choice(ACMEChallengeType.allCases.map(\.rawValue))),
    SettingDefinition(
      name: "acme-ca-file", valueName: "FILE",
      help:
        "Certificates (PEM) to trust for the certificate authority's own server in addition to the system's.",
      kind: .text),
  ]

  /// Nil without names.
  init?(_ settings: Settings, proxy: OutgoingProxy?) throws(Failure) {
    names = settings.list("acme-domain").map { $0.lowercased() }.sorted()
    guard !names.isEmpty else {
      for definition in Self.definitions where settings.text(definition.name) != nil {
        throw .usage("--\(definition.name) is for certificates by ACME: give --acme-domain, too")
      }
      return nil
    }
    guard settings.address("device") != nil || settings.address("http-tls") != nil else {
      throw .usage("--acme-domain is given, but neither --device nor --http-tls, which use the certificate")
    }
    for other in ["tls-certificate", "tls-key", "tls-names"] where settings.text(other) != nil {
      throw .usage("--\(other) and --acme-domain exclude each other")
    }
    guard settings.text("bus") == nil else {
      throw .usage(
        "--acme-domain is for a server alone: a balancer may lead the certificate authority to another node than the one that has ordered; give nodes --tls-certificate, or let the balancer terminate TLS"
      )
    }
    guard names.count <= Self.mostNames, Set(names).count == names.count else {
      throw .usage("--acme-domain: at most \(Self.mostNames) names, each once")
    }
    for name in names where !Self.isName(name) {
      throw .usage(
        "--acme-domain: \"\(name)\" is not a DNS name such as push.example.com; neither addresses nor * are possible"
      )
    }
    guard settings.flag("acme-accept-terms") else {
      throw .usage(
        "--acme-domain needs --acme-accept-terms: you agree to the certificate authority's terms of service"
      )
    }
    email = try Self.email(settings)
    directory = settings.text("acme-directory") ?? "https://acme-v02.api.letsencrypt.org/directory"
    guard directory.hasPrefix("https://"), directory.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
      throw .usage("--acme-directory: expected a URL such as https://acme-v02.api.letsencrypt.org/directory")
    }
    challenge = try Self.challenge(settings)
    authorities = try ServeSettings.authorities(settings, "acme-ca-file")
    self.proxy = proxy
  }

  /// Labels of letters, digits and hyphens, the last one not a number.
  private static func isName(_ name: String) -> Bool {
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    return name.utf8.count <= 253 && !(labels.last ?? "").allSatisfy(\.isNumber)
      && labels.allSatisfy { label in
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
          && label.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "-")
          }
      }
  }

  private static func email(_ settings: Settings) throws(Failure) -> String? {
    guard let email = settings.text("acme-email") else { return nil }
    let parts = email.split(separator: "@", omittingEmptySubsequences: false)
    // It becomes part of a URL.
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty,
      email.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "?") })
    else { throw .usage("--acme-email: \"\(email)\" is not an address such as ops@example.com") }
    return email
  }

  private static func challenge(_ settings: Settings) throws(Failure) -> ACMEChallengeType {
    let hasPlain = settings.address("http") != nil
    let wanted = settings.text("acme-challenge").flatMap { ACMEChallengeType(rawValue: $0) }
    guard wanted != .http || hasPlain else {
      throw .usage("--acme-challenge http-01 needs --http, which answers it")
    }
    return wanted ?? (hasPlain ? .http : .tlsALPN)
  }
}
