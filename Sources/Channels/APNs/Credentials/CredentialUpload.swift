import BorealisBase
import BorealisCrypto
import Model
import Storage

/// A credential as uploaded, validated as far as possible without APNs.
package struct CredentialUpload: Sendable {
  private enum Content: Sendable {
    case key(ES256Key, keyID: String)
    case certificate(CertificateKeyPair)
  }

  private let content: Content
  private let teamID: String?
  /// The app's bundle ID.
  package let topic: String
  /// Which of Apple's services it is for.
  package let environments: [APNsEnvironment]

  /// A .p8 file. Without `keyID`, the file's name must contain it, as `AuthKey_ABC123DEFG.p8` does. New keys
  /// are for one environment only, which the file does not show.
  package init(
    p8 bytes: [UInt8], fileName: String, keyID: String?, teamID: String?, topic: String?,
    environments: [APNsEnvironment]
  ) throws(CredentialError) {
    let key: ES256Key
    do throws(CredentialFileError) {
      key = try ES256Key(p8: bytes)
    } catch {
      throw .file(error)
    }
    guard let keyID = keyID ?? Self.keyID(fileName: fileName) else { throw .missingKeyID }
    guard Self.isAppleID(keyID) else { throw .badKeyID(keyID) }
    guard let teamID else { throw .missingTeamID }
    guard Self.isAppleID(teamID) else { throw .badTeamID(teamID) }
    guard let topic else { throw .missingTopic }
    try Self.checkTopic(topic)
    content = .key(key, keyID: keyID)
    self.teamID = teamID
    self.topic = topic
    self.environments = environments
  }

  /// A .p12 file, with its password if it has one; the rest as below. A file with too many rounds of key
  /// derivation is refused.
  package init(
    p12 bytes: [UInt8], password: String?, topic: String?, environments: [APNsEnvironment]?, now: Timestamp
  ) throws(CredentialError) {
    let pair: CertificateKeyPair
    do throws(CredentialFileError) {
      pair = try PKCS12.parse(bytes, password: password, rounds: PKCS12.maximumRoundsOfUploads)
    } catch {
      throw .file(error)
    }
    try self.init(pair, topic: topic, environments: environments, now: now)
  }

  /// A certificate with its key. The default topic is the certificate's own; the default environments are all
  /// that it allows.
  package init(
    _ pair: CertificateKeyPair, topic: String?, environments: [APNsEnvironment]?, now: Timestamp
  ) throws(CredentialError) {
    let facts = pair.facts
    let allowed = Self.environments(facts)
    let names = facts.topics.map(\.name)
    guard !allowed.isEmpty, !names.isEmpty else { throw .notForPushes(name: facts.commonName) }
    guard let topic = topic ?? Self.bundleID(facts) else { throw .missingTopic }
    try Self.checkTopic(topic)
    guard names.contains(where: { $0 == topic || $0.hasPrefix(topic + ".") }) else {
      throw .certificateForOthers(topics: names, environments: allowed, wanted: topic)
    }
    for wanted in environments ?? [] where !allowed.contains(wanted) {
      throw .wrongEnvironment(allowed: allowed, wanted: wanted)
    }
    guard facts.notAfter > now else { throw .expired(days: Self.days(from: facts.notAfter, to: now)) }
    guard facts.notBefore <= now else { throw .notYetValid(days: Self.days(from: now, to: facts.notBefore)) }
    content = .certificate(pair)
    teamID = facts.organizationalUnit.flatMap { Self.isAppleID($0) ? $0 : nil }
    self.topic = topic
    self.environments = environments ?? allowed
  }

  /// Refuses a credential that does not fit the app's other credentials.
  package func check(against existing: [APNsCredentialRow]) throws(CredentialError) {
    if let other = existing.last(where: { $0.topic != topic }) {
      throw .otherTopic(existing: other.topic, new: topic)
    }
    for environment in environments {
      let newest = existing.last { $0.environment == environment }
      if let newest, newest.state == .active, newest.fingerprint == fingerprint, newest.keyID == keyID {
        throw .alreadyThere(newest.id, environment)
      }
    }
  }

  /// What to store, sealed for the app: one row for each environment.
  package func rows(for app: AppID, sealedWith keys: SealingKeys) -> [NewCredential] {
    environments.map { environment in
      NewCredential(
        channel: .apns, kind: kind, service: environment.service, subject: topic, teamID: teamID,
        name: keyID ?? "", fingerprint: fingerprint, expiresAt: expiresAt,
        sealed: CredentialSecret.seal(Array(secret.utf8), app: app, channel: .apns, with: keys))
    }
  }

  package var kind: APNsCredentialKind {
    if case .key = content { .token } else { .certificate }
  }

  /// Apple's ID of a key.
  package var keyID: String? {
    if case .key(_, let id) = content { id } else { nil }
  }

  private var fingerprint: [UInt8] {
    switch content {
    case .key(let key, _): key.fingerprint
    case .certificate(let pair): pair.facts.fingerprint
    }
  }

  /// When a certificate expires.
  package var expiresAt: Timestamp? {
    if case .certificate(let pair) = content { pair.facts.notAfter } else { nil }
  }

  private var secret: String {
    switch content {
    case .key(let key, _): key.pem
    case .certificate(let pair): pair.certificatesPEM + pair.keyPEM
    }
  }

  /// `ABC123DEFG` of `AuthKey_ABC123DEFG.p8`, also after a folder and with the suffix that browsers append to
  /// a second copy.
  static func keyID(fileName: String) -> String? {
    guard let name = fileName.split(separator: "/").last, name.hasPrefix("AuthKey_") else { return nil }
    let id = name.dropFirst("AuthKey_".count).prefix(10)
    let next = name.dropFirst("AuthKey_".count + 10).first
    return isAppleID(String(id)) && (next == nil || next == "." || next == " " || next == "(")
      ? String(id) : nil
  }

  /// IDs of keys and teams.
  static func isAppleID(_ text: String) -> Bool {
    text.utf8.count == 10 && text.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
  }

  /// The suffixes of a bundle ID for other push types (Sending notification requests to APNs).
  private static let suffixes = [
    ".voip", ".voip-ptt", ".complication", ".pushkit.fileprovider", ".location-query",
    ".push-type.liveactivity", ".push-type.widgets", ".push-type.controls",
  ]

  static func checkTopic(_ topic: String) throws(CredentialError) {
    guard isBundleID(topic) else { throw .badTopic(topic) }
    let lowered = topic.lowercased()
    guard let suffix = suffixes.first(where: { lowered.hasSuffix($0) }) else { return }
    throw .topicOfKind(topic, bundleID: String(topic.dropLast(suffix.utf8.count)))
  }

  static func isBundleID(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
        !part.isEmpty
          && part.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte & 0xdf) || byte == UInt8(ascii: "-")
          }
      }
  }

  private static func environments(_ facts: CertificateFacts) -> [APNsEnvironment] {
    (facts.allowsProduction ? [.production] : []) + (facts.allowsSandbox ? [.sandbox] : [])
  }

  /// The app topic in the certificate; otherwise the subject's, without the VoIP suffix.
  private static func bundleID(_ facts: CertificateFacts) -> String? {
    if let app = facts.topics.first(where: { $0.kind == "app" }) { return app.name }
    guard let name = facts.userID ?? facts.topics.first?.name else { return nil }
    let isForCalls = facts.topics.contains { $0.name == name && $0.kind == "voip" } && name.hasSuffix(".voip")
    return isForCalls ? String(name.dropLast(".voip".count)) : name
  }

  private static func days(from start: Timestamp, to end: Timestamp) -> Int {
    Int(clamping: (end.seconds - start.seconds) / 86_400)
  }
}
