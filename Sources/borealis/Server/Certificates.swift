import BorealisBase
import BorealisCrypto
import BorealisNet
import Glibc
import HTTP
import Synchronization

/// The certificate that TLS ports show. `CertificateRenewal` puts others in its place.
final class Certificates: Sendable {
  private struct State: Sendable {
    let context: TLSContext
    let deviceContext: TLSContext
    let info: CertificateInfo
  }

  let certificatePath: String
  let keyPath: String
  /// Whether this process has made it.
  let isNew: Bool
  /// What a certificate authority is answered on TLS ports; nil if none asks there.
  let challenges: TLSChallenges?
  private let releasesSessions: Bool
  private let state: Mutex<State>

  /// Reads the operator's files, or those in the data folder, which are made if both are missing.
  init(_ settings: ServeSettings) throws(Failure) {
    releasesSessions = settings.releasesSessions
    challenges = settings.acme?.challenge == .tlsALPN ? TLSChallenges() : nil
    if let files = settings.tlsFiles {
      (certificatePath, keyPath) = files
      isNew = false
    } else {
      let folder = settings.folder.path + "/tls"
      (certificatePath, keyPath) = (folder + "/certificate.pem", folder + "/key.pem")
      let missing = [certificatePath, keyPath].filter { (path: String) in access(path, F_OK) != 0 }
      // The other one may be all that is left of what devices trust.
      guard missing.count != 1 else {
        throw .failed(
          "\(missing[0]) is missing: restore it, or remove \(folder) to have a new certificate made, which devices do not trust yet"
        )
      }
      isNew = !missing.isEmpty
      if isNew { try Self.make(in: folder, certificatePath, keyPath, names: settings.tlsNames) }
    }
    state = Mutex(try Self.read(certificatePath, keyPath, releasesSessions, challenges))
  }

  /// What new HTTP connections use.
  var context: TLSContext { state.withLock { $0.context } }

  /// What new connections of devices use.
  var deviceContext: TLSContext { state.withLock { $0.deviceContext } }

  /// Subject, end and fingerprint.
  var info: CertificateInfo { state.withLock { $0.info } }

  /// Reads the files again, for new connections.
  func reload() throws(Failure) {
    let new = try Self.read(certificatePath, keyPath, releasesSessions, challenges)
    state.withLock { $0 = new }
  }

  /// Shows another certificate to new connections, given with its chain and key in PEM form. Changes nothing
  /// if it cannot be used.
  func use(_ chain: String, key: String) throws(Failure) -> CertificateInfo {
    let identity = TLSIdentity.pem(certificates: Array(chain.utf8), key: Array(key.utf8))
    let new: State
    do throws(TLSError) {
      new = try Self.state(identity, of: chain, releasesSessions, challenges)
    } catch .keyDoesNotMatch {
      throw .failed("the key is not the one of the certificate")
    } catch {
      throw .failed(error.description)
    }
    state.withLock { $0 = new }
    return new.info
  }

  private static func read(
    _ certificate: String, _ key: String, _ releasesSessions: Bool, _ challenges: TLSChallenges?
  ) throws(Failure) -> State {
    do throws(TLSError) {
      return try state(
        .files(certificatePath: certificate, keyPath: key), of: SmallFiles.read(certificate) ?? "",
        releasesSessions, challenges)
    } catch {
      throw .failed(error.description)
    }
  }

  private static func state(
    _ identity: TLSIdentity, of chain: String, _ releasesSessions: Bool, _ challenges: TLSChallenges?
  ) throws(TLSError) -> State {
    let context = try TLSContext.server(identity: identity, challenges: challenges)
    let deviceContext =
      releasesSessions
      ? try TLSContext.server(identity: identity, releasesSessions: true, challenges: challenges) : context
    guard let info = try? CertificateInfo(pem: chain) else { throw .library("there is no certificate") }
    return State(context: context, deviceContext: deviceContext, info: info)
  }

  private static func make(
    in folder: String, _ certificatePath: String, _ keyPath: String, names: [String]
  ) throws(Failure) {
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw .failed("cannot create \(folder): \(SystemCalls.reason(errno))")
    }
    let isAddress = { (name: String) in name.contains(":") || name.allSatisfy { $0.isNumber || $0 == "." } }
    let made: SelfSignedCertificate
    do throws(CryptoError) {
      made = try SelfSignedCertificate.make(
        commonName: "Borealis", dnsNames: ["localhost"] + hostName + names.filter { !isAddress($0) },
        ipAddresses: ["127.0.0.1", "::1"] + names.filter(isAddress), days: 3650)
    } catch {
      throw .failed("cannot create a certificate: \(error)")
    }
    try SmallFiles.replace(keyPath, with: made.keyPEM, mode: 0o600)
    do throws(Failure) {
      try SmallFiles.replace(certificatePath, with: made.certificatePEM, mode: 0o644)
    } catch {
      // Alone it would keep the next start from making both.
      unlink(keyPath)
      throw error
    }
  }

  /// This machine's name, unless it is one that a certificate cannot hold.
  private static var hostName: [String] {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return [] }
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let name = String(decoding: bytes, as: UTF8.self)
    let isPlain =
      !name.isEmpty
      && name.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (97...122).contains(byte | 0x20) || byte == 45
      }
    return isPlain && name != "localhost" ? [name] : []
  }
}
