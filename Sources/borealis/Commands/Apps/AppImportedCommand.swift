import BorealisBase
import Storage

struct AppImportedCommand: ServedCommand {
  static let name = "app imported"
  static let summary = "Sets from when on an app's imported registrations get pushes."
  static let details = """
    Sets from when on imported registrations of the app with the key KEY get pushes although their devices have not come: "now"
    (as in a new app), "never", or a time such as 2026-12-15T00:00:00+08:00. Until then no push is for them, so that the platform
    that they come from can go on sending to them. A registration whose device has come gets all pushes. A running server
    applies the change within seconds.
    """
  static let operands = ["KEY", "WHEN"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let text = input.operands[1]
    guard let moment = moment(text) else {
      throw .usage("WHEN is now, never, or a time such as 2026-12-15T00:00:00+08:00")
    }
    let key = try AppChange.apply(input) { transaction, app throws(StorageError) in
      try transaction.apps.setImportsFrom(app: app, moment)
    }
    Terminal.print(["app_key": .string(key.text), "imported": .string(Self.text(moment))])
  }

  /// A time with its offset from UTC (RFC 3339), or a word.
  private static func moment(_ text: String) -> Timestamp? {
    switch text {
    case "now": return Timestamp(milliseconds: 0)
    case "never": return Timestamp(milliseconds: .max)
    default: break
    }
    guard text.utf8.count >= 20, ["T", " "].contains(text.dropFirst(10).prefix(1)),
      let local = LocalTime("\(text.prefix(10)) \(text.dropFirst(11).prefix(8))"),
      let offset = offset(String(text.dropFirst(19)))
    else { return nil }
    return Timestamp(milliseconds: (local.count - offset) * 1000)
  }

  /// The seconds of an offset such as +08:00 or Z.
  private static func offset(_ text: String) -> Int64? {
    guard text != "Z" else { return 0 }
    guard let seconds = LocalTime.secondOfDay("\(text.dropFirst()):00") else { return nil }
    switch text.first {
    case "+": return Int64(seconds)
    case "-": return -Int64(seconds)
    default: return nil
    }
  }

  /// What `app list` says.
  static func text(_ moment: Timestamp) -> String {
    switch moment.milliseconds {
    case ...0: "now"
    case .max: "never"
    default: LocalTime(count: moment.seconds).text.replacing(" ", with: "T") + "Z"
    }
  }
}
