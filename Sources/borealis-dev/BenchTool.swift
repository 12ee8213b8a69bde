import BorealisBase
import Console
import DevTools

/// Measures a server beside others.
enum BenchTool: Tool {
  static let name = "bench"
  static let summary = "Measures the server, other servers and the kernel on this machine."
  static let details = """
    Starts a server on a temporary folder, and mosquitto, redis-server and nats-server if they are installed, generates
    load over loopback, and prints a table; a ratio is Borealis' number divided by the other one. Run it from a release
    build on an otherwise idle machine. BENCHMARK is one of:

      broadcast   200 bytes to 10,000 connections, from one publisher and from eight, each of which sends the next when all
                  devices have its last one
      single      one push to one device at 1,000/s, and as many as go over 64 HTTP connections
      seal        accepted single pushes with contents sealed at rest and without, in turn
      connect     devices that reconnect within a second, plain and with TLS
      idle        memory and processor time of idle connections
      restart     how long until all devices are back after a restart
      million     a million registrations in the database
      callbacks   broadcasts to 10,000 connections and single pushes, with and without callbacks to an app server
      getui       the same pushes over JPush's API and Getui's in turn, and token checks
      apns        notifications to APNs over one connection, compared with h2load and aioapns; with --queue the cost
                  of an APNs queue in memory and for another app
      channels    notifications over FCM, Web Push and Huawei to services that take them at once, compared with h2load;
                  another app's pushes beside a service that takes none, and memory with pushes that wait for it
      console     each of the console's pages with a million registrations and 100,000 pushes in the database
      cluster     nodes on PostgreSQL and NATS, which it starts, compared with one server on a file: accepted pushes, pushes from
                  node to node, broadcasts, logins, and how long devices of a killed node are away; with --apps the devices
                  belong to several apps, which have homes of their own, and app servers post and devices connect at any
                  node; with --devices how many connections many nodes bear, and a broadcast to all of them
      sqlite      commits in a second: the floor for accepted pushes
      soak        memory under a steady load, for as long as --seconds says
      all         all of them except soak
    """
  static let operand: String? = "BENCHMARK"
  static let settings = [
    SettingDefinition(
      name: "connections", valueName: "N", help: "Number of devices; the default depends on the benchmark.",
      kind: .number(1...15_000)),
    SettingDefinition(
      name: "program", valueName: "FILE",
      help: "The server to measure; the default is the program borealis beside this one.", kind: .text),
    SettingDefinition(
      name: "seconds", valueName: "N", help: "Length of each measurement.", default: "5",
      kind: .number(1...86_400)),
    SettingDefinition(
      name: "peers", valueName: "NAME,...",
      help: "Servers to compare with: floor, mosquitto, redis, nats; or none.",
      default: "floor,mosquitto,redis,nats", kind: .text),
    SettingDefinition(
      name: "queue", valueName: "N",
      help:
        "For apns: queues this many notifications for APNs and measures the effect on other traffic. For channels: how many pushes wait.",
      kind: .number(1000...2_000_000)),
    SettingDefinition(
      name: "rate", valueName: "N", help: "For soak: pushes per second; the default is 200.",
      kind: .number(1...20_000)),
    SettingDefinition(
      name: "nodes", valueName: "N",
      help: "For cluster: how many nodes; the default is 4, with --devices 56.",
      kind: .number(2...200)),
    SettingDefinition(
      name: "apps", valueName: "N",
      help:
        "For cluster: how many apps the devices are divided among; more than one have homes of their own. The default is 1.",
      kind: .number(1...64)),
    SettingDefinition(
      name: "devices", valueName: "N",
      help:
        "For cluster: connects this many devices, as far as memory allows, from as many processes as there are nodes.",
      kind: .number(1000...3_000_000)),
    SettingDefinition(
      name: "only-peers", valueName: "", help: "Measures only the other servers.", kind: .flag),
    SettingDefinition(name: "json", valueName: "FILE", help: "Also writes the results as JSON.", kind: .text),
    SettingDefinition(
      name: "folder", valueName: "DIR",
      help: "The folder of temporary files, which decides which disk is measured.",
      kind: .text),
  ]

  static func run(_ operand: String, _ settings: Settings) throws(ToolFailure) {
    do throws(BenchError) {
      var options = try BenchOptions(
        benchmark: operand, connections: settings.number("connections"),
        seconds: settings.number("seconds") ?? 5, peers: settings.text("peers") ?? "none",
        onlyPeers: settings.flag("only-peers"), queue: settings.number("queue"),
        rate: settings.number("rate"), nodes: settings.number("nodes"), devices: settings.number("devices"),
        apps: settings.number("apps"), json: settings.text("json"), folder: settings.text("folder"))
      options.program = settings.text("program")
      options.consolePages = WebConsole.addresses
      try Bench.run(options)
    } catch {
      if case .usage(let message) = error { throw .usage(message) }
      throw .failed(error.description)
    }
  }
}
