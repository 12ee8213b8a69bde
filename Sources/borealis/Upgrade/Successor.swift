import BorealisBase
import BorealisNet
import CLinux
import Glibc
import Synchronization

/// The process that is to take the place of this server.
final class Successor: Sendable {
  /// Nanoseconds until it could begin, and until it has read the database, at least.
  private static let (startPatience, readPatience): (UInt64, UInt64) = (60_000_000_000, 30_000_000_000)
  /// How many times as long as this process it may take to read the database.
  private static let slowness: UInt64 = 3

  let process: pid_t
  private let link: UpgradeLink
  private let readPatience: UInt64
  private let time = SystemTime()
  private let isOver = Atomic<Bool>(false)

  private init(_ process: pid_t, _ link: UpgradeLink, reading nanoseconds: UInt64) {
    (self.process, self.link) = (process, link)
    readPatience = max(Self.readPatience, nanoseconds &* Self.slowness)
  }

  /// The path of the file that this process was started from. To be asked at the start: later the kernel
  /// names the file by where it is by then. By the path in the command line, if that is whole: it may be a
  /// link that leads to another version later.
  static func ownProgram() throws(Failure) -> String {
    if let path = CommandLine.arguments.first, path.hasPrefix("/"), !isOther(path) { return path }
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &bytes, bytes.count)
    guard count > 0 else { throw .failed("cannot find this program: \(SystemCalls.reason(errno))") }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// Whether a program is another file than the one that this process was started from.
  static func isOther(_ program: String) -> Bool {
    FileIdentity { stat(program, &$0) } != FileIdentity { stat("/proc/self/exe", &$0) }
  }

  /// Starts a program with the arguments, the variables and the output of this process, which took so many
  /// nanoseconds to read the database. As soon as `isInterrupted` returns true nothing it says is waited for.
  static func start(
    _ program: String, reading nanoseconds: UInt64, isInterrupted: @escaping @Sendable () -> Bool
  ) throws(Failure) -> Successor {
    BlockingCall.assertAllowed()
    let (link, end) = try UpgradeLink.pair(isInterrupted: isInterrupted)
    defer { close(end) }
    // The first one that is free in a program that has just been started.
    let number = STDERR_FILENO + 1
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, end, number)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // This process has signals blocked that end others.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let arguments = [program] + CommandLine.arguments.dropFirst()
    let variables = ownVariables() + ["\(Predecessor.variable)=\(number)"]
    var process: pid_t = 0
    let status = withCStrings(arguments) { arguments in
      withCStrings(variables) { posix_spawn(&process, program, &actions, &attributes, arguments, $0) }
    }
    guard status == 0 else { throw .failed("cannot start \(program): \(SystemCalls.reason(status))") }
    return Successor(process, link, reading: nanoseconds)
  }

  /// Those that this process was started with, but for the one that a server before it has added.
  private static func ownVariables() -> [String] {
    (SmallFiles.bytes("/proc/self/environ") ?? []).split(separator: 0)
      .map { String(decoding: $0, as: UTF8.self) }
      .filter { !$0.hasPrefix("\(Predecessor.variable)=") }
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }

  /// Ends it for good: when this returns it does nothing any more, and has written nothing that this server
  /// does not read again. Only then the socket to it may close.
  func end() {
    BlockingCall.assertAllowed()
    guard !isOver.exchange(true, ordering: .relaxed) else { return }
    kill(process, SIGKILL)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
  }

  // MARK: Frames to it, and from it

  /// Tells it what this server has. Returns its version once it could begin at once.
  func prepare(
    _ offer: UpgradeOffer, sockets: [Int32], listeners: [Listeners]
  ) throws(Failure) -> String {
    try attempt { () throws(UpgradeLink.Fault) in
      let deadline = time.monotonic() &+ Self.startPatience
      try link.send(.offer, offer.bytes, sockets, until: deadline)
      for one in listeners {
        try link.send(.listeners, Array(one.name.utf8), one.descriptors, until: deadline)
      }
    }
    return try expect(.prepared, within: Self.startPatience).text
  }

  /// Passes loops on, at whose sockets nobody has looked since a moment.
  func passOn(_ loops: inout [PassedLoop], unreadSince moment: UInt64) throws(Failure) {
    try attempt { () throws(UpgradeLink.Fault) in
      let deadline = time.monotonic() &+ readPatience
      for index in loops.indices {
        while var frame = loops[index].popFrame(of: index) {
          defer { frame.content.wipe() }
          try link.send(frame.kind, frame.content, frame.descriptors, until: deadline)
        }
      }
      var writer = ByteWriter()
      writer.write(moment)
      try link.send(.complete, writer.bytes, until: deadline)
    }
  }

  /// Waits until it has read the database, too. Returns how many devices it cannot take over.
  func awaitReady() throws(Failure) -> Int {
    var reader = ByteReader(try expect(.ready, within: readPatience).content)
    guard let rejected = reader.read(UInt32.self) else { throw unexpected }
    return Int(rejected)
  }

  /// Gives it the place. Whatever becomes of it, this server must not go on from now on.
  func go() throws(Failure) {
    try attempt { () throws(UpgradeLink.Fault) in
      try link.send(.go, until: time.monotonic() &+ readPatience)
    }
  }

  /// Waits until it serves: it has to start channels and to make all sessions known.
  func awaitServing() throws(Failure) { _ = try expect(.serving, within: readPatience) }

  private func expect(_ kind: UpgradeLink.Kind, within patience: UInt64) throws(Failure) -> UpgradeLink.Frame
  {
    let frame = try attempt { () throws(UpgradeLink.Fault) in
      try link.receive(until: time.monotonic() &+ patience)
    }
    switch frame.kind {
    case kind: return frame
    case .refused: throw .failed("the new process refuses: \(frame.text)")
    default: throw unexpected
    }
  }

  private var unexpected: Failure {
    .failed("the new process says something that this version does not expect")
  }

  private func attempt<Value>(_ body: () throws(UpgradeLink.Fault) -> Value) throws(Failure) -> Value {
    do throws(UpgradeLink.Fault) { return try body() } catch {
      switch error {
      case .gone: throw .failed("the new process has ended; what it wrote is in the log of the server")
      case .late: throw .failed("the new process took too long")
      case .unreadable: throw unexpected
      case .tooLarge: throw .failed("more is to be passed on than one piece may hold")
      case .interrupted: throw Takeover.stopping
      }
    }
  }
}
