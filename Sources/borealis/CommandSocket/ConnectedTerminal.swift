import BorealisBase
import Synchronization

/// The terminal of the process whose command a server carries out. One thread uses it.
final class ConnectedTerminal: CommandTerminal {
  /// Bytes in one frame of output.
  private static let piece = 64 * 1024

  private let connection: CommandConnection
  /// The process has gone, or does not read what the command says: nothing more is sent.
  private let isGone = Atomic<Bool>(false)

  init(_ connection: CommandConnection) { self.connection = connection }

  func write(_ text: String, isError: Bool) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty, !isGone.load(ordering: .relaxed) {
      let isSent = connection.send(isError ? .errors : .output, Array(rest.prefix(Self.piece)))
      if !isSent { isGone.store(true, ordering: .relaxed) }
      rest = rest.dropFirst(Self.piece)
    }
  }

  func password(_ prompt: String) -> String? {
    guard let (kind, content) = ask(.askPassword, prompt), kind == .password else { return nil }
    return String(decoding: content, as: UTF8.self)
  }

  func open(_ path: String) throws(Failure) {
    switch ask(.open, path) {
    case (.opened, _)?: return
    case (.notOpened, let reason)?: throw .failed(String(decoding: reason, as: UTF8.self))
    default: throw lost
    }
  }

  func read() throws(Failure) -> [UInt8] {
    switch ask(.read) {
    case (.bytes, let bytes)?: return bytes
    case (.notRead, let reason)?: throw .failed(String(decoding: reason, as: UTF8.self))
    default: throw lost
    }
  }

  private func ask(
    _ kind: CommandConnection.Kind, _ text: String = ""
  ) -> (kind: CommandConnection.Kind, content: [UInt8])? {
    connection.send(kind, Array(text.utf8)) ? connection.receive() : nil
  }

  private var lost: Failure { .failed("the command's process has gone, or the server ends") }
}
