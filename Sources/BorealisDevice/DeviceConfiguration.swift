/// How the connection to the server is protected.
public enum TransportSecurity: Hashable, Sendable {
  /// TLS 1.2 or 1.3; the certificate must be signed by a CA in the PEM file, or by one of the system's without a file,
  /// and carry the name of the host.
  case tls(caFile: String?)
  /// TLS that takes any certificate: for trying things out.
  case tlsUnverified
  /// No TLS: for local use.
  case plain
}

/// Everything that one device in a process of its own needs.
public struct DeviceConfiguration: Sendable {
  /// Where the server listens.
  public var server: ServerAddress
  /// How the connection is protected.
  public var security: TransportSecurity
  /// The file that keeps the registration and what was handled; see `DeviceStore`.
  public var statePath: String
  /// What the device says about itself.
  public var profile: DeviceProfile

  /// Puts the fields together.
  public init(
    server: ServerAddress, security: TransportSecurity = .tls(caFile: nil), statePath: String,
    profile: DeviceProfile
  ) {
    self.server = server
    self.security = security
    self.statePath = statePath
    self.profile = profile
  }
}
