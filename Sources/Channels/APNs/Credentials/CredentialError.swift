import BorealisBase
import BorealisCrypto
import Storage

/// Why a credential cannot be stored or used. The texts are for the person who uploads it.
package enum CredentialError: Error, Equatable, CustomStringConvertible {
  /// What may be uploaded in place of a .p12.
  package enum OtherFile: Sendable {
    /// A .p8.
    case key
    /// A certificate without its private key.
    case certificateAlone
  }

  /// The file is malformed.
  case file(CredentialFileError)
  /// The file is another kind than a .p12.
  case otherFile(OtherFile)
  /// The stored secret cannot be opened.
  case seal(SealError)
  /// The key ID is missing, and the file's name does not contain it.
  case missingKeyID
  /// Not a key ID.
  case badKeyID(String)
  /// The team ID is missing.
  case missingTeamID
  /// Not a team ID.
  case badTeamID(String)
  /// The bundle ID is missing, and the certificate does not contain it.
  case missingTopic
  /// Not a bundle ID.
  case badTopic(String)
  /// A topic with a suffix instead of the bundle ID.
  case topicOfKind(String, bundleID: String)
  /// The certificate is for other topics.
  case certificateForOthers(topics: [String], environments: [APNsEnvironment], wanted: String)
  /// The certificate is not for APNs, or names no app.
  case notForPushes(name: String?)
  /// The certificate is not for the wanted environment.
  case wrongEnvironment(allowed: [APNsEnvironment], wanted: APNsEnvironment)
  /// The certificate expired some days ago.
  case expired(days: Int)
  /// The certificate becomes valid in some days.
  case notYetValid(days: Int)
  /// The app's other credentials are for another bundle ID.
  case otherTopic(existing: String, new: String)
  /// It is stored already.
  case alreadyThere(APNsCredentialID, APNsEnvironment)

  /// One line for people, without a full stop.
  package var description: String {
    switch self {
    case .file(let error): error.description
    case .otherFile(.key): "this is a key (.p8): upload it with the form for keys"
    case .otherFile(.certificateAlone):
      "this is a certificate without its private key (.cer or .pem): in Keychain, export both together as .p12"
    case .seal(let error): error.description
    case .missingKeyID:
      "the key ID is missing: enter its ten characters, from Apple's page of the key or the file name AuthKey_XXXXXXXXXX.p8"
    case .badKeyID(let text): "\"\(text)\" is not a key ID: enter 10 characters of A-Z and 0-9"
    case .missingTeamID:
      "the team ID is missing: enter its ten characters, from the membership page of the developer account"
    case .badTeamID(let text): "\"\(text)\" is not a team ID: enter 10 characters of A-Z and 0-9"
    case .missingTopic: "the app's bundle ID is missing"
    case .badTopic(let text):
      "\"\(text)\" is not a bundle ID: enter parts of letters, digits and hyphens, separated by dots"
    case .topicOfKind(let text, let bundleID):
      "\"\(text)\" is the topic of one kind of push: enter the app's bundle ID, \(bundleID); the server adds the rest"
    case .certificateForOthers(let topics, let environments, let wanted):
      "this certificate is for \(topics.joined(separator: ", ")) (\(Self.names(environments))); the app's topic is \(wanted)"
    case .notForPushes(let name):
      "this is not an APNs certificate\(name.map { " (its name is \($0))" } ?? "")"
    case .wrongEnvironment(let allowed, let wanted):
      "this certificate is for \(Self.names(allowed)), not for \(wanted.name)"
    case .expired(let days): "this certificate expired \(days == 0 ? "today" : "\(Self.count(days)) ago")"
    case .notYetValid(let days):
      "this certificate becomes valid \(days == 0 ? "today" : "in \(Self.count(days))"); check the clock"
    case .otherTopic(let existing, let new):
      "this credential is for \(new); the app's topic is \(existing). Remove the app's other credentials first"
    case .alreadyThere(let id, let environment):
      "the app already uses this credential for \(environment.name): it is number \(id.rawValue)"
    }
  }

  private static func count(_ days: Int) -> String { days == 1 ? "1 day" : "\(days) days" }

  private static func names(_ environments: [APNsEnvironment]) -> String {
    environments.isEmpty ? "no environment" : environments.map(\.name).joined(separator: " and ")
  }
}
