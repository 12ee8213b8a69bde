import BorealisBase
import Glibc

/// What is kept of certificates by ACME, in one file of the data folder: the account's key, the order that is
/// under way with the key of its certificate, and the certificate with its key. All of it changes together.
struct ACMERecord: Equatable, Sendable {
  /// What a certificate is for, and from whom.
  struct Scope: Equatable, Sendable {
    let directory: String
    let names: [String]

    init(_ settings: ACMESettings) { (directory, names) = (settings.directory, settings.names) }

    fileprivate init?(_ value: JSONValue) {
      guard let directory = value["directory"]?.string,
        let names = value["names"]?.array?.compactMap(\.string)
      else { return nil }
      (self.directory, self.names) = (directory, names)
    }

    fileprivate func add(to object: inout JSONObject) {
      object.set("directory", .string(directory))
      object.set("names", .array(names.map { .string($0) }))
    }
  }

  struct Order: Equatable, Sendable {
    let url: String
    /// The private key of the certificate, PEM.
    let key: String
  }

  struct Certificate: Equatable, Sendable {
    let scope: Scope
    /// PEM, the server's own certificate first.
    let chain: String
    /// Its private key, PEM.
    let key: String
  }

  /// The file of a data folder.
  static func path(in folder: String) -> String { folder + "/acme.json" }

  /// More are not counted.
  static let failureCounts: ClosedRange<Int64> = 0...1_000_000

  let scope: Scope
  /// The private key of the account, PEM.
  var account: String?
  var order: Order?
  var certificate: Certificate?
  /// Attempts since the last certificate, within `failureCounts`.
  var failures: Int64 = 0
  /// No attempt begins before.
  var earliest = Timestamp(milliseconds: 0)

  init(_ scope: Scope) { self.scope = scope }

  /// Whether there is a certificate, and for what is wanted.
  var isFit: Bool { certificate?.scope == scope }

  /// Reads the file in a folder; begins anew if there is none. With another scope than before the order and
  /// what is known of failures are left out.
  static func read(in folder: String, _ scope: Scope) throws(Failure) -> ACMERecord {
    let path = path(in: folder)
    var fresh = ACMERecord(scope)
    if access(path, F_OK) != 0, errno == ENOENT { return fresh }
    guard let value = try? parseJSON(SmallFiles.contents(path)), let read = ACMERecord(value) else {
      throw .failed("\(path) cannot be read: restore it, or remove it to have a new certificate obtained")
    }
    if read.scope == scope { return read }
    (fresh.account, fresh.certificate) = (read.account, read.certificate)
    return fresh
  }

  /// Writes the file, readable by its owner only.
  func write(in folder: String) throws(Failure) {
    let text = String(decoding: JSONWriter.serialize(.object(json)), as: UTF8.self)
    try SmallFiles.replace(Self.path(in: folder), with: text + "\n", mode: 0o600)
  }

  // MARK: JSON

  private init?(_ value: JSONValue) {
    guard let scope = Scope(value), let failures = value["failures"]?.int64,
      Self.failureCounts.contains(failures), let earliest = value["earliest"]?.int64, earliest >= 0
    else { return nil }
    self.init(scope)
    (self.failures, self.earliest) = (failures, Timestamp(milliseconds: earliest))
    account = value["account"]?.string
    if let order = value["order"] {
      guard let url = order["url"]?.string, let key = order["key"]?.string else { return nil }
      self.order = Order(url: url, key: key)
    }
    if let certificate = value["certificate"] {
      guard let scope = Scope(certificate), let chain = certificate["chain"]?.string,
        let key = certificate["key"]?.string
      else { return nil }
      self.certificate = Certificate(scope: scope, chain: chain, key: key)
    }
  }

  private var json: JSONObject {
    var object = JSONObject()
    scope.add(to: &object)
    object.set("failures", .number(JSONNumber(failures)))
    object.set("earliest", .number(JSONNumber(earliest.milliseconds)))
    if let account { object.set("account", .string(account)) }
    if let order { object.set("order", ["url": .string(order.url), "key": .string(order.key)]) }
    if let certificate {
      var member = JSONObject()
      certificate.scope.add(to: &member)
      member.set("chain", .string(certificate.chain))
      member.set("key", .string(certificate.key))
      object.set("certificate", .object(member))
    }
    return object
  }
}
