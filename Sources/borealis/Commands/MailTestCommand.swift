import BorealisBase
import Console
import Storage

struct MailTestCommand: Command {
  static let name = "mail test"
  static let summary = "Sends a mail to test the settings of the mail server."
  static let details = """
    Sends a short mail to ADDRESS with the settings of "borealis serve", from flags, variables or the same configuration
    file, and prints one line of JSON when the mail server has accepted it. Otherwise the error has the server's response.

      borealis mail test me@example.com --config /etc/borealis/borealis.conf
    """
  static let operands = ["ADDRESS"]
  /// All settings of the server, since its configuration file may hold any of them.
  static let settings = ServeSettings.definitions

  static func run(_ input: Input) throws(Failure) {
    guard let recipient = MailAddress(input.operands[0]), recipient.name.isEmpty else {
      throw .usage("ADDRESS has the form me@example.com")
    }
    let mail = try MailSettings(input.settings)
    guard let server = mail.server else { throw .usage("give --smtp-url") }
    let text = """
      This is a test of the settings for mail. It works.

      \(mail.site ?? "")/console/

      """
    do throws(MailFailure) {
      try Mailer.sendNow(
        NewMail(recipient: recipient.address, subject: "Borealis can send mail", body: text), by: server,
        at: SystemTime().now())
    } catch {
      throw .failed("\(server.url): \(error.reason)")
    }
    Terminal.print(["sent": .string(recipient.address), "server": .string(server.url)])
  }
}
