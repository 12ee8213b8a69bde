import BorealisBase
import Storage

struct PlanSetCommand: ServedCommand {
  static let name = "plan set"
  static let summary = "Creates or changes a plan."
  static let details = """
    Changes the limits of the plan NAME, or creates the plan. Limits that are not given stay unchanged; "none" removes a
    limit, so that the server's own setting applies if there is one. A running server applies the change within seconds.
    """
  static let operands = ["NAME"]
  static let settings = DataFolder.settings + limits

  private static let limits = [
    limit("push-calls", "Calls of the push API per minute and app."),
    limit("device-calls", "Calls of the device API per minute and app."),
    limit("report-calls", "Calls of the report API per minute and app."),
    limit("schedule-calls", "Calls of the schedule API per minute and app."),
    limit("file-calls", "Calls of the file API per minute and app."),
    limit("broadcasts", "Broadcasts per day and app."),
    limit("max-ttl", "The longest time_to_live, in seconds."),
    limit("registrations", "Registrations of an app."),
    limit("speed", "Devices per second that pushes may target."),
    SettingDefinition(
      name: "shared-speed", valueName: "YES",
      help: "Whether all apps of the plan share the speed: yes or no.",
      kind: .choice(["yes", "no"])),
  ]

  private static func limit(_ name: String, _ help: String) -> SettingDefinition {
    SettingDefinition(name: name, valueName: "N", help: help, kind: .text)
  }

  static func run(_ input: Input) throws(Failure) {
    let name = input.operands[0]
    guard isName(name) else { throw .usage("NAME has 1 to 40 lower-case letters, digits, - and _") }
    let change = try Change(input.settings)
    let plan = try DataFolder(input).change(orFail: "cannot change the plan") {
      transaction throws(StorageError) in
      let known = try transaction.plans.all().first { $0.name == name }
      let plan = change.applied(to: known ?? PlanRow(name: name))
      try transaction.plans.set(plan)
      return plan
    }
    Terminal.print(plan.json)
  }

  private static func isName(_ text: String) -> Bool {
    (1...40).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 48...57, 97...122, 45, 95: true
        default: false
        }
      }
  }

  /// The changes of the flags; the outer nil keeps a limit, the inner removes it.
  private struct Change: Sendable {
    let numbers: [String: Int?]
    let sharesSpeed: Bool?

    init(_ settings: Settings) throws(Failure) {
      var numbers: [String: Int?] = [:]
      for limit in PlanSetCommand.limits where limit.kind == .text {
        guard let text = settings.text(limit.name) else { continue }
        if text == "none" {
          numbers[limit.name] = .some(nil)
          continue
        }
        guard let number = Int(text), (0...1_000_000_000).contains(number) else {
          throw .usage("--\(limit.name): a number from 0 to 1000000000, or none")
        }
        numbers[limit.name] = .some(number)
      }
      if case .some(.some(0)) = numbers["speed"] { throw .usage("--speed: at least 1") }
      self.numbers = numbers
      sharesSpeed = settings.text("shared-speed").map { $0 == "yes" }
    }

    func applied(to plan: PlanRow) -> PlanRow {
      func limit(_ name: String, _ present: Int?) -> Int? { numbers[name] ?? present }
      return PlanRow(
        name: plan.name, pushCalls: limit("push-calls", plan.pushCalls),
        deviceCalls: limit("device-calls", plan.deviceCalls),
        reportCalls: limit("report-calls", plan.reportCalls),
        scheduleCalls: limit("schedule-calls", plan.scheduleCalls),
        fileCalls: limit("file-calls", plan.fileCalls), broadcasts: limit("broadcasts", plan.broadcasts),
        maxTimeToLive: limit("max-ttl", plan.maxTimeToLive), speed: limit("speed", plan.speed),
        sharesSpeed: sharesSpeed ?? plan.sharesSpeed,
        registrations: limit("registrations", plan.registrations))
    }
  }
}

struct PlanListCommand: ServedCommand {
  static let name = "plan list"
  static let summary = "Lists the plans."
  static let details = """
    Prints one line of JSON for each plan. null means the server's own setting, or no limit.
    """
  static let operands: [String] = []
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let plans = try DataFolder(input).read(orFail: "cannot read the plans") {
      transaction throws(StorageError) in
      try transaction.plans.all()
    }
    for plan in plans { Terminal.print(plan.json) }
  }
}

extension PlanRow {
  /// The line that the commands print.
  fileprivate var json: JSONValue {
    func limit(_ value: Int?) -> JSONValue { value.map { .number(JSONNumber(Int64($0))) } ?? .null }
    return [
      "name": .string(name), "push_calls": limit(pushCalls), "device_calls": limit(deviceCalls),
      "report_calls": limit(reportCalls), "schedule_calls": limit(scheduleCalls),
      "file_calls": limit(fileCalls), "broadcasts": limit(broadcasts), "max_ttl": limit(maxTimeToLive),
      "speed": limit(speed), "shared_speed": .bool(sharesSpeed), "registrations": limit(registrations),
    ]
  }
}
