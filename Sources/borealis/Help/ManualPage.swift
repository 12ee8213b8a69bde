import BorealisBase

/// Text in the macros of man(7).
struct ManualPage {
  private var text: String

  /// The page borealis(1): all commands, with the options of all but `serve`.
  static func program(_ commands: [any Command.Type]) -> String {
    var page = ManualPage("BOREALIS", section: 1, name: "borealis", "self-hosted push notification server")
    page.section("SYNOPSIS")
    page.line(#"\fBborealis\fR \fICOMMAND\fR [\fIoptions\fR]"#)
    page.section("DESCRIPTION")
    page.prose(
      """
      "borealis serve" runs the server. Other commands look after its data, or act as an app server or as a device. "borealis
      COMMAND --help" explains a command.

      Each option may also be a variable of the environment: BOREALIS_DATA for --data. An option wins over the variable. An
      option that holds a secret may be in a file: --NAME-file names it.
      """)
    page.section("COMMANDS")
    for command in commands { page.command(command) }
    page.section("EXIT STATUS")
    page.prose("0 for success, 1 for a failure, 2 for wrong usage or invalid settings.")
    page.section("FILES")
    page.entry(
      #"\fI/etc/borealis/borealis.conf\fR"#, "The settings of the server that the Debian package installs.")
    page.entry(#"\fI/var/lib/borealis\fR"#, "Its data folder.")
    page.section("SEE ALSO")
    page.line(#"\fBborealis.conf\fR(5)"#)
    return page.text
  }

  /// The page borealis.conf(5): all settings of the server.
  static func configuration(_ settings: [SettingDefinition]) -> String {
    var page = ManualPage(
      "BOREALIS.CONF", section: 5, name: "borealis.conf", "settings of the push notification server Borealis")
    page.section("DESCRIPTION")
    page.prose(
      """
      The file that "borealis serve --config FILE" reads. Each line has the form "NAME = VALUE"; lines that begin with # are
      comments. A setting may also be an option (--log-level debug) or a variable of the environment
      (BOREALIS_LOG_LEVEL=debug): an option wins over the variable, the variable over the file.

      Durations have a unit: 500ms, 30s, 5m, 2h, 1d. At least one of http and http-tls is required, and one of device and
      device-plain. The server refuses to start if a setting is unknown or invalid.
      """)
    page.section("SETTINGS")
    for setting in settings.flatMap(\.forms) where setting.name != "config" {
      let value = setting.kind == .flag ? "true|false" : setting.valueName
      page.entry("\\fB\(escaped(setting.name))\\fR = \\fI\(escaped(value))\\fR", meaning(of: setting))
    }
    page.section("EXAMPLE")
    page.prose(
      """
        http = 127.0.0.1:8080
        device = [::]:7443
        public-url = https://push.example.com
        smtp-password-file = /etc/borealis/smtp-password
      """)
    page.section("SEE ALSO")
    page.line(#"\fBborealis\fR(1)"#)
    return page.text
  }

  private init(_ title: String, section: Int, name: String, _ summary: String) {
    text = ".TH \(title) \(section) \"\" \"Borealis \(Program.version)\" \"Borealis\"\n"
    // Names of settings and addresses are neither spread nor divided.
    text += ".ad l\n.nh\n"
    self.section("NAME")
    line("\(name) \\- \(summary)")
  }

  private mutating func command(_ command: any Command.Type) {
    let operands = command.operands.map { #" \fI\#(Self.escaped($0))\fR"# }.joined()
    text += ".SS \\fBborealis \(Self.escaped(command.name))\\fR\(operands)\n"
    prose(command.details.isEmpty ? command.summary : command.details)
    guard command != ServeCommand.self else {
      line(".PP")
      return line(#"Its options are the settings of \fBborealis.conf\fR(5): \fB\-\-\fR\fINAME VALUE\fR."#)
    }
    for setting in command.settings.flatMap(\.forms) {
      let value = setting.kind == .flag ? "" : " \\fI\(Self.escaped(setting.valueName))\\fR"
      entry("\\fB\\-\\-\(Self.escaped(setting.name))\\fR\(value)", Self.meaning(of: setting))
    }
  }

  private static func meaning(of setting: SettingDefinition) -> String {
    var text = setting.help
    if setting.kind == .list { text += " May be given several times, or with commas." }
    if let value = setting.defaultValue { text += " Default: \(value)." }
    return text
  }

  private mutating func section(_ title: String) { text += ".SH \(title)\n" }

  /// A line with macros or changes of the font in it.
  private mutating func line(_ line: String) { text += line + "\n" }

  private mutating func entry(_ title: String, _ meaning: String) {
    text += ".TP\n\(title)\n\(Self.escaped(meaning))\n"
  }

  /// Paragraphs divided by empty lines; those that begin with two blanks are shown line by line.
  private mutating func prose(_ prose: String) {
    for (index, paragraph) in prose.split(separator: "\n\n").enumerated() {
      let lines = paragraph.split(separator: "\n").map { Self.escaped(String($0.drop { $0 == " " })) + "\n" }
      if paragraph.hasPrefix("  ") {
        text += ".PP\n.nf\n.RS 4\n" + lines.joined() + ".RE\n.fi\n"
      } else {
        text += (index == 0 ? "" : ".PP\n") + lines.joined()
      }
    }
  }

  /// Text that stands for itself, also at the beginning of a line. A list without blanks may be broken behind
  /// its commas.
  private static func escaped(_ text: String) -> String {
    let special: [Character: String] = ["\\": "\\e", "-": "\\-", ",": ",\\:"]
    let visible = text.map { special[$0] ?? String($0) }.joined()
    return visible.hasPrefix(".") || visible.hasPrefix("'") ? "\\&" + visible : visible
  }
}
