import BorealisBase
import Core
import Model
import Storage

struct ImportCommand: ServedCommand {
  static let name = "import"
  static let summary = "Imports registrations of another platform from a CSV file."
  static let details = """
    Adds the registrations in FILE to the app with the key --app. A running server knows them at once. The
    first line names the columns: registration_id and platform (android, ios, hmos, quickapp), and any of alias, tags
    (separated by ;), apns_token, apns_environment (production, the default, or sandbox) and mobile. For each channel, such
    as fcm or huawei, there may be token.NAME with the device's token, and beside token.apns there may be service.apns with
    production or sandbox. For each fact that the app asks its devices for, such as language, there may be fact.NAME.

    With --from getui the columns are Getui's: cid and phone_type (android, ios, harmony, or Getui's numbers 1, 2 and 3), and
    any of alias, custom_tag (separated by spaces), device_token and apns_environment. Getui's API still accepts the CIDs.

    Notifications go to the tokens immediately. A device that registers with its token of APNs, or with the ID that it had
    (see Docs/protocol.md), takes over its registration: ID, alias and tags stay. Until then, whoever knows the ID can do
    so too. A device that registered before the import gets alias and tags if it has none.

    The command may be repeated: it adds what is missing. With --update it also brings alias, tags, tokens, mobile
    numbers and facts in line with the columns that FILE has, except where the device has come already.

    Prints a line of JSON for each refused line, for each line of which something was left out, and for each device that
    has another ID here; then the totals. The exit status is 0 if no line was refused, 1 if some were, and 2 if nothing was
    imported.
    """
  static let operands = ["FILE"]
  static let settings =
    DataFolder.settings + [
      SettingDefinition(name: "app", valueName: "KEY", help: "The app's key.", kind: .text),
      SettingDefinition(
        name: "from", valueName: "PLATFORM",
        help: "The origin of FILE: jpush (the default) or getui.",
        kind: .text),
      SettingDefinition(
        name: "adopt-by-id", valueName: "",
        help:
          "Lets a device take over a registration by its former ID; with --adopt-by-id=false only by its token of APNs.",
        kind: .flag),
      SettingDefinition(
        name: "update", valueName: "",
        help: "Updates registrations that the app has already, unless their devices have come.", kind: .flag),
      SettingDefinition(
        name: "dry-run", valueName: "",
        help: "Prints what the import would print, and changes nothing.", kind: .flag),
    ]

  static func run(_ input: Input) throws(Failure) {
    let key = try input.required("app")
    guard AppKey(key) != nil else { throw .usage("--app: KEY has 24 lower-case hexadecimal digits") }
    guard let source = ImportSource(rawValue: input.settings.text("from") ?? ImportSource.jpush.rawValue)
    else {
      throw .usage("--from: expected jpush or getui")
    }
    let options = ImportOptions(
      source: source, adoption: input.settings.text("adopt-by-id") == "false" ? .token : .registrationID,
      updates: input.settings.flag("update"), isDryRun: input.settings.flag("dry-run"))
    let counts = ImportCounts()
    do throws(Failure) {
      try run(input, key, options, counts)
    } catch {
      throw Failure(message: error.message, status: counts.imported > 0 ? 1 : 2)
    }
    guard counts.refused > 0 || counts.imported == 0 else { return }
    let message =
      counts.lines > 0
      ? "\(counts.refused) of \(counts.lines) lines were refused" : "the file has no line below the first"
    throw Failure(message: message, status: counts.imported > 0 ? 1 : 2)
  }

  private static func run(
    _ input: Input, _ key: String, _ options: ImportOptions, _ counts: ImportCounts
  ) throws(Failure) {
    let folder = try DataFolder(input)
    let terminal = Terminal.current
    try terminal.open(input.operands[0])
    try folder.withApp(key) { store, app throws(Failure) in
      var work = ImportWork(store: store, folder: folder, app: app, options, counts)
      try read(terminal, into: &work)
    }
  }

  private static func read(_ file: any CommandTerminal, into work: inout ImportWork) throws(Failure) {
    var reader = CSVReader()
    while true {
      let bytes = try file.read()
      if bytes.isEmpty { break }
      for record in reader.read(bytes.span) { try work.process(record) }
    }
    if let record = reader.finish() { try work.process(record) }
    try work.finish()
  }
}
