import BorealisBase
import BorealisProtocol
import Glibc

/// What a line of standard input asks a device for.
enum DeviceInstruction: Equatable {
  case operation(BorealisProtocol.Operation)
  case shown(MessageID)
  case tapped(MessageID)
  /// A payload that Apple has brought.
  case apns([UInt8], tapped: Bool)
  case rotateKey
  case start
  case stop
  case quit

  /// A line that means nothing.
  struct Fault: Error {
    let expected: String
  }

  /// The name of an instruction that no server answers.
  var unansweredWord: String? {
    switch self {
    case .shown: "shown"
    case .tapped: "tapped"
    case .start: "start"
    case .stop: "stop"
    case .operation, .apns, .rotateKey, .quit: nil
    }
  }

  /// Reads a line: the device, nil for all of `count`, and the command.
  static func parse(
    _ line: String, count: Int
  ) throws(Fault) -> (device: Int?, instruction: DeviceInstruction) {
    var words = line.split(separator: " ").map(String.init)
    var device: Int?
    if let first = words.first, first.hasPrefix("@") {
      guard let number = Int(first.dropFirst()), (0..<count).contains(number) else {
        throw Fault(expected: "@0 to @\(count - 1)")
      }
      device = number
      words.removeFirst()
    }
    return (device, try words.first == "apns" ? apns(words.dropFirst()) : parse(words))
  }

  /// The payload may have blanks; where they are between words of it, one is as good as several.
  private static func apns(_ words: ArraySlice<String>) throws(Fault) -> DeviceInstruction {
    let wasTapped = words.last == "tapped"
    let payload = wasTapped ? words.dropLast() : words
    guard !payload.isEmpty else { throw Fault(expected: "apns PAYLOAD or apns PAYLOAD tapped") }
    return .apns(Array(payload.joined(separator: " ").utf8), tapped: wasTapped)
  }

  private static func parse(_ words: [String]) throws(Fault) -> DeviceInstruction {
    let argument = words.count == 2 ? words[1] : nil
    switch words.first {
    case "alias": return .operation(try alias(Array(words.dropFirst())))
    case "tags": return .operation(try tags(Array(words.dropFirst())))
    case "badge":
      guard let number = argument.flatMap({ UInt32($0) }) else { throw Fault(expected: "badge NUMBER") }
      return .operation(.setBadge(number))
    case "voip", "activity", "activity-start": return .operation(try otherToken(words))
    case "channel-token": return .operation(try channelToken(Array(words.dropFirst())))
    case "token": return .operation(try token(Array(words.dropFirst())))
    case "shown", "tapped":
      guard let id = argument.flatMap({ MessageID(decimal: Array($0.utf8)) }) else {
        throw Fault(expected: "\(words[0]) MSG_ID")
      }
      return words[0] == "shown" ? .shown(id) : .tapped(id)
    default: break
    }
    guard words.count == 1 else { throw Fault(expected: "a command; see borealis device --help") }
    switch words[0] {
    case "foreground": return .operation(.appState(.foreground))
    case "background": return .operation(.appState(.background))
    case "logout": return .operation(.logout)
    case "rotate-key": return .rotateKey
    case "start": return .start
    case "stop": return .stop
    case "quit": return .quit
    default: throw Fault(expected: "a command; see borealis device --help")
    }
  }

  private static func alias(_ words: [String]) throws(Fault) -> BorealisProtocol.Operation {
    switch (words.first, words.count) {
    case ("set", 2): .setAlias(words[1])
    case ("get", 1): .getAlias
    case ("delete", 1): .deleteAlias
    default: throw Fault(expected: "alias set A, alias get or alias delete")
    }
  }

  private static func tags(_ words: [String]) throws(Fault) -> BorealisProtocol.Operation {
    let names = words.count == 2 ? words[1].split(separator: ",").map(String.init) : []
    switch (words.first, words.count) {
    case ("set", 1...2): return .setTags(names)
    case ("add", 2): return .addTags(names)
    case ("delete", 2): return .deleteTags(names)
    case ("clean", 1): return .cleanTags
    case ("get", 1): return .getTags
    case ("check", 2): return .checkTag(words[1])
    default: throw Fault(expected: "tags set, add, delete, clean, get or check")
    }
  }

  private static func token(_ words: [String]) throws(Fault) -> BorealisProtocol.Operation {
    guard let token = deviceToken(words[...], atMost: WireLimits.tokenBytes.upperBound) else {
      throw Fault(expected: "token HEX, token HEX sandbox or token none")
    }
    return .setToken(token)
  }

  private static func channelToken(_ words: [String]) throws(Fault) -> BorealisProtocol.Operation {
    guard words.count == 2 else {
      throw Fault(expected: "channel-token CHANNEL TOKEN or channel-token CHANNEL none")
    }
    return .setChannelToken(ReportedToken(channel: words[0], token: words[1] == "none" ? "" : words[1]))
  }

  /// `voip TOKEN`, or a kind, the name of a Live Activity or of a type of them, and the token.
  private static func otherToken(_ words: [String]) throws(Fault) -> BorealisProtocol.Operation {
    let kind: APNsTokenKind =
      switch words[0] {
      case "voip": .voip
      case "activity": .liveActivity
      default: .liveActivityStart
      }
    let (name, rest) =
      kind.isNamed ? (words.dropFirst().first ?? "", words.dropFirst(2)) : ("", words.dropFirst())
    guard let slot = APNsTokenSlot(kind, name: name),
      let token = deviceToken(rest, atMost: WireLimits.otherTokenBytes.upperBound)
    else {
      throw Fault(expected: "\(words[0])\(kind.isNamed ? " NAME" : "") and HEX, HEX sandbox or none")
    }
    return .setOtherToken(OtherToken(slot, token))
  }

  private static func deviceToken(_ words: ArraySlice<String>, atMost limit: Int) -> DeviceToken? {
    if words == ["none"] { return DeviceToken(.none, []) }
    guard let bytes = words.first.flatMap({ Hex.decode($0) }), (1...limit).contains(bytes.count),
      words.count == 1 || words.dropFirst() == ["sandbox"]
    else { return nil }
    return DeviceToken(words.count == 1 ? .production : .sandbox, bytes)
  }
}

/// Standard input, read on a thread of its own.
enum InstructionInput {
  static func read(for fleet: DeviceFleet, endsProgram: Bool) {
    do throws(SystemThread.Failure) {
      try SystemThread.start("input") {
        while let line = readLine() { fleet.handle(line) }
        if endsProgram { fleet.end() }
      }
    } catch {
      fleet.end()
    }
  }
}
