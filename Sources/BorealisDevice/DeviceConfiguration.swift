/// How the connection to the server is protected.
public enum TransportSecurity: Hashable, Sendable {
  /// TLS 1.2 or 1.3; the certificate must be signed by a CA in the PEM file, or by one of the system's
  /// without a file, and contain the host name.
  case tls(caFile: String?)
  /// TLS that accepts any certificate: for tests only.
  case tlsUnverified
  /// No TLS: for local use.
  case plain
}

/// The configuration of a device that is alone in its process.
public struct DeviceConfiguration: Sendable {
  /// The address of the server.
  public var server: ServerAddress
  /// How the connection is protected.
  public var security: TransportSecurity
  /// The state file; see `DeviceStore`.
  public var statePath: String
  /// The profile of the device.
  public var profile: DeviceProfile

  /// Makes the value from its fields.
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
