import BorealisBase
import BorealisCrypto
import CLinux
import Glibc
import HTTP
import Synchronization

/// As a child of the bench: sends requests of a vendor through the client of vendors' channels as fast as
/// they go, and prints how many were answered in a second and what one costs in processor time.
enum ChannelLoad {
  /// What the requests are.
  enum Kind: String {
    case fcm, webpush
    /// Web Push with each message sealed.
    case sealed

    var path: String { self == .fcm ? "/v1/projects/\(ChannelScene.project)/messages:send" : "/push/x" }
    var bodySize: Int { self == .fcm ? 400 : 300 }
    /// The fields of each request, which are as long as real ones.
    var fields: [String] {
      let token = String(repeating: "eyJhbGci", count: 25)
      guard self != .fcm else { return ["Authorization: Bearer \(token)"] }
      return [
        "Urgency: high", "Topic: 1234567890123456", "TTL: 86400", "Content-Encoding: aes128gcm",
        "Authorization: vapid t=\(token), k=BLSvrgMcSSPiuGT9Nfm4YSxPBZMTLMwYVKrcSOv8rFrlBMZRkSKBNDW4",
      ]
    }
  }

  /// Arguments: URL without a path, certificate file, seconds, requests at a time, kind. What is measured
  /// begins after a second of warming up.
  static func run(_ words: [String]) -> Int32 {
    guard words.count == 5, let seconds = UInt32(words[2]), let streams = Int(words[3]),
      let kind = Kind(rawValue: words[4])
    else { return 2 }
    _ = cl_die_with_parent()
    var options = HTTPTransport.Options()
    options.authorities = words[1]
    options.connectionsPerHost = 1
    guard let transport = HTTPTransport(options, thread: "load"),
      let key = try? DevicePrivateKey(.p256).publicKey
    else { return 1 }
    let sender = Sender(kind, url: words[0] + kind.path, transport, key)
    transport.run { for _ in 0..<streams { sender.sendNext() } }
    sleep(1)
    let before = sender.taken.load(ordering: .relaxed)
    let (start, used) = (cl_monotonic_ns(), processorTime())
    sleep(seconds)
    let count = sender.taken.load(ordering: .relaxed) - before
    let rate = Double(count) / (Double(cl_monotonic_ns() - start) / 1e9)
    let cost = Double(processorTime() - used) / Double(max(1, count))
    print(rate, cost / 1000, sender.others.load(ordering: .relaxed))
    fflush(nil)
    return 0
  }

  /// Processor time of this process in nanoseconds.
  private static func processorTime() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Sends the next request whenever one is answered.
  private final class Sender: Sendable {
    let taken = Atomic<Int>(0)
    /// Requests that were not taken.
    let others = Atomic<Int>(0)
    private let next = Atomic<Int>(0)
    private let kind: Kind
    private let url: String
    private let fields: [String]
    private let transport: HTTPTransport
    private let key: DevicePublicKey
    private let rest: [UInt8]

    init(_ kind: Kind, url: String, _ transport: HTTPTransport, _ key: DevicePublicKey) {
      self.kind = kind
      self.url = url
      self.transport = transport
      self.key = key
      fields = kind.fields
      rest = [UInt8](repeating: UInt8(ascii: "x"), count: kind == .sealed ? 200 : kind.bodySize - 10)
    }

    func sendNext() {
      // A token, or a message, that differs from request to request.
      let number = next.add(1, ordering: .relaxed).newValue
      var body = Array(String(1_000_000_000 + number).utf8) + rest
      if kind == .sealed { body = (try? key.seal(body)) ?? [] }
      transport.send(OutgoingRequest(url: url, fields: fields, body: body)) { [self] answer in
        taken.add(answer.isSuccess ? 1 : 0, ordering: .relaxed)
        others.add(answer.isSuccess ? 0 : 1, ordering: .relaxed)
        if !answer.isClosed { sendNext() }
      }
    }
  }
}
