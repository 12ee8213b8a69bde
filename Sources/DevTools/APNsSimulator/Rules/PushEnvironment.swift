/// The simulated APNs environment.
enum PushEnvironment: String, Sendable {
  case production, sandbox
}
