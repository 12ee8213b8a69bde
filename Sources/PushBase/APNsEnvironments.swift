/// A set of environments of APNs.
public struct APNsEnvironments: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt8

  /// Makes a set of its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The set of one environment, empty for `none`.
  public init(_ environment: APNsEnvironment) {
    rawValue = environment == .none ? 0 : 1 << (environment.rawValue - 1)
  }

  /// For App Store, TestFlight and ad-hoc builds.
  public static let production = APNsEnvironments(.production)
  /// For builds started from Xcode.
  public static let sandbox = APNsEnvironments(.sandbox)
}

extension APNsEnvironment {
  /// `production` or `sandbox`, as in settings, metrics and logs.
  public var name: String {
    switch self {
    case .none: "none"
    case .production: "production"
    case .sandbox: "sandbox"
    }
  }
}
