import BorealisBase
import Core
import Model
import Storage

struct AppCallbackSetCommand: ServedCommand {
  static let name = "app callback set"
  static let summary = "Sets up callbacks to an app's server."
  static let details = """
    Sets up callbacks of the app with the key KEY and prints the settings as JSON. The first time it also creates and
    prints the secret that callbacks are signed with; it is shown only then. Without --url, only pushes with a URL of
    their own are reported. A running server applies the change within seconds.
    """
  static let operands = ["KEY"]
  static let settings =
    DataFolder.settings + [
      SettingDefinition(
        name: "url", valueName: "URL", help: "The URL of the callbacks: http or https.", kind: .text),
      SettingDefinition(
        name: "types", valueName: "NAME,...",
        help:
          "The event types: delivered, clicked, not_delivered, handed_over, credential_paused, credential_expires; all if not given.",
        kind: .list),
      SettingDefinition(
        name: "format", valueName: "NAME",
        help: "The format of callbacks to that URL: borealis (the default) or getui.",
        kind: .text),
      SecretKeyFile.setting,
    ]

  static func run(_ input: Input) throws(Failure) {
    let url = input.settings.text("url")
    if let url, CallbackAddress(url) == nil {
      throw .usage("--url is an http or https address without user information and fragment")
    }
    guard let format = CallbackFormat(name: input.settings.text("format") ?? CallbackFormat.borealis.name)
    else {
      throw .usage("--format: expected borealis or getui")
    }
    let types = try types(input.settings.list("types")).intersection(format.types)
    try AppCallback.change(input, needsGetui: format == .getui) { known, sealer throws(Failure) in
      guard var row = known else {
        let secret = sealer.make()
        let new = CallbackSettingRow(
          app: sealer.app, url: url, types: types, format: format, secret: secret.sealed,
          changedAt: sealer.now)
        return (new, secret.plain)
      }
      row.url = url
      row.types = types
      row.format = format
      return (row, nil)
    }
  }

  private static func types(_ names: [String]) throws(Failure) -> CallbackTypes {
    guard !names.isEmpty else { return .all }
    var types: CallbackTypes = []
    for name in names {
      guard let found = CallbackTypes.choices.first(where: { $0.name == name }) else {
        let known = CallbackTypes.choices.map(\.name).joined(separator: ", ")
        throw .usage("--types: expected some of \(known)")
      }
      types.formUnion(found.type)
    }
    return types
  }
}

struct AppCallbackShowCommand: ServedCommand {
  static let name = "app callback show"
  static let summary = "Shows an app's callbacks."
  static let details = """
    Prints, as JSON, the callback settings of the app with the key KEY; nothing if there are none. The secret is not
    shown.
    """
  static let operands = ["KEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      let row = try store.readNow(orFail: "cannot read the callbacks") { transaction throws(StorageError) in
        try transaction.callbacks.setting(app: app.id)
      }
      if let row { Terminal.print(AppCallback.document(row)) }
    }
  }
}

struct AppCallbackRotateCommand: ServedCommand {
  static let name = "app callback rotate"
  static let summary = "Rotates the secret of an app's callbacks."
  static let details = """
    Creates a new secret that callbacks of the app with the key KEY are signed with, and prints it; it is shown only now.
    For a day callbacks have a signature with the old secret too. A running server applies the change within seconds.
    """
  static let operands = ["KEY"]
  static let settings = DataFolder.settings + [SecretKeyFile.setting]

  static func run(_ input: Input) throws(Failure) {
    try AppCallback.change(input) { known, sealer throws(Failure) in
      guard var row = known else { throw .failed("the app has no callbacks") }
      let secret = sealer.make()
      row.old = (row.secret, sealer.now.adding(seconds: CallbackService.overlap))
      row.secret = secret.sealed
      return (row, secret.plain)
    }
  }
}

struct AppCallbackRemoveCommand: ServedCommand {
  static let name = "app callback remove"
  static let summary = "Removes an app's callbacks."
  static let details = """
    Deletes the URL and the secret of the callbacks of the app with the key KEY. Waiting callbacks are given up. A running
    server applies the change within seconds.
    """
  static let operands = ["KEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      let wasThere = try store.writeNow(orFail: "cannot change the callbacks") {
        transaction throws(StorageError) in
        try transaction.callbacks.remove(app: app.id)
      }
      guard wasThere else { throw .failed("the app has no callbacks") }
    }
  }
}
