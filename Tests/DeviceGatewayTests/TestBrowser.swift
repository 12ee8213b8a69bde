import BorealisBase
import BorealisNet
import CLinux
import Core
import Glibc
import HTTP

/// A browser that waits in poll(2), speaking the autopush protocol.
final class TestBrowser {
  /// What came: a message, a control frame other than the Close, the code of the Close, or the end.
  enum Event: Equatable {
    case message(JSONValue)
    case control(UInt8)
    case close(UInt16)
    case end
  }

  private let descriptor: Int32
  private var unread: [UInt8] = []
  /// What stands for the answer to the handshake has come.
  private var isOpen = false

  init(_ server: TestServer) throws {
    descriptor = try SystemError.check(cl_connect("127.0.0.1", server.webSocketPort), "connect")
  }

  deinit { _ = cl_close(descriptor) }

  func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch Socket.send(descriptor, Array(rest)) {
      case .sent(let count): rest = rest.dropFirst(count)
      case .wouldBlock: try wait(POLLOUT)
      case .failed: throw TestServer.Failed("cannot write")
      }
    }
  }

  func say(_ text: String) throws { try write(WebSocketUnwrapper.masked(0x81, Array(text.utf8))) }

  func acknowledge(_ message: JSONValue) throws {
    let (channel, version) = (message["channelID"]?.string ?? "", message["version"]?.string ?? "")
    let update = #"{"channelID":"\#(channel)","version":"\#(version)","code":100}"#
    try say(#"{"messageType":"ack","updates":[\#(update)]}"#)
  }

  private func wait(_ events: Int32) throws {
    var wanted = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    guard poll(&wanted, 1, 20_000) == 1 else { throw TestServer.Failed("nothing happens on the socket") }
  }

  func next() throws -> Event {
    while true {
      if let event = try receiveFrame() { return event }
      var buffer = [UInt8](repeating: 0, count: 64 << 10)
      switch try? Socket.read(descriptor, into: &buffer) ?? -1 {
      case -1: try wait(POLLIN)
      case nil, 0: return .end
      case let count?: unread += buffer[..<count]
      }
    }
  }

  private func receiveFrame() throws -> Event? {
    if !isOpen {
      guard unread.count >= 4 else { return nil }
      unread.removeFirst(4)
      isOpen = true
    }
    guard unread.count >= 2 else { return nil }
    let size = unread[1] == 126 ? 4 : 2
    guard unread.count >= size else { return nil }
    let length = size == 2 ? Int(unread[1]) : Int(unread[2]) << 8 | Int(unread[3])
    guard unread.count >= size + length else { return nil }
    let (opcode, content) = (unread[0] & 15, Array(unread[size..<(size + length)]))
    unread.removeFirst(size + length)
    switch opcode {
    case 1: return .message(try parseJSON(content))
    case 8: return .close(UInt16(content[0]) << 8 | UInt16(content[1]))
    default: return .control(opcode)
    }
  }

  func message() throws -> JSONValue {
    guard case .message(let message) = try next() else { throw TestServer.Failed("no message") }
    return message
  }

  /// Says hello; gives the UAID.
  func hello(_ uaid: String? = nil) throws -> String {
    let name = uaid.map { #","uaid":"\#($0)""# } ?? ""
    try say(#"{"messageType":"hello","broadcasts":{"a":"b"},"use_webpush":true\#(name)}"#)
    let answer = try message()
    guard answer["messageType"] == "hello", answer["status"] == 200, answer["use_webpush"] == true,
      let uaid = answer["uaid"]?.string
    else { throw TestServer.Failed("no hello") }
    return uaid
  }

  /// Subscribes; gives the address.
  func subscribe(_ channel: String) throws -> String {
    try say(#"{"messageType":"register","channelID":"\#(channel)"}"#)
    let answer = try message()
    guard answer["messageType"] == "register", answer["channelID"]?.string == channel,
      answer["status"] == 200, let endpoint = answer["pushEndpoint"]?.string
    else { throw TestServer.Failed("not subscribed: \(answer)") }
    return endpoint
  }
}
