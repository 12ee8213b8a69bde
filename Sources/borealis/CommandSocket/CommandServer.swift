import BorealisBase
import CLinux
import Glibc
import Storage
import Synchronization

/// What a command works on in a running server.
struct ServedStore: Sendable {
  let store: Store
  let keys: SecretKeyFile
  /// Has the server apply what the command has changed; returns when it has.
  let learnChanges: @Sendable () -> Void
}

/// Takes commands of other processes over the socket in the data folder and carries them out in this one. A
/// thread takes them, and each has a thread of its own.
final class CommandServer: Sendable {
  /// Commands at a time.
  private static let most = 8
  /// Seconds for a request, and for each later step: who reads a long list may rest for a while.
  private static let requestSeconds = 10
  private static let stepSeconds = 600
  /// Nanoseconds for commands to end when the server does.
  private static let endPatience: UInt64 = 5_000_000_000

  private struct State: Sendable {
    var isClosing = false
    var connections: [UInt64: CommandConnection] = [:]
    var number: UInt64 = 0
  }

  private let folder: DataFolder
  private let log: Log
  private let descriptor: Int32
  private let state = Mutex(State())
  private let ended = Semaphore()

  /// Listens; commands wait until `start`. Only for the process that has locked the folder.
  init(_ folder: DataFolder, log: Log) throws(Failure) {
    (self.folder, self.log) = (folder, log)
    descriptor = try CommandAddress(in: folder).listen()
  }

  deinit { Glibc.close(descriptor) }

  /// Carries out commands from now on.
  func start(_ served: ServedStore) throws(Failure) {
    do throws(SystemThread.Failure) {
      try SystemThread.start("commands") { [self] in
        while !state.withLock(\.isClosing) { accept(served) }
      }
    } catch {
      throw .failed("cannot start a thread: \(SystemCalls.reason(error.number))")
    }
  }

  private func accept(_ served: ServedStore) {
    let accepted = Glibc.accept(descriptor, nil, nil)
    guard accepted >= 0 else {
      // No descriptors or no memory are left: for a moment, it may be hoped.
      BlockingCall.assertAllowed()
      if !state.withLock(\.isClosing) { usleep(10_000) }
      return
    }
    _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
    let connection = CommandConnection(accepted)
    let number = state.withLock { state -> UInt64? in
      guard !state.isClosing, state.connections.count < Self.most else { return nil }
      state.number += 1
      state.connections[state.number] = connection
      return state.number
    }
    guard let number else { return refuse(connection, "the server has too many commands to carry out") }
    do throws(SystemThread.Failure) {
      try SystemThread.start("command") { [self] in
        serve(connection, served)
        _ = state.withLock { $0.connections.removeValue(forKey: number) }
        ended.signal()
      }
    } catch {
      _ = state.withLock { $0.connections.removeValue(forKey: number) }
      refuse(connection, "the server cannot start a thread")
    }
  }

  private func refuse(_ connection: CommandConnection, _ reason: String) {
    connection.setPatience(1)
    connection.send(.begun)
    connection.send(.errors, Array("borealis: \(reason)\n".utf8))
    connection.send(.ended, [1])
  }

  private func serve(_ connection: CommandConnection, _ served: ServedStore) {
    guard connection.isOfOwner else {
      log.warning("a command of another user is refused")
      return refuse(connection, "only the server's user and root may give it commands")
    }
    connection.setPatience(Self.requestSeconds)
    guard let (kind, content) = connection.receive(), kind == .request,
      let request = CommandRequest(content)
    else { return }
    connection.setPatience(Self.stepSeconds)
    guard connection.send(.begun) else { return }
    let status = Terminal.$current.withValue(ConnectedTerminal(connection)) {
      Program.run(request, in: folder.served(by: served))
    }
    // What is not a command's name is not for the log.
    log.info(
      "command",
      ["command": .text(Program.named(request.command)?.name ?? ""), "status": .number(Int64(status))])
    connection.send(.ended, [UInt8(truncatingIfNeeded: status)])
  }

  /// Takes no more commands and waits for those under way, in bounded time.
  func close() {
    let isFirst = state.withLock { state in
      defer { state.isClosing = true }
      return !state.isClosing
    }
    guard isFirst else { return }
    CommandAddress(in: folder).remove()
    shutdown(descriptor, Int32(SHUT_RDWR))
    // A file that is still being read ends here; what its command has read is stored.
    for connection in state.withLock({ Array($0.connections.values) }) { connection.endInput() }
    let deadline = SystemTime().monotonic() &+ Self.endPatience
    while true {
      let connections = state.withLock { Array($0.connections.values) }
      guard !connections.isEmpty, ended.wait(until: deadline) else {
        for connection in connections { connection.end() }
        return
      }
    }
  }
}
