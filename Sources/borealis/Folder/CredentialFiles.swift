import BorealisBase
import BorealisCrypto
import Channels
import Glibc

/// The files that `borealis app channel set` was given for APNs.
struct CredentialFiles {
  static let settings = [
    SettingDefinition(
      name: "p8", valueName: "FILE", help: "The key (.p8) for provider tokens, as Apple issued it.",
      kind: .text),
    SettingDefinition(
      name: "key-id", valueName: "ID", help: "The key ID; optional if the file name contains it.",
      kind: .text),
    SettingDefinition(
      name: "team-id", valueName: "ID", help: "The ID of the team that the key belongs to.", kind: .text),
    SettingDefinition(
      name: "p12", valueName: "FILE", help: "A certificate with its key, as Keychain exports it.",
      kind: .text),
    SettingDefinition(
      name: "password", valueName: "TEXT", help: "The password of the .p12.", kind: .secret),
    SettingDefinition(name: "certificate", valueName: "FILE", help: "A certificate, PEM.", kind: .text),
    SettingDefinition(
      name: "key", valueName: "FILE", help: "Its private key, PEM, not encrypted.", kind: .text),
    SettingDefinition(
      name: "topic", valueName: "BUNDLE-ID",
      help: "The app's bundle ID; for a certificate, the default is its own.", kind: .text),
    SettingDefinition(
      name: "environment", valueName: "NAME",
      help:
        "production, sandbox or both; production for a key and all that a certificate allows if not given.",
      kind: .choice(["production", "sandbox", "both"])),
  ]
  private let settings: Settings

  init(_ settings: Settings) { self.settings = settings }

  /// Reads and checks them; exactly one kind must be given.
  func upload() throws(Failure) -> CredentialUpload {
    switch (settings.text("p8"), settings.text("p12"), settings.text("certificate"), settings.text("key")) {
    case (let path?, nil, nil, nil): return try token(path)
    case (nil, let path?, nil, nil): return try certificate(path, pkcs12(path))
    case (nil, nil, let path?, let key?): return try certificate(path, pair(path, key))
    case (nil, nil, _?, nil): throw .usage("--certificate requires --key")
    case (nil, nil, nil, _?): throw .usage("--key requires --certificate")
    case (nil, nil, nil, nil):
      throw .usage("a credential is missing: pass --p8, --p12, or --certificate and --key")
    default: throw .usage("pass only one of --p8, --p12, and --certificate with --key")
    }
  }

  private func token(_ path: String) throws(Failure) -> CredentialUpload {
    let bytes = try Terminal.contents(path)
    do throws(CredentialError) {
      return try CredentialUpload(
        p8: bytes, fileName: path, keyID: settings.text("key-id"), teamID: settings.text("team-id"),
        topic: settings.text("topic"), environments: environments ?? [.production])
    } catch {
      throw Self.failure(path, error)
    }
  }

  private func certificate(_ path: String, _ pair: CertificateKeyPair) throws(Failure) -> CredentialUpload {
    for name in ["key-id", "team-id"] where settings.text(name) != nil {
      throw .usage("--\(name) requires --p8")
    }
    do throws(CredentialError) {
      return try CredentialUpload(
        pair, topic: settings.text("topic"), environments: environments, now: SystemTime().now())
    } catch {
      throw Self.failure(path, error)
    }
  }

  private func pair(_ certificate: String, _ key: String) throws(Failure) -> CertificateKeyPair {
    let (certificateBytes, keyBytes) = (try Terminal.contents(certificate), try Terminal.contents(key))
    do throws(CredentialFileError) {
      return try CertificateKeyPair(certificates: certificateBytes, key: keyBytes)
    } catch {
      throw .failed("\(error == .noCertificate ? certificate : key): \(error)")
    }
  }

  private func pkcs12(_ path: String) throws(Failure) -> CertificateKeyPair {
    let bytes = try Terminal.contents(path)
    let given = settings.text("password")
    do throws(CredentialFileError) {
      do throws(CredentialFileError) {
        return try PKCS12.parse(bytes, password: given)
      } catch {
        guard error == .passwordNeeded, let typed = Terminal.password("Password of \(path): ") else {
          throw error
        }
        return try PKCS12.parse(bytes, password: typed)
      }
    } catch {
      throw .failed("\(path): \(error)")
    }
  }

  private var environments: [APNsEnvironment]? {
    switch settings.text("environment") {
    case "production": [.production]
    case "sandbox": [.sandbox]
    case "both": [.production, .sandbox]
    default: nil
    }
  }

  /// What a flag could put right is wrong usage; the rest is the file's fault.
  private static func failure(_ path: String, _ error: CredentialError) -> Failure {
    switch error {
    case .missingKeyID, .badKeyID: .usage("--key-id: \(error)")
    case .missingTeamID, .badTeamID: .usage("--team-id: \(error)")
    case .missingTopic, .badTopic, .topicOfKind: .usage("--topic: \(error)")
    default: .failed("\(path): \(error)")
    }
  }
}
