import BorealisBase
import Glibc

/// Has a running server carry out a command, for the terminal of this process.
enum CommandClient {
  /// Nanoseconds for which a server that holds the folder may not listen: it has just started or is about to
  /// end.
  private static let patience: UInt64 = 2_000_000_000
  /// Seconds for each step of an answer to `output`.
  private static let answerSeconds = 5

  /// Returns the exit status; nil if there is no server that takes commands, so that this process has to
  /// open the database itself.
  static func run(_ command: any ServedCommand.Type, _ input: Input) throws(Failure) -> Int32? {
    let folder = try DataFolder(input)
    guard folder.holdsDatabase else { return nil }
    let request = CommandRequest(command, input)
    let bytes = request.bytes
    guard bytes.count <= CommandConnection.largest else { throw .usage("the arguments are too long") }
    BlockingCall.assertAllowed()
    let deadline = SystemTime().monotonic() &+ patience
    while true {
      if let connection = CommandAddress(in: folder).connect(), connection.send(.request, bytes) {
        var hasBegun = false
        if let status = try follow(connection, request, &hasBegun) { return status }
        guard !hasBegun else {
          throw .failed("the server ended before the command did: look whether it was carried out")
        }
      }
      // A socket that a killed server has left is not one; the lock decides.
      guard folder.isServed, SystemTime().monotonic() < deadline else { return nil }
      usleep(20_000)
    }
  }

  /// What a command prints that the server on a folder carries out, without operands and options, up to 1
  /// MiB. Throws what the command complains of, or why there is no answer within some seconds.
  static func output(
    of command: any ServedCommand.Type, _ input: Input, from folder: DataFolder
  ) throws(Failure) -> [UInt8] {
    guard let connection = CommandAddress(in: folder).connect() else { throw noServer(on: folder) }
    connection.setPatience(answerSeconds)
    connection.send(.request, CommandRequest(command, input).bytes)
    var (output, errors): ([UInt8], [UInt8]) = ([], [])
    while let (kind, content) = connection.receive() {
      guard output.count + errors.count <= CommandConnection.largest else { throw otherVersion }
      switch kind {
      case .begun: continue
      case .output: output += content
      case .errors: errors += content
      case .ended where content.first == 0: return output
      case .ended:
        let text = String(decoding: errors, as: UTF8.self).split(separator: "\n").first ?? "it failed"
        throw .failed(String(text.trimmingPrefix("borealis: ")))
      default: throw otherVersion
      }
    }
    throw .failed("the server on \(folder.path) does not answer")
  }

  /// There is no server that takes commands.
  static func noServer(on folder: DataFolder) -> Failure {
    .failed(
      folder.holdsDatabase
        ? "no server runs on \(folder.path)"
        : "a server with its database in PostgreSQL takes no commands: see its /metrics")
  }

  private static var otherVersion: Failure {
    .failed("the server speaks another language: it has another version than this program")
  }

  /// Does what a server asks for until the command has ended; nil if the server has gone.
  private static func follow(
    _ connection: CommandConnection, _ request: CommandRequest, _ hasBegun: inout Bool
  ) throws(Failure) -> Int32? {
    let terminal = Terminal.current
    while let (kind, content) = connection.receive() {
      var text: String { String(decoding: content, as: UTF8.self) }
      switch kind {
      case .begun: hasBegun = true
      case .output: terminal.write(text, isError: false)
      case .errors: terminal.write(text, isError: true)
      case .open:
        do throws(Failure) {
          guard request.names(file: text) else { throw .failed("\(text) is not a file of this command") }
          try terminal.open(text)
          connection.send(.opened)
        } catch {
          connection.send(.notOpened, Array(error.message.utf8))
        }
      case .read:
        do throws(Failure) { connection.send(.bytes, try terminal.read()) } catch {
          connection.send(.notRead, Array(error.message.utf8))
        }
      case .askPassword:
        let password = terminal.password(text)
        connection.send(password == nil ? .noPassword : .password, Array((password ?? "").utf8))
      case .ended: return Int32(content.first ?? 1)
      default: throw otherVersion
      }
    }
    return nil
  }
}
