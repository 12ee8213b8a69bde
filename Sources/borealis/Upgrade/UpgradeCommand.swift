import BorealisBase

/// What `borealis upgrade` asks of a server.
struct UpgradeWish: Sendable {
  /// The program to start; nil for the one that is at the server's path by now.
  let program: String?
  /// Only if that is another file than the server's.
  let ifChanged: Bool
  /// Nobody takes the end of the server's process for the end of the service.
  let isUnsupervised: Bool
}

struct UpgradeCommand: ServedCommand {
  static let name = "upgrade"
  static let summary = "Has a new version take the place of the running server; devices stay connected."
  static let details = """
    Has the server on the folder start the program that is at its path by now, with the same arguments, and pass its listening
    sockets and the connections of devices on to it. Devices notice nothing but a pause of some hundred milliseconds; those that
    speak TLS 1.2 or WebSocket over TLS reconnect. If the new program does not start, or cannot take the place, the server goes on
    as before, and this exits with 1.

    Prints one line of JSON when the new process serves. The server must be alone, with its database in a file, and the new
    version must have the same database schema: otherwise restart the server. The process of the server ends, so whoever started it
    must know that it goes on in another one: systemd is notified, if the service is of Type=notify.
    """
  static let operands: [String] = []
  static let changesDatabase = false
  static let settings =
    DataFolder.settings + [
      SettingDefinition(
        name: "binary", valueName: "FILE",
        help: "The program to start, by its whole path, instead of the one that the server was started from.",
        kind: .text),
      SettingDefinition(
        name: "if-changed", valueName: "",
        help: "Only if the file is another one than the server's; else nothing happens.",
        kind: .flag),
      SettingDefinition(
        name: "unsupervised", valueName: "",
        help:
          "Also if systemd is not told: for a server that was started by hand. A supervisor, such as docker --init, would take the end of its process for the end of the service.",
        kind: .flag),
    ]

  static func run(_ input: Input) throws(Failure) {
    let folder = try DataFolder(input)
    guard let served = folder.served else {
      throw .failed(
        folder.holdsDatabase
          ? "no server runs on \(folder.path)"
          : "a server with its database in PostgreSQL cannot be upgraded without a restart")
    }
    let program = input.settings.text("binary")
    guard program?.hasPrefix("/") ?? true else { throw .usage("--binary: give the whole path") }
    let report = try served.upgrade(
      UpgradeWish(
        program: program, ifChanged: input.settings.flag("if-changed"),
        isUnsupervised: input.settings.flag("unsupervised")))
    Terminal.print(report)
  }
}
