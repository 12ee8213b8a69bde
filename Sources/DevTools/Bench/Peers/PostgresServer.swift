import Glibc

/// Debian's PostgreSQL in the bench's folder, with its own settings but for addresses: commits are synced. It
/// refuses root, and runs as "nobody" then, who may pass through the folders above.
final class PostgresServer {
  /// How the database is reached.
  let url: String
  let process: ServerProcess

  private static let connections = 400

  /// Makes a database in a new folder of this name, and starts a server on it.
  init(_ environment: BenchEnvironment, folder name: String = "postgres") throws(BenchError) {
    let programs = try Self.programs()
    let folder = try environment.workspace.folder(name)
    if getuid() == 0, let nobody = getpwnam("nobody") {
      guard chown(folder, nobody.pointee.pw_uid, nobody.pointee.pw_gid) == 0 else {
        throw .system(call: "chown \(folder)", number: errno)
      }
    }
    let data = folder + "/data"
    let making = try Self.start(
      environment, programs + "/initdb",
      ["-D", data, "-U", "borealis", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
    guard making.waitForEnd(seconds: 120), access(data + "/global/pg_control", F_OK) == 0 else {
      throw .unexpected("initdb makes no database: see \(environment.workspace.path)/servers.log")
    }
    let settings = [
      "listen_addresses=", "unix_socket_directories=\(folder)", "max_connections=\(Self.connections)",
      "dynamic_shared_memory_type=mmap",
    ]
    process = try Self.start(
      environment, programs + "/postgres", ["-D", data] + settings.flatMap { ["-c", $0] })
    url = "postgres://borealis@/postgres?host=\(folder)"
    for _ in 0..<600 {
      let line = try ServerProcess.firstLine(
        programs + "/pg_isready", ["-h", folder], executable: environment.executable,
        log: environment.workspace.path + "/servers.log")
      if line.hasSuffix("accepting connections") { return }
      usleep(100_000)
    }
    throw .timedOut("PostgreSQL starts")
  }

  func stop() { process.stop(SIGINT) }

  /// The folder of the programs of the newest version.
  private static func programs() throws(BenchError) -> String {
    let root = "/usr/lib/postgresql"
    let versions = ProcessUsage.names(in: root).compactMap { Int($0) }.sorted()
    guard let newest = versions.last(where: { access("\(root)/\($0)/bin/initdb", X_OK) == 0 }) else {
      throw .notInstalled("postgresql")
    }
    return "\(root)/\(newest)/bin"
  }

  private static func start(
    _ environment: BenchEnvironment, _ program: String, _ arguments: [String]
  ) throws(BenchError) -> ServerProcess {
    guard getuid() == 0 else { return try environment.start(program, arguments) }
    return try environment.start(
      "setpriv",
      [
        "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--inh-caps=-all,+dac_override",
        "--ambient-caps=-all,+dac_override",
        // Whoever changes its user does not die with its parent any more.
        "--pdeathsig", "QUIT", program,
      ] + arguments)
  }
}
