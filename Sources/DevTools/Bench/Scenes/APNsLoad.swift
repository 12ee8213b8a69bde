import BorealisBase
import BorealisNet
import CLinux
import Channels
import Glibc
import HTTP
import Model
import Synchronization

/// As a child of the bench: sends notifications through a pool as fast as they go, and prints how many were
/// answered in a second and what one costs in processor time.
enum APNsLoad {
  /// Arguments: port, certificate file, seconds, streams. What is measured begins after a second of warming
  /// up.
  static func run(_ words: [String]) -> Int32 {
    guard words.count == 4, let port = UInt16(words[0]), let seconds = UInt32(words[2]),
      let streams = Int(words[3])
    else { return 2 }
    _ = cl_die_with_parent()
    do {
      let source = APNsLoadSource()
      var configuration = HTTP2PoolConfiguration(
        host: "127.0.0.1", port: port, tls: try HTTP2PoolConfiguration.tls(trust: .file(words[1])))
      configuration.connections = 1
      configuration.streams = streams
      let loop = try LoopHandle(index: 0)
      try loop.start(
        { [configuration] loop throws(SystemError) in
          let pool = APNsPool(on: HTTP2Driver(loop: loop).address, configuration, source: source)
          pool.setAuthorization(APNsBenchmark.authorization)
          pool.wake()
        }, failed: { _ in exit(1) })
      sleep(1)
      let before = source.answered.load(ordering: .relaxed)
      let (start, used) = (cl_monotonic_ns(), processorTime())
      sleep(seconds)
      let count = source.answered.load(ordering: .relaxed) - before
      let rate = Double(count) / (Double(cl_monotonic_ns() - start) / 1e9)
      let cost = Double(processorTime() - used) / Double(max(1, count))
      print(rate, cost / 1000, source.others.load(ordering: .relaxed))
      fflush(nil)
      return 0
    } catch {
      return 1
    }
  }

  /// Processor time of this process in nanoseconds.
  private static func processorTime() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// Has always another notification: an own device token and an own payload each.
private final class APNsLoadSource: APNsSource {
  let answered = Atomic<Int>(0)
  /// Results other than a 200.
  let others = Atomic<Int>(0)
  private let next = Atomic<UInt64>(0)
  private let template = APNsTemplate(
    text: APNsBenchmark.payload, holes: [.init(at: APNsBenchmark.payload.count - 1, for: .messageID)])

  func popRequests(upTo count: Int, areScarce: Bool) -> [APNsRequest] {
    let first = next.wrappingAdd(UInt64(count), ordering: .relaxed).newValue - UInt64(count)
    return (first..<first + UInt64(count)).map { number in
      var token = [UInt8](repeating: 0x5a, count: 32)
      for index in 0..<8 { token[index] = UInt8(truncatingIfNeeded: number >> (8 * UInt64(index))) }
      var payload: [UInt8] = []
      payload.reserveCapacity(APNsBenchmark.payload.count + 16)
      template?.render(messageID: MessageID(number), badge: 0, into: &payload)
      return APNsRequest(
        tag: number, deviceToken: token, topic: APNsBenchmark.topic, expiration: 1_767_312_000,
        id: APNsID(high: 0x5b2f_6a52_6c58_4d0f, low: number), payload: payload)
    }
  }

  func answered(_ results: [APNsResultEntry]) {
    let good = results.count { $0.result == .answered(APNsAnswer(status: 200)) }
    answered.wrappingAdd(good, ordering: .relaxed)
    others.wrappingAdd(results.count - good, ordering: .relaxed)
  }
}
