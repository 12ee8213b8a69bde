import Dispatch
import Glibc
import PushTesting

/// A mail server on a port of its own that answers each step as it is told: `greeting`, the words of SMTP's
/// commands, and `.` for what comes behind a mail. An empty answer ends the connection. Serves one connection
/// after the other.
final class ScriptedServer: Sendable {
  struct Failed: Error {}

  let port: UInt16
  private let listener: Int32
  private let lines = LogLines()

  /// What it was told, without the mails.
  var heard: [String] { lines.all }

  init(_ answers: [String: String] = [:]) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard isBound else { throw Failed() }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    DispatchQueue(label: "scripted mail server").async { [lines] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else {
          // Only here, where nobody waits on it any more: its number is given to the next socket.
          close(listener)
          return
        }
        Conversation(connection, answers, lines).run()
        close(connection)
      }
    }
  }

  deinit {
    // Ends the waiting for connections.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private final class Conversation {
    private let connection: Int32
    private let answers: [String: String]
    private let lines: LogLines
    private var unread: [UInt8] = []

    init(_ connection: Int32, _ answers: [String: String], _ lines: LogLines) {
      (self.connection, self.answers, self.lines) = (connection, answers, lines)
    }

    func run() {
      guard answer("greeting", "220 mail.test") else { return }
      while let line = nextLine() {
        lines.add(Array(line.utf8))
        let word = String(line.prefix { $0 != " " && $0 != ":" })
        switch word {
        case "QUIT":
          _ = answer(word, "221 bye")
          return
        case "DATA":
          guard answer(word, "354 go on") else { return }
          guard answers[word] == nil else { continue }
          while let text = nextLine(), text != "." {}
          guard answer(".", "250 taken") else { return }
        default: guard answer(word, "250 fine") else { return }
        }
      }
    }

    /// False if that is the end.
    private func answer(_ step: String, _ usual: String) -> Bool {
      let text = answers[step] ?? usual
      let bytes = Array((text.split(separator: "\n").joined(separator: "\r\n") + "\r\n").utf8)
      return !text.isEmpty
        && send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    private func nextLine() -> String? {
      while true {
        if let end = unread.firstIndex(of: 10) {
          defer { unread.removeFirst(end + 1) }
          return String(decoding: unread[..<end].filter { $0 != 13 }, as: UTF8.self)
        }
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection, &piece, piece.count, 0)
        guard count > 0 else { return nil }
        unread += piece[..<count]
      }
    }
  }
}
