import BorealisBase
import Testing

@testable import borealis

/// What `borealis top` makes of two snapshots.
@Suite struct TopPageTests {
  private static let earlier = """
    # HELP borealis_apps Apps in memory
    borealis_apps 3.0
    process_start_time_seconds 1000.5
    process_resident_memory_bytes 129394278.0
    process_cpu_seconds_total 10.0
    borealis_devices_online 1234.0
    borealis_device_open_connections 1240
    borealis_device_logins_total 100
    borealis_device_connections_total 500
    borealis_pushes_accepted_total 40
    borealis_http_requests_total{class="2xx"} 100
    borealis_http_requests_total{class="5xx"} 1
    borealis_http_request_seconds_bucket{le="5e-05"} 10
    borealis_http_request_seconds_bucket{le="0.0025"} 20
    borealis_http_request_seconds_bucket{le="+Inf"} 30
    borealis_channel_targets_total{channel="connection",result="delivered"} 30
    borealis_channel_reachable{app="0123456789abcdef01234567",channel="apns",service="production"} 1.0
    """
  private static let changes = [
    "logins_total 100": "logins_total 125", "\"5e-05\"} 10": "\"5e-05\"} 70",
    "connections_total 500": "connections_total 530",
    "open_connections 1240": "open_connections 1260", "accepted_total 40": "accepted_total 81",
    "\"2xx\"} 100": "\"2xx\"} 200", "cpu_seconds_total 10.0": "cpu_seconds_total 10.24",
    "\"0.0025\"} 20": "\"0.0025\"} 118", "\"+Inf\"} 30": "\"+Inf\"} 131",
    "\"delivered\"} 30": "\"delivered\"} 90",
  ]
  private static let later =
    changes.reduce(earlier) { $0.replacing($1.key, with: $1.value) }
    + "\nborealis_channel_targets_total{channel=\"apns\",result=\"failed\"} 3\n"

  private static func snapshot(
    _ metrics: String, seconds: UInt64, pushes: Int, obstacle: String? = nil
  ) -> ServerSnapshot {
    ServerSnapshot(
      version: "0.9.0", time: 274_600_500 + Int64(seconds) * 1000, clock: seconds * 1_000_000_000,
      obstacle: obstacle, metrics: ServerSnapshot.values(of: metrics),
      channels: [
        .init(name: "apns", counts: ["pushes": 5, "in_flight": 2, "retrying": 1, "unreachable": 1])
      ],
      apps: [
        .init(
          name: "Shop", appKey: "0123456789abcdef01234567",
          counts: ["pushes": pushes, "online": 800, "waiting": 20, "queued": 5]),
        .init(
          name: "新闻\u{1b}[2J", appKey: "fedcba9876543210fedcba98",
          counts: ["pushes": 2 * pushes, "online": 4]),
        .init(name: "Idle", appKey: "00000000000000000000000a", counts: ["pushes": 9]),
      ])
  }

  private static let before = snapshot(earlier, seconds: 5, pushes: 7)
  private static let now = snapshot(later, seconds: 7, pushes: 31)

  private func text(
    _ before: ServerSnapshot?, _ now: ServerSnapshot, _ columns: Int, _ rows: Int = .max
  ) -> String {
    TopPage(before: before, now: now).lines(columns: columns, rows: rows).joined(separator: "\n")
  }

  @Test func `Two snapshots make rates, and what is missing a dash`() {
    #expect(
      text(Self.before, Self.now, 110) == """
        borealis 0.9.0, up 3 d 4 h, ready
        process     memory 123 MiB   CPU 12 %   apps 3   open files –   file limit –
        devices     online 1234   connections 1260   logins 13/s   opened 15/s   WebSocket –/s   refused –/s
                    TLS failures –/s   closed 5/s
        pushes      accepted 21/s   refused –/s   sent to devices –/s   acknowledged –/s
        HTTP        connections –   requests 50/s   5xx 0/s   median ≤ 0.05 ms, 99 % > 2.5 ms
        database    queue –   commits –/s   failed –/s   median –, 99 % –   oldest unstored acknowledgement (s) –
        waiting     for speed –   paced –   callback batches –   mails –
        events      callbacks –/s   callbacks failed –/s   schedules fired –/s   missed –/s

        channel              delivered/s    failed/s      pushes   in flight    retrying     stopped unreachable
        apns                           0         1.5           5           2           1           0           1
        connection                    30           0

        busiest apps            pushes/s      queued     waiting  broadcasts      online
        新闻\\u001b[2J                 24           0           0           0           4  fedcba9876543210fedcba98
        Shop                          12           5          20           0         800  0123456789abcdef01234567

        longest queues          pushes/s      queued     waiting  broadcasts      online
        Shop                          12           5          20           0         800  0123456789abcdef01234567
        """)
  }

  @Test func `Little is not nothing`() {
    let page = text(Self.before, Self.snapshot(Self.later, seconds: 1005, pushes: 31), 110)
    #expect(page.contains("accepted <0.1/s") && page.contains("5xx 0/s"))
  }

  @Test func `Without an earlier snapshot there are no rates`() {
    let page = text(nil, Self.snapshot(Self.later, seconds: 7, pushes: 31, obstacle: "disk\u{7} full"), 110)
    #expect(page.hasPrefix("borealis 0.9.0, up 3 d 4 h, NOT READY: disk\\u0007 full\n"))
    #expect(!page.contains(/[0-9]\/s/) && page.contains("logins –/s") && page.contains("connections 1260"))
    #expect(
      page.contains(
        "\nShop                           –           5          20           0         800  0123"))
    // Apps by what they have had since the start.
    #expect(page.contains(/新闻.*\nShop .*\nIdle/))
  }

  @Test func `Another process has counted from the beginning`() {
    let restarted = Self.later.replacing("time_seconds 1000.5", with: "time_seconds 2000")
    let now = Self.snapshot(restarted, seconds: 7, pushes: 31)
    #expect(text(Self.before, now, 110) == text(nil, now, 110))
    #expect(text(Self.now, Self.now, 110) == text(nil, Self.now, 110))
    #expect(text(Self.now, Self.before, 110) == text(nil, Self.before, 110))
  }

  @Test func `Narrow and low terminals get what fits`() {
    #expect(
      text(Self.before, Self.now, 44, 6) == """
        borealis 0.9.0, up 3 d 4 h, ready
        process     memory 123 MiB   CPU 12 %
                    apps 3   open files –
                    file limit –
        devices     online 1234   connections 1260
                    logins 13/s   opened 15/s
        """)
    for columns in 1...130 {
      let lines = TopPage(before: Self.before, now: Self.now).lines(columns: columns, rows: columns % 30)
      #expect(lines.count <= columns % 30 && lines.allSatisfy { $0.count <= columns })
    }
  }

  @Test func `Snapshots are read as they were written, and other texts not at all`() {
    #expect(Self.now.metrics.count == 16 && Self.now.metrics["borealis_apps"] == 3)
    for snapshot in [Self.now, Self.snapshot("", seconds: 1, pushes: 0, obstacle: "stopping")] {
      #expect(ServerSnapshot(JSONWriter.serialize(snapshot.json)) == snapshot)
    }
    let bad = ["", "{}", "[]", #"{"version":"1"}"#, #"{"version":1,"time_ms":1,"monotonic_ns":1}"#]
    for text in bad { #expect(ServerSnapshot(Array(text.utf8)) == nil) }
    let odd =
      ##"{"version":"1","time_ms":1,"monotonic_ns":1,"metrics":{"a":"b"},"channels":[1],"apps":[{}]}"##
    let read = ServerSnapshot(Array(odd.utf8))
    #expect(read?.metrics == [:] && read?.channels == [] && read?.apps == [])
    #expect(ServerSnapshot(Array(odd.utf8) + [UInt8](repeating: 32, count: 1 << 20)) == nil)
  }
}
