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
  /// How the server does.
  let status: @Sendable () -> ServerSnapshot
  /// Has another process take the server's place. Returns what `borealis upgrade` prints.
  let upgrade: @Sendable (UpgradeWish) throws(Failure) -> JSONValue
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
  /// Nanoseconds for other commands to end before one that has to be alone.
  private static let othersPatience: UInt64 = 2_000_000_000

  private struct State: Sendable {
    var isClosing = false
    /// Commands wait in the socket.
    var isHeld = false
    var served: ServedStore?
    var connections: [UInt64: CommandConnection] = [:]
    var number: UInt64 = 0
  }

  private let folder: DataFolder
  private let log: Log
  /// Where commands come in. Another process may share it: nothing but a close may be done to it.
  let descriptor: Int32
  /// Wakes the thread that takes commands.
  private let wake: Int32
  private let state = Mutex(State())
  private let ended = Semaphore()

  /// Listens, unless another process has done so on a socket that it has passed on; commands wait until
  /// `start`. Only for the process that has locked the folder.
  init(_ folder: DataFolder, listening descriptor: Int32? = nil, log: Log) throws(Failure) {
    (self.folder, self.log) = (folder, log)
    wake = cl_eventfd()
    guard wake >= 0 else { throw .failed(SystemCalls.reason(-wake)) }
    do throws(Failure) {
      self.descriptor = if let descriptor { descriptor } else { try CommandAddress(in: folder).listen() }
    } catch {
      Glibc.close(wake)
      throw error
    }
    _ = fcntl(self.descriptor, F_SETFL, fcntl(self.descriptor, F_GETFL) | O_NONBLOCK)
  }

  deinit {
    Glibc.close(descriptor)
    Glibc.close(wake)
  }

  /// Carries out commands from now on.
  func start(_ served: ServedStore) throws(Failure) {
    state.withLock { $0.served = served }
    do throws(SystemThread.Failure) {
      try SystemThread.start("commands") { [self] in
        while !state.withLock(\.isClosing) { accept() }
      }
    } catch {
      throw .failed("cannot start a thread: \(SystemCalls.reason(error.number))")
    }
  }

  /// Lets commands wait from now on: the one that asks for this has to be the only one. Others get a moment
  /// to end, as those of `borealis top` do.
  func hold() throws(Failure) {
    let deadline = SystemTime().monotonic() &+ Self.othersPatience
    while true {
      let isAlone = state.withLock { state in
        if state.connections.count <= 1 { state.isHeld = true }
        return state.isHeld
      }
      if isAlone { return }
      guard ended.wait(until: deadline) else {
        throw .failed("another command is being carried out: try again when it has ended")
      }
    }
  }

  /// Carries out commands again, on what the server has by now.
  func goOn(_ served: ServedStore) {
    state.withLock { ($0.served, $0.isHeld) = (served, false) }
    _ = cl_eventfd_signal(wake)
  }

  /// Waits until a command has come, or until there is something else to look at.
  private func isCommandThere() -> Bool {
    BlockingCall.assertAllowed()
    let isHeld = state.withLock { $0.isHeld || $0.isClosing }
    var looks = [
      pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isHeld ? -1 : descriptor, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&looks, 2, -1) > 0 else { return false }
    if looks[0].revents != 0 {
      var count: UInt64 = 0
      _ = read(wake, &count, MemoryLayout<UInt64>.size)
    }
    return looks[1].revents != 0 && state.withLock { !$0.isHeld && !$0.isClosing }
  }

  private func accept() {
    guard isCommandThere() else { return }
    // Closed at once in a process that is started at this moment: whoever has sent the command waits for its
    // end.
    let accepted = cl_accept(descriptor)
    guard accepted >= 0 else {
      // No descriptors or no memory are left: for a moment, it may be hoped.
      if accepted != -EAGAIN { usleep(10_000) }
      return
    }
    _ = fcntl(accepted, F_SETFL, fcntl(accepted, F_GETFL) & ~O_NONBLOCK)
    let connection = CommandConnection(accepted)
    let number = state.withLock { state -> UInt64? in
      guard !state.isClosing, !state.isHeld, state.connections.count < Self.most else { return nil }
      state.number += 1
      state.connections[state.number] = connection
      return state.number
    }
    guard let number else {
      let isHeld = state.withLock(\.isHeld)
      return refuse(
        connection,
        isHeld
          ? "another process takes the server's place: try again"
          : "the server has too many commands to carry out")
    }
    do throws(SystemThread.Failure) {
      try SystemThread.start("command") { [self] in
        let status = state.withLock(\.served).flatMap { serve(connection, $0) }
        // Before the command knows that it has ended: the next one may want to be alone.
        _ = state.withLock { $0.connections.removeValue(forKey: number) }
        if let status { connection.send(.ended, [status]) }
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

  /// Carries out the command of a connection; gives its exit status, nil if there is nothing to answer.
  private func serve(_ connection: CommandConnection, _ served: ServedStore) -> UInt8? {
    guard connection.isOfOwner else {
      log.warning("a command of another user is refused")
      refuse(connection, "only the server's user and root may give it commands")
      return nil
    }
    connection.setPatience(Self.requestSeconds)
    guard let (kind, content) = connection.receive(), kind == .request,
      let request = CommandRequest(content)
    else { return nil }
    connection.setPatience(Self.stepSeconds)
    guard connection.send(.begun) else { return nil }
    let status = Terminal.$current.withValue(ConnectedTerminal(connection)) {
      Program.run(request, in: folder.served(by: served))
    }
    // What is not a command's name is not for the log.
    let name = Program.named(request.command)?.name ?? ""
    let values: KeyValuePairs<String, LogValue> = [
      "command": .text(name), "status": .number(Int64(status)),
    ]
    // `borealis top` asks every few seconds.
    if name == StatusCommand.name { log.debug("command", values) } else { log.info("command", values) }
    return UInt8(truncatingIfNeeded: status)
  }

  /// Takes no more commands and waits for those under way, in bounded time. Another process may take them
  /// from now on, at the same address.
  func close(keepingAddress: Bool = false) {
    let isFirst = state.withLock { state in
      defer { (state.isClosing, state.served) = (true, nil) }
      return !state.isClosing
    }
    guard isFirst else { return }
    if !keepingAddress { CommandAddress(in: folder).remove() }
    _ = cl_eventfd_signal(wake)
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
