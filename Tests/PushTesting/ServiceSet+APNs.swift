import BorealisBase
import Model

extension ServiceSet {
  /// Production of APNs.
  package static let production = ServiceSet(APNsEnvironment.production.service)
  /// Sandbox of APNs.
  package static let sandbox = ServiceSet(APNsEnvironment.sandbox.service)
}
