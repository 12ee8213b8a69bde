import BorealisBase

struct StatusCommand: ServedCommand {
  static let name = "status"
  static let summary = "Prints what the running server counts."
  static let details = """
    Prints one line of JSON about the server that runs on the folder; "borealis top" shows the same. Changes nothing.

      obstacle              why the server is not ready, null if it is
      metrics               what /metrics has, by name and labels, without the values of single apps
      channels: pushes      those in memory without a final answer for all of their devices
      in_flight, retrying   requests without an answer, and deliveries that are tried again later
      stopped, unreachable  apps and services to which nothing is sent now, or no connection can be made
      apps: pushes, online  pushes since the server started, and connected devices
      waiting, broadcasts   for the direct connection: pushes, once for each device, and open pushes to more than 64 devices
      queued                pushes in memory for other channels

    Of more than 1000 apps it has those with the most pushes and those with the longest queues.
    """
  static let operands: [String] = []
  static let changesDatabase = false
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let folder = try DataFolder(input)
    guard let served = folder.served else { throw CommandClient.noServer(on: folder) }
    Terminal.print(served.status().json)
  }
}
