/// Why a device could not be set up. Each has one line for people.
public enum DeviceSetUpError: Error, Equatable, CustomStringConvertible {
  /// The state file cannot be opened, read or written; with the system's reason.
  case state(path: String, reason: String)
  /// Another process, or another store of this one, uses the state file.
  case stateInUse(path: String)
  /// The file has another format, or was written by a newer version.
  case noStateFile(path: String)
  /// TLS cannot be set up; with the reason.
  case tls(String)
  /// The system cannot start an event loop or thread; with the reason.
  case system(String)

  /// The line.
  public var description: String {
    switch self {
    case .state(let path, let reason): "state file \(path): \(reason)"
    case .stateInUse(let path): "state file \(path): another process uses it"
    case .noStateFile(let path): "\(path) is not a state file of this version"
    case .tls(let reason), .system(let reason): reason
    }
  }
}
