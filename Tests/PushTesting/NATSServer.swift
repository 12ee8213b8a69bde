import BorealisBase
import Glibc

/// Debian's nats-server in a folder of its own. It ends with this object, or with the process.
package final class NATSServer {
  /// Why it does not do what a test needs.
  package struct Failure: Error, CustomStringConvertible {
    /// The reason.
    package let description: String

    /// Gives a reason.
    package init(description: String) { self.description = description }
  }

  private let folder: TemporaryFolder
  private let settings: String
  /// The address, which stays the same when it starts again.
  package let address = FixedPort.address()
  private var processID: pid_t = 0
  private var shell: pid_t = 0
  private var orders: Int32 = -1

  /// Starts it, with more lines for its configuration.
  package init(_ settings: String = "", in folder: TemporaryFolder = TemporaryFolder()) throws {
    self.folder = folder
    self.settings = settings
    try start()
  }

  deinit { kill() }

  /// Starts it again, with other lines if some are given.
  package func start(_ other: String? = nil) throws {
    let text = """
      listen: "\(address)"
      ports_file_dir: "\(folder.path)"
      max_payload: 1MB
      \(other ?? settings)
      """
    try TemporaryFolder.write(text, to: folder.file("nats.conf"))
    try spawn()
    guard Int(try answer()) != nil else {
      throw Failure(
        description: "nats-server does not start: \(TemporaryFolder.read(folder.file("nats.log")))")
    }
  }

  /// Ends it at once.
  package func kill() {
    guard orders >= 0 else { return }
    close(orders)
    orders = -1
    ChildProcess.wait(for: shell)
  }

  /// Stops it without an end, as a machine that hangs.
  package func pause() { Glibc.kill(processID, SIGSTOP) }

  /// Lets it go on.
  package func resume() { Glibc.kill(processID, SIGCONT) }

  private func spawn() throws {
    var pipes: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pipes) == 0 else {
      throw Failure(description: "no pipe")
    }
    orders = pipes[1]
    do {
      defer { close(pipes[0]) }
      shell = try ChildProcess.start(
        "/bin/sh", ["-c", Self.script, "sh", folder.path], input: .descriptor(pipes[0]),
        output: .descriptor(pipes[0]))
    }
    guard let number = pid_t(try answer()) else { throw Failure(description: "no shell") }
    processID = number
  }

  private func answer() throws -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      var poll = pollfd(fd: orders, events: Int16(POLLIN), revents: 0)
      guard Glibc.poll(&poll, 1, 60_000) > 0, read(orders, &byte, 1) == 1 else {
        throw Failure(
          description: "nats-server says nothing: \(TemporaryFolder.read(folder.file("nats.log")))")
      }
      if byte == 10 { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }

  /// $1 is the folder. The end of the orders is the order to end. Debian has the server where only
  /// administrators look.
  private static let script = #"""
    PATH=$PATH:/usr/sbin
    rm -f "$1"/*.ports
    nats-server -c "$1/nats.conf" >"$1/nats.log" 2>&1 </dev/null &
    echo $!
    until grep -q '"nats"' "$1"/*.ports 2>/dev/null; do
      kill -0 $! 2>/dev/null || { echo failed; exit 1; }
      sleep 0.02
    done
    echo "$(sed -nE 's/.*"(nats|tls):\/\/[^"]*:([0-9]+)".*/\2/p' "$1"/*.ports | head -n 1)"
    read -r _
    kill -KILL $!
    wait $! 2>/dev/null
    """#
}
