import BorealisBase
import Channels
import Model
import Testing

@Suite struct ImportLineTests {
  // MARK: CSV

  private func records(_ text: [UInt8], pieces: Int) -> [CSVReader.Record] {
    var reader = CSVReader()
    var records: [CSVReader.Record] = []
    var rest = text[...]
    while !rest.isEmpty {
      records += reader.read(Array(rest.prefix(pieces)).span)
      rest = rest.dropFirst(pieces)
    }
    if let last = reader.finish() { records.append(last) }
    return records
  }

  @Test(
    arguments: [
      ("", []), ("\n\r\n\n", []), ("a", [(1, ["a"])]), ("a,b\nc,d\n", [(1, ["a", "b"]), (2, ["c", "d"])]),
      ("a,b\r\nc,d", [(1, ["a", "b"]), (2, ["c", "d"])]), (",\n\n,,", [(1, ["", ""]), (3, ["", "", ""])]),
      ("\"a,b\",\"c\"\"d\",\"\"\n", [(1, ["a,b", "c\"d", ""])]), ("\"\"\n", [(1, [""])]),
      ("\"a\nb\",c\nd,e", [(1, ["a\nb", "c"]), (3, ["d", "e"])]), ("\"a\"\r\nb", [(1, ["a"]), (2, ["b"])]),
      ("a\"b,c", [(1, ["a\"b", "c"])]), ("\"a\"b\nc", [(1, nil), (2, ["c"])]),
      ("a\n\"b", [(1, ["a"]), (2, nil)]),
      ("测试,x", [(1, ["测试", "x"])]), ("\u{FEFF}a,b\nc", [(1, ["a", "b"]), (2, ["c"])]),
      ("\u{FEFF}\"a\",\"b\"\n\"c\",d", [(1, ["a", "b"]), (2, ["c", "d"])]), ("\u{FEFF}", []),
      ("\u{FEFF}\u{FEFF}a", [(1, ["\u{FEFF}a"])]), ("\u{F000}a", [(1, ["\u{F000}a"])]),
    ] as [(String, [(Int, [String]?)])])
  func `Records are read, whatever pieces they come in`(text: String, expected: [(Int, [String]?)]) {
    for pieces in [1, 2, 3, 1000] {
      let found = records(Array(text.utf8), pieces: pieces)
      #expect(found.map(\.line) == expected.map(\.0), "\(pieces)")
      #expect(found.map(\.fields) == expected.map(\.1), "\(pieces)")
    }
  }

  @Test func `What is no text or too long spoils only its own record`() {
    let long = [UInt8](repeating: 97, count: CSVReader.maximumBytes + 1)
    let text: [UInt8] = [0xff, 10] + long + [10, 98, 10]
    #expect(records(text, pieces: 77).map(\.fields) == [nil, nil, ["b"]])
    for unfinished in [[0xef], [0xef, 0xbb], [0xef, 97]] as [[UInt8]] {
      #expect(records(unfinished, pieces: 1).map(\.fields) == [nil])
    }
    let unclosed: [UInt8] = [34] + long + [10, 98, 10]
    #expect(records(unclosed, pieces: 1000).map(\.fields) == [nil, ["b"]])
    let longest = [UInt8](repeating: 97, count: CSVReader.maximumBytes - 1)
    #expect(records(longest + [10], pieces: 1000).first?.fields?.first?.utf8.count == longest.count)
  }

  // MARK: Lines

  private let columns = try? ImportColumns(ImportSource.jpush.columns)

  private func line(_ text: String) throws -> ImportLine {
    let fields = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    return try ImportLine(fields, columns ?? ImportColumns([]))
  }

  @Test func `Every column is read`() throws {
    let one = try line("13065ffa4e0b5fb6ba3,ios,anna,b;a;b,0A0b,sandbox,+49-1")
    #expect(one.registrationID == "13065ffa4e0b5fb6ba3" && one.platform == .ios && one.alias == "anna")
    #expect(one.tags == ["b", "a"] && one.tokens == [PushToken(.sandbox, [10, 11])])
    #expect(one.mobile == "+49-1")
    let least = try line("0207870f1b8,android,,,,,")
    #expect(least.alias == nil && least.tags == [] && least.tokens == [])
    #expect(try line("x,ios,,,00,,").tokens == [PushToken(.production, [0])])
    #expect(try line("x,ios,,,00,development,").tokens == [PushToken(.sandbox, [0])])
    let spaced = try line(" x , iOS , anna , a ; b ;; a,, production, +1 ")
    #expect(spaced.registrationID == "x" && spaced.platform == .ios && spaced.alias == "anna")
    #expect(spaced.tags == ["a", "b"] && spaced.mobile == "+1" && spaced.leftOut == [])
  }

  @Test(arguments: [
    ",ios,,,,,", "a b,ios,,,,,", "\(String(repeating: "x", count: 59)),ios,,,,,", "é,ios,,,,,", "x,,,,,,",
    "x,palm,,,,,", "x,ios", "x,ios,,,,,,",
  ])
  func `A line without a device is refused`(text: String) {
    #expect(throws: ImportFault.self) { try line(text) }
  }

  @Test(arguments: [
    ("x,ios,a-b,news,,,", ["alias \"a-b\" holds a character that is not allowed"]),
    (
      "x,ios,\(String(repeating: "a", count: 41)),news,,,",
      ["alias \"\(String(repeating: "a", count: 41))\" is longer than 40 characters"]
    ),
    (
      "x,ios,,a b;news;c d,,,",
      [
        "tag \"a b\" holds a character that is not allowed",
        "tag \"c d\" holds a character that is not allowed",
      ]
    ),
    ("x,android,,news,00,,", ["only ios has apns_token"]),
    ("x,ios,,news,0,,", ["apns_token must be 2 to 200 hexadecimal digits"]),
    (
      "x,ios,,news,\(String(repeating: "0", count: 202)),,",
      ["apns_token must be 2 to 200 hexadecimal digits"]
    ),
    ("x,ios,,news,00,other,", ["apns_environment must be production or sandbox"]),
    ("x,ios,,news,,,abc", ["mobile must be a + or a digit, then digits and -, at most 20 characters"]),
  ])
  func `A wrong field is left out, and the rest of the line stays`(text: String, leftOut: [String]) throws {
    let one = try line(text)
    #expect(one.leftOut == leftOut)
    #expect(one.registrationID == "x" && one.tags == ["news"])
    #expect(one.alias == nil && one.tokens == [] && one.mobile == nil)
  }

  private static let getuiColumns = ImportSource.getui.columns

  private func getuiLine(_ text: String) throws -> ImportLine {
    let fields = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    return try ImportLine(fields, ImportColumns(Self.getuiColumns, from: .getui))
  }

  @Test func `A file of Getui's has its own columns, platforms and separator`() throws {
    let cid = "c0ffee00c0ffee00c0ffee00c0ffee00"
    let one = try getuiLine("\(cid),2,anna,vip news-1 vip,0A0b,sandbox")
    #expect(one.registrationID == cid && one.platform == .ios && one.alias == "anna")
    #expect(one.tags == ["vip", "news-1"] && one.tokens == [PushToken(.sandbox, [10, 11])])
    #expect(one.mobile == nil)
    for (text, platform) in [
      ("1", Platform.android), ("2", .ios), ("3", .hmos), ("Android", .android), ("ios", .ios),
      ("harmony", .hmos),
    ] {
      #expect(try getuiLine("x,\(text),,,,").platform == platform)
    }
    let long = String(repeating: "中", count: 40)
    #expect(try getuiLine("x,1,\(long),\(long.prefix(32)),,").alias == long)
    let tags = "city:上海 a/b vip-1 价格>100 50% v1,2 “引号” 👩‍👧 c++"
    let columns = try ImportColumns(Self.getuiColumns, from: .getui)
    let real = try ImportLine(["x", "1", "", tags, "", ""], columns)
    #expect(real.tags == tags.split(separator: " ").map(String.init) && real.leftOut == [])
  }

  @Test(arguments: [("x,4,,,,", "phone_type must be one of android or 1"), (",1,,,,", "cid must have")])
  func `A line of Getui's without a device is refused in the words of its columns`(
    text: String, reason: String
  ) throws {
    let fault = try #require(throws: ImportFault.self) { try getuiLine(text) }
    #expect(fault.reason.hasPrefix(reason), "\(fault.reason)")
  }

  @Test(arguments: [
    ("x,1,a-b,,,", "alias \"a-b\" holds"),
    (
      "x,1,\(String(repeating: "a", count: 41)),,,",
      "alias \"\(String(repeating: "a", count: 41))\" is longer"
    ),
    (
      "x,1,,\(String(repeating: "a", count: 33)) vip,,",
      "tag \"\(String(repeating: "a", count: 33))\" is longer"
    ),
    ("x,1,,a\u{7}b vip,,", "tag \"a\u{7}b\" holds a character that is not allowed"),
    (
      "x,1,,vip \((1...101).map { "t\($0)" }.joined(separator: " ")),,",
      "2 tags are more than the 100 of a device"
    ),
    ("x,1,,,00,", "only ios has device_token"),
  ])
  func `A wrong field of Getui's is left out`(text: String, reason: String) throws {
    let one = try getuiLine(text)
    #expect(one.leftOut.count == 1 && one.leftOut[0].hasPrefix(reason), "\(one.leftOut)")
    #expect(one.registrationID == "x" && one.alias == nil && one.tokens == [])
    if text.contains("vip") { #expect(one.tags.first == "vip") }
  }

  /// A channel with two services, and one with a single one.
  private static let channels = [
    ChannelInfo(
      id: ChannelID(rawValue: 200), name: "words", english: "Words", chinese: "词",
      platforms: PlatformSet(.android), parts: .notification,
      tokens: [
        TokenKind(1, name: "word", form: .text, maximumBytes: 4), TokenKind(2, name: "x", form: .text),
      ],
      services: [
        ChannelService("east", english: "East", chinese: "东"),
        ChannelService("west", english: "West", chinese: "西"),
      ]),
    ChannelInfo(
      id: ChannelID(rawValue: 201), name: "digits", english: "Digits", chinese: "数",
      platforms: .all, parts: .notification, tokens: [TokenKind(7, name: "digit", form: .hexadecimal)]),
    .apns,
  ]

  private func channelLine(_ text: String) throws -> ImportLine {
    let columns = try ImportColumns(
      [
        "registration_id", "platform", "token.words", "service.words", "token.digits", "apns_token",
        "token.apns", "service.apns",
      ], channels: Self.channels)
    return try ImportLine(
      text.split(separator: ",", omittingEmptySubsequences: false).map(String.init), columns)
  }

  @Test func `A line has tokens of any channel`() throws {
    let (words, digits) = (
      TokenSlot(ChannelID(rawValue: 200), kind: 1), TokenSlot(ChannelID(rawValue: 201), kind: 7)
    )
    #expect(
      try channelLine("x,android,word,west,0A,,,").tokens == [
        PushToken(words, ServiceID(rawValue: 2), Array("word".utf8)), PushToken(digits, .only, [10]),
      ])
    #expect(
      try channelLine("x,android,word,,,,,").tokens == [PushToken(words, .only, Array("word".utf8))])
    #expect(try channelLine("x,ios,,,,,00,sandbox").tokens == [PushToken(.sandbox, [0])])
    #expect(
      try channelLine("x,ios,,,0a,00,,").tokens == [
        PushToken(.production, [0]), PushToken(digits, .only, [10]),
      ])
  }

  @Test(arguments: [
    ("x,ios,word,,,,,", "words does not reach devices on ios"),
    ("x,android,words,,,,,", "token.words must be at most 4 bytes as visible"),
    ("x,android,a b,,,,,", "token.words must"), ("x,android,,,0,,,", "token.digits must"),
    ("x,android,word,north,,,,", "service.words must be one of east, west"),
    ("x,ios,,,,00,01,", "apns has two tokens"),
  ])
  func `A wrong token of a channel is left out`(text: String, reason: String) throws {
    let one = try channelLine(text)
    #expect(one.leftOut.count == 1 && one.leftOut[0].hasPrefix(reason), "\(one.leftOut)")
    #expect(one.registrationID == "x" && one.tokens.count == (text.contains(",00,") ? 1 : 0))
  }

  @Test func `A column of no channel, or of a service of a channel with only one, is unknown`() {
    for name in ["token.fax", "service.digits", "token.words.x", "token."] {
      #expect(throws: ImportFault.self, "\(name)") {
        try ImportColumns(["registration_id", "platform", name], channels: Self.channels)
      }
    }
  }

  @Test func `A line has the facts that the app asks for`() throws {
    let names = ["registration_id", "platform", "fact.opted_out", " Fact.Language "]
    let asked: DeviceFactSet = [DeviceFactSet(.language), DeviceFactSet(.optedOut)]
    let columns = try ImportColumns(names, facts: asked)
    #expect(columns.fields == .facts)
    let full = try ImportLine(["x", "ios", "yes", "de"], columns)
    #expect(full.facts == [.optedOut: "yes", .language: "de"] && full.leftOut == [])
    #expect(try ImportLine(["x", "ios", "", ""], columns).facts == [:])
    let wrong = try ImportLine(["x", "ios", "no way", String(repeating: "d", count: 65)], columns)
    #expect(wrong.facts == [:])
    #expect(
      wrong.leftOut == [
        "fact.language must have at most 64 bytes and no control characters",
        "fact.opted_out must be one of yes, no",
      ])
    #expect(
      throws: ImportFault(
        reason: "column 4 is named fact.language, but the app does not ask its devices for this fact")
    ) { try ImportColumns(names, facts: DeviceFactSet(.optedOut)) }
    #expect(throws: ImportFault.self) { try ImportColumns(["cid", "phone_type", "fact.x"], from: .getui) }
  }

  @Test func `Columns come in any order, but the needed ones must be there, and each once`() throws {
    let columns = try ImportColumns([" Alias", "platform ", "REGISTRATION_ID"])
    let one = try ImportLine(["anna", "hmos", "x"], columns)
    #expect(one.alias == "anna" && one.platform == .hmos && one.registrationID == "x")
    #expect(columns.fields == [.alias])
    for names in [
      [], ["registration_id"], ["platform"], ["registration_id", "platform", "platform"],
      ["registration_id", "platform", "colour"], ["registration_id", "platform", ""],
    ] {
      #expect(throws: ImportFault.self, "\(names)") { try ImportColumns(names) }
    }
    for (names, reason) in [
      (["registration_id;platform"], "the columns must be separated by commas"),
      (
        ["regid", "platform"],
        "column 1 is named \"regid\"; the first line must name the columns: registration_id and platform, and any"
      ),
      (["platform"], "no column is named registration_id"),
    ] {
      let fault = #expect(throws: ImportFault.self) { try ImportColumns(names) }
      #expect(fault?.reason.hasPrefix(reason) == true, "\(fault?.reason ?? "")")
    }
  }
}
