import PushBench
import PushConsole
import PushOps

struct BenchCommand: Command {
  static let name = "bench"
  static let summary = "Measures this program, other servers and the kernel on this machine."
  static let details = """
    Starts a server on a temporary folder, and mosquitto, redis-server and nats-server where they are installed, makes
    load over loopback, and prints a table; a ratio is our number divided by the other one's. Run it from a release build
    on a machine that does nothing else. BENCHMARK is one of:

      broadcast   200 bytes to 10,000 connections, one at a time and eight in flight
      single      one push to one device at 1,000/s, and as many as go over 64 HTTP connections
      connect     devices that come back in a second, plain and with TLS
      idle        memory and processor time of idle connections
      restart     how long until all devices are back after a restart
      million     a million registrations in the database
      callbacks   broadcasts to 10,000 connections and single pushes, with and without telling an app server of each
      apns        notifications to Apple over one connection, beside h2load and aioapns; with --queue the cost of a
                  queue to Apple for memory and for another app
      console     each of the console's pages with a million registrations and 100,000 pushes in the database
      sqlite      commits in a second: the floor for accepted pushes
      all         each of them
    """
  static let operands = ["BENCHMARK"]
  static let settings = [
    SettingDefinition(
      name: "connections", valueName: "N", help: "Devices; each benchmark's own number if not given.",
      kind: .number(1...15_000)),
    SettingDefinition(
      name: "seconds", valueName: "N", help: "Length of each measurement.", default: "5",
      kind: .number(1...60)),
    SettingDefinition(
      name: "peers", valueName: "NAME,...",
      help: "Those to compare with: floor, mosquitto, redis, nats; or none.",
      default: "floor,mosquitto,redis,nats", kind: .text),
    SettingDefinition(
      name: "queue", valueName: "N",
      help: "For apns: lets so many notifications wait for Apple, and measures what that costs others.",
      kind: .number(1000...2_000_000)),
    SettingDefinition(name: "only-peers", valueName: "", help: "Leaves Borealis itself out.", kind: .flag),
    SettingDefinition(name: "json", valueName: "FILE", help: "Writes the numbers as JSON, too.", kind: .text),
    SettingDefinition(
      name: "folder", valueName: "DIR", help: "Where temporary files go, and so which disk is measured.",
      kind: .text),
  ]

  static func run(_ input: Input) throws(Failure) {
    let settings = input.settings
    do throws(BenchError) {
      var options = try BenchOptions(
        benchmark: input.operands[0], connections: settings.number("connections"),
        seconds: settings.number("seconds") ?? 5, peers: settings.text("peers") ?? "none",
        onlyPeers: settings.flag("only-peers"), queue: settings.number("queue"),
        json: settings.text("json"), folder: settings.text("folder"))
      options.consolePages = WebConsole.addresses
      try Bench.run(options)
    } catch {
      if case .usage(let message) = error { throw .usage(message) }
      throw .failed(error.description)
    }
  }
}
