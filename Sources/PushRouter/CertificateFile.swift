import PushBase

/// A certificate with its key as a developer uploads it.
public struct CertificateFile: Sendable {
  /// A PKCS #12 file.
  public var bytes: [UInt8]
  /// What it is encrypted with.
  public var password: String
  /// Which of Apple's services it is meant for.
  public var environment: APNsEnvironment

  /// All fields.
  public init(bytes: [UInt8], password: String, environment: APNsEnvironment) {
    self.bytes = bytes
    self.password = password
    self.environment = environment
  }
}

/// Why certificates were not taken.
public enum CertificateRefusal: Error, Sendable, Equatable {
  /// For this reason, which is for people.
  case refused(String)
  /// The store cannot take changes now; try again later.
  case unavailable
}

/// A channel that takes certificates.
public protocol CertificateInstaller: Channel {
  /// Checks certificates that a developer uploaded and stores them, all or none. Called on a thread that may wait.
  func install(
    _ files: [CertificateFile], for app: App,
    reply: @escaping @Sendable (Result<Void, CertificateRefusal>) -> Void)
}

extension PluggedChannels {
  /// Checks certificates and stores them sealed: all of them, or none. Reading them takes some time: not for a loop.
  public func install(
    _ files: [CertificateFile], for app: App,
    reply: @escaping @Sendable (Result<Void, CertificateRefusal>) -> Void
  ) {
    guard let installer = all.lazy.compactMap({ $0.channel as? any CertificateInstaller }).first else {
      reply(.failure(.refused("There is no channel to Apple")))
      return
    }
    installer.install(files, for: app, reply: reply)
  }
}
