import PushBase
import PushDomain

extension ServiceSet {
  /// Production of APNs.
  public static let production = ServiceSet(APNsEnvironment.production.service)
  /// Sandbox of APNs.
  public static let sandbox = ServiceSet(APNsEnvironment.sandbox.service)
}
