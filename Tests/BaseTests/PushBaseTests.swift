import BorealisBase
import PushTesting
import Synchronization
import Testing

@Suite struct IdentifierTests {
  /// The text of an ID reads back as the same ID, and only digits of the right count are read.
  @Test func registrationIDRoundTrip() throws {
    let id = try #require(RegistrationID("13065ffa4e0b5fb6ba3"))
    #expect(id.text == "13065ffa4e0b5fb6ba3")
    for bad in [
      "", "13065ffa4e0b5fb6ba", "13065ffa4e0b5fb6ba33", "13065ffa4e0b5fb6b g", "0207870f1b", "0207870f1b88",
      "0207870f1bx",
    ] {
      #expect(RegistrationID(bad) == nil)
    }
  }

  @Test func registrationIDsHaveDigitsOnlyInEitherCase() {
    let digits = Set("0123456789abcdefABCDEF".utf8)
    for known in ["13065ffa4e0b5fb6ba3", "0207870f1b8"] {
      for place in 0..<known.utf8.count {
        for byte in UInt8(0)..<128 {
          var text = Array(known.utf8)
          text[place] = byte
          let id = RegistrationID(String(decoding: text, as: UTF8.self))
          #expect((id != nil) == digits.contains(byte), "\(byte) at \(place)")
          if let id { #expect(id.text == String(decoding: text, as: UTF8.self).lowercased()) }
        }
      }
    }
    #expect(RegistrationID("000000000207870f1b8") == RegistrationID("0207870f1b8"))
  }

  @Test func appKeyRoundTrip() throws {
    let key = try #require(AppKey("8f0a0a1b2c3d4e5f60718293"))
    #expect(key.text == "8f0a0a1b2c3d4e5f60718293")
    #expect(AppKey("8f0a0a1b2c3d4e5f6071829") == nil)
  }

  /// IDs grow also when the clock stands still or jumps back, and stay below 2^53 for decades.
  @Test func messageIDsGrow() {
    let now = Timestamp(milliseconds: 1_790_000_000_000)
    let first = MessageID(0).next(at: now)
    let second = first.next(at: now)
    let third = second.next(at: Timestamp(milliseconds: 0))
    #expect(first < second && second < third)
    #expect(MessageID(firstAt: Timestamp(milliseconds: 3_900_000_000_000)).rawValue < 1 << 53)
    #expect(MessageID(decimal: Array(first.text.utf8)) == first)
    #expect(MessageID(decimal: Array("12a".utf8)) == nil)
  }

  /// The milliseconds and the counter of the last ID, the slot, and both of the next ID; the clock stands at
  /// 5 milliseconds.
  private static let successors: [[UInt64]] = [
    [0, 0, 0, 5, 0], [0, 0, 1, 5, 1], [0, 0, 127, 5, 127], [5, 0, 0, 5, 128], [5, 1, 1, 5, 129],
    [5, 1, 0, 5, 128], [5, 128, 7, 5, 135],
    // What others gave, also those without slots.
    [5, 134, 7, 5, 135], [5, 135, 7, 5, 263], [5, 4095, 3, 6, 3], [5, 4000, 126, 5, 4094], [9, 2, 3, 9, 3],
  ]

  @Test(arguments: successors)
  func `An ID follows in its slot`(numbers: [UInt64]) throws {
    let slot = try #require(MessageSlot(Int(numbers[2])))
    let now = Timestamp(milliseconds: MessageID.epochMilliseconds + 5)
    let next = MessageID(numbers[0] << 12 + numbers[1]).next(at: now, in: slot)
    #expect(next == MessageID(numbers[3] << 12 + numbers[4]))
  }

  @Test func `There are 128 slots`() {
    #expect(
      MessageSlot(-1) == nil && MessageSlot(0) == .first && MessageSlot(127) != nil && MessageSlot(128) == nil
    )
  }
}

@Suite struct TextCodingTests {
  /// Every length round-trips, and RFC 4648's own vectors come out.
  @Test func base64() {
    for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
      #expect(Base64.encode(Array(plain.utf8)) == coded)
      #expect(Base64.decode(Array(coded.utf8)) == Array(plain.utf8))
    }
    for bad in ["Zg=", "Zg", "Zh==", "Z===", "Zg==Zg==", "Zm9*"] {
      #expect(Base64.decode(Array(bad.utf8)) == nil, "\(bad)")
    }
    let bytes = (0..<256).map { UInt8($0) }
    #expect(Base64.decode(Array(Base64.encode(bytes).utf8)) == bytes)
    #expect(Hex.decode(Hex.encode(bytes)) == bytes)
  }

  /// A reader gives back what a writer wrote, and nothing past the end.
  @Test func bytes() {
    var writer = ByteWriter()
    writer.write(UInt8(7))
    writer.write(UInt16(0x0102))
    writer.write(UInt64.max - 5)
    writer.write(bytes: [1, 2, 3])
    var reader = ByteReader(writer.bytes)
    #expect(reader.read(UInt8.self) == 7)
    #expect(reader.read(UInt16.self) == 0x0102)
    #expect(reader.read(UInt64.self) == UInt64.max - 5)
    #expect(reader.read(count: 4) == nil)
    #expect(reader.read(count: 3) == [1, 2, 3])
    #expect(reader.read(UInt8.self) == nil)
  }
}

@Suite struct LogTests {
  @Test func timesAreWrittenInUTC() {
    #expect(Log.iso8601(0) == "1970-01-01T00:00:00.000Z")
    #expect(Log.iso8601(1_709_210_096_789) == "2024-02-29T12:34:56.789Z")
    #expect(Log.iso8601(-1) == "1969-12-31T23:59:59.999Z")
  }

  /// Values with quotes and line breaks cannot forge a second line.
  @Test func linesCannotBeForged() {
    let lines = LogLines()
    for format in [Log.Format.text, .json] {
      Log(level: .info, format: format, write: lines.add).info("push", ["name": .text("a\n\"b\\"), "n": 3])
    }
    #expect(lines.all.count == 2)
    #expect(lines.all.allSatisfy { $0.filter { $0 == "\n" }.count == 1 })
    #expect(lines.all[1].hasSuffix(#""message":"push","name":"a\u000a\"b\\","n":3}"# + "\n"))
  }

  @Test func `A line about a call that is traced ends with the trace`() {
    let lines = LogLines()
    for format in [Log.Format.text, .json] {
      let log = Log(level: .debug, format: format, write: lines.add)
      log.debug("a", ["n": 3], trace: "4bf9")
      log.info("a", trace: "4bf9")
      log.warning("a", ["n": 3], trace: nil)
      log.error("a", ["n": 3], trace: "4bf9")
    }
    let ends = [
      " debug a n=3 trace=4bf9\n", " info a trace=4bf9\n", " warning a n=3\n", " error a n=3 trace=4bf9\n",
    ]
    for (line, end) in zip(lines.all, ends) { #expect(line.hasSuffix(end), "\(line)") }
    #expect(lines.all[4].hasSuffix(#""message":"a","n":3,"trace":"4bf9"}"# + "\n"))
    #expect(lines.all[6].hasSuffix(#""message":"a","n":3}"# + "\n"))
  }

  /// What a terminal acts on, and what hides or turns around what it shows, is written as its code.
  @Test(arguments: [
    ("\u{1B}[2J", #"\u001b[2J"#), ("\u{9B}31m", #"\u009b31m"#), ("\u{85}", #"\u0085"#),
    ("\u{80}", #"\u0080"#),
    ("a\u{202E}b", #"a\u202eb"#), ("\u{2066}", #"\u2066"#), ("\u{200B}", #"\u200b"#),
    ("\u{FEFF}", #"\ufeff"#),
    ("\u{2028}", #"\u2028"#), ("\u{AD}", #"\u00ad"#), ("\u{E0041}", #"\udb40\udc41"#), ("\u{7F}", #"\u007f"#),
    ("\u{A0}é推送", "\u{A0}é推送"),
  ])
  func charactersThatDoMoreThanShowAreEscaped(text: String, written: String) {
    let lines = LogLines()
    for format in [Log.Format.text, .json] {
      Log(level: .info, format: format, write: lines.add).info("push", ["name": .text(text)])
    }
    #expect(lines.all[0].hasSuffix(" name=\"\(written)\"\n"))
    #expect(lines.all[1].hasSuffix(",\"name\":\"\(written)\"}\n"))
  }
}

@Suite struct MetricsTests {
  @Test func prometheusText() {
    let metrics = Metrics()
    metrics.counter("borealis_pushes_total", labels: "app=\"1\"").add(3)
    metrics.histogram("borealis_commit_seconds").observe(microseconds: 90)
    let text = metrics.render()
    #expect(text.contains("# TYPE borealis_pushes_total counter\nborealis_pushes_total{app=\"1\"} 3\n"))
    #expect(text.contains("borealis_commit_seconds_bucket{le=\"0.0001\"} 1\n"))
    #expect(text.contains("borealis_commit_seconds_bucket{le=\"5e-05\"} 0\n"))
    #expect(text.contains("borealis_commit_seconds_count 1\n"))
  }

  /// An app server accepts events after hours, and a request waits for up to a minute.
  @Test func `Long durations are told apart`() {
    let metrics = Metrics()
    let delays = metrics.histogram("borealis_callback_delay_seconds")
    for seconds: UInt64 in [6, 45, 240, 1800, 20_000, 90_000] {
      delays.observe(microseconds: seconds * 1_000_000)
    }
    let text = metrics.render()
    for (bound, count) in [
      ("5.0", 0), ("15.0", 1), ("60.0", 2), ("300.0", 3), ("3600.0", 4), ("86400.0", 5), ("+Inf", 6),
    ] {
      #expect(text.contains("borealis_callback_delay_seconds_bucket{le=\"\(bound)\"} \(count)\n"))
    }
  }

  @Test func rowsComeAndGo() {
    let metrics = Metrics(help: ["borealis_things": "Things."])
    let rows = Mutex([(labels: "a=\"1\"", value: 1.5), (labels: "a=\"2\"", value: -2)])
    metrics.computed("borealis_things", rows: { rows.withLock { $0 } })
    let head = "# HELP borealis_things Things.\n# TYPE borealis_things gauge\n"
    #expect(metrics.render() == head + "borealis_things{a=\"1\"} 1.5\nborealis_things{a=\"2\"} -2.0\n")
    rows.withLock { $0 = [] }
    #expect(metrics.render() == head)
  }
}
