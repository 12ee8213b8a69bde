import BorealisBase
import Core

struct PrivacyCommand: Command {
  static let name = "privacy"
  static let summary = "Prints what the server and the device libraries store of people."
  static let details = """
    Prints all that the server and the device libraries store: what it is, what for, where, and until when. Docs/privacy.md has
    the same list, and a text for the privacy policy of an app.
    """
  static let operands: [String] = []
  static let settings: [SettingDefinition] = []

  static func run(_ input: Input) { Terminal.print(StoredData.page) }
}
