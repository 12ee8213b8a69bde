/// Which of Apple's two environments is played.
enum PushEnvironment: String, Sendable {
  case production, sandbox
}
