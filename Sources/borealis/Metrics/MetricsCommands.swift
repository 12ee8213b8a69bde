import BorealisBase

struct MetricsListCommand: Command {
  static let name = "metrics list"
  static let summary = "Prints the metrics of a server and the alerts about them."
  static let details = """
    Prints what /metrics of a server has, what each metric means and when to look closer, and the alerts of "borealis metrics
    rules" with what to do, as Markdown. Docs/operations/monitoring.md has the same tables.
    """
  static let operands: [String] = []
  static let settings: [SettingDefinition] = []

  static func run(_ input: Input) { Terminal.print(MetricPage.text) }
}

struct MetricsRulesCommand: Command {
  static let name = "metrics rules"
  static let summary = "Prints alert rules for Prometheus."
  static let details = """
    Prints a file of alert rules for Prometheus, which rule_files of its configuration names. The rules are about the servers
    that one job scrapes: print a file for each installation.
    """
  static let operands: [String] = []
  static let settings = [
    SettingDefinition(
      name: "job", valueName: "NAME", help: "The job of Prometheus that scrapes the servers, and no others.",
      default: "borealis", kind: .text),
    SettingDefinition(
      name: "public-url", valueName: "URL",
      help: "The URL of the server, such as https://push.example.com: alerts link to its documentation.",
      kind: .text),
  ]

  static func run(_ input: Input) throws(Failure) {
    let job = input.settings.text("job") ?? ""
    guard job.wholeMatch(of: /[A-Za-z0-9_.:\/ -]{1,200}/) != nil else {
      throw .usage("--job: \"\(job)\" has characters other than letters, digits, spaces and _ - . : /")
    }
    Terminal.print(MetricRules.yaml(job: job, site: try MailSettings.site(input.settings)))
  }
}

struct MetricsDashboardCommand: Command {
  static let name = "metrics dashboard"
  static let summary = "Prints a dashboard for Grafana."
  static let details = """
    Prints a dashboard for Grafana 10 or later, as JSON to import. It asks for the data source, a Prometheus that scrapes the
    servers.
    """
  static let operands: [String] = []
  static let settings: [SettingDefinition] = []

  static func run(_ input: Input) { Terminal.print(MetricDashboard.document) }
}
