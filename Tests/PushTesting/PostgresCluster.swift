import BorealisBase
import Glibc
import Storage
import Synchronization

/// PostgreSQL in a folder of its own, for the tests of one process. It ends with the process, however that
/// ends.
package final class PostgresCluster: Sendable {
  /// Why it does not do what it is asked for.
  package struct Failure: Error, CustomStringConvertible {
    /// One line.
    package let description: String
  }

  /// The one that tests share which do no harm to it.
  package static func shared() throws -> PostgresCluster {
    _ = isStoppedAtExit
    return try one.get()
  }

  /// In an orderly end there is time for an orderly stop.
  private static let isStoppedAtExit: Bool = {
    atexit { if case .success(let cluster) = one { cluster.stop() } }
    return true
  }()

  /// Whether tests that run on any database run on PostgreSQL: `BOREALIS_TEST_STORE=postgres`.
  package static let isChosen = getenv("BOREALIS_TEST_STORE").map { String(cString: $0) } == "postgres"

  private static let one = Result<PostgresCluster, any Error> { try PostgresCluster() }

  private let path: String
  private let processID: pid_t
  /// Orders go to the script, and answers come from it.
  private let orders: Int32
  private let answers: Int32
  private let databases = Mutex(Databases())

  private struct Databases {
    var count = 0
    /// The name of one with this program's schema.
    var template: String?
    /// Databases of folders, by the path, and the path of what goes with them.
    var ofFolders: [String: (name: String, owner: String)] = [:]
  }

  /// Starts one; or one that follows another, which waits with each commit until it is stored here, too.
  package init(standbyOf primary: PostgresCluster? = nil) throws {
    // It is removed by the script.
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/pg-XXXXXX".utf8CString)
    path = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
    var (input, output): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &input) == 0, socketpair(AF_UNIX, kind, 0, &output) == 0 else {
      throw Failure(description: "no pipe")
    }
    (orders, answers) = (input[1], output[0])
    defer {
      close(input[0])
      close(output[1])
    }
    processID = try ChildProcess.start(
      "/bin/sh", ["-c", Self.script, "sh", path, primary?.socketFolder ?? ""], input: .descriptor(input[0]),
      output: .descriptor(output[1])
    )
    guard try answer() == "ready" else {
      throw Failure(description: "PostgreSQL does not start; is it installed?")
    }
    try primary?.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    try primary?.sql("SELECT pg_reload_conf()")
  }

  deinit { stop() }

  private func stop() {
    close(orders)
    close(answers)
    ChildProcess.wait(for: processID)
  }

  /// Tells `pg_ctl` to do something, such as `-m immediate restart`, and waits until it is done.
  package func control(_ order: String) throws {
    let bytes = Array((order + "\n").utf8)
    guard write(orders, bytes, bytes.count) == bytes.count, try answer() == "done" else {
      throw Failure(description: "pg_ctl \(order) failed: \(TemporaryFolder.read(path + "/control"))")
    }
  }

  private func answer() throws -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      var poll = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
      guard Glibc.poll(&poll, 1, 60_000) > 0, read(answers, &byte, 1) == 1 else {
        throw Failure(description: "PostgreSQL says nothing: \(TemporaryFolder.read(path + "/initdb"))")
      }
      if byte == 10 { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }

  // MARK: Databases

  /// The folder of its socket.
  package var socketFolder: String { path + "/pg" }

  /// How a database of a name is reached.
  package func url(of database: String) -> String { "postgres://borealis@/\(database)?host=\(path)/pg" }

  /// Makes a database with nothing in it, not even tables; its name.
  package func makeEmpty() throws -> String {
    try databases.withLock { databases in try makeDatabase("", &databases) }
  }

  /// Makes a database with this program's schema; its name.
  package func make() throws -> String {
    try databases.withLock { databases in try makeFromTemplate(&databases) }
  }

  /// The database that belongs to a folder, made at the first call; its URL. It goes some time after the
  /// folder, or after the one that is given as its owner.
  package func url(ofFolder folder: String, in owner: String? = nil) throws -> String {
    try databases.withLock { databases in
      if let known = databases.ofFolders[folder] { return url(of: known.name) }
      for (path, (name, owner)) in databases.ofFolders where access(owner, F_OK) != 0 {
        databases.ofFolders[path] = nil
        try sql("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
      }
      let name = try makeFromTemplate(&databases)
      databases.ofFolders[folder] = (name, owner ?? folder)
      return url(of: name)
    }
  }

  private func makeFromTemplate(_ databases: inout Databases) throws -> String {
    let template: String
    if let known = databases.template {
      template = known
    } else {
      template = try makeDatabase("", &databases)
      try Store.open(.postgres(url: url(of: template)), readers: 1, log: .silent).close()
      databases.template = template
    }
    return try makeDatabase(" TEMPLATE \(template)", &databases)
  }

  private func makeDatabase(_ more: String, _ databases: inout Databases) throws -> String {
    databases.count += 1
    let name = "w\(databases.count)"
    try sql("CREATE DATABASE \(name)\(more)")
    return name
  }

  /// Runs statements on a connection of its own; the rows of the last.
  @discardableResult
  package func sql(_ text: String, in database: String = "postgres") throws -> [[String]] {
    let session = try PostgresSession(self, in: database)
    defer { session.close() }
    return try session.sql(text)
  }

  /// $1 is the folder, $2 the folder of the socket of another one that is followed, or empty. Not as root,
  /// which PostgreSQL refuses: as "nobody", who may still pass through the folders above.
  private static let script = #"""
    folder=$1
    bin=$(pg_config --bindir 2>/dev/null) || bin=
    [ -x "$bin/initdb" ] || bin=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)")
    as() {
      if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=nobody --regid=nogroup --clear-groups --inh-caps=-all,+dac_override \
          --ambient-caps=-all,+dac_override "$@"
      else
        "$@"
      fi
    }
    mkdir "$folder/pg"
    [ "$(id -u)" != 0 ] || chown nobody "$folder/pg"
    cd "$folder/pg"
    if [ "$2" ]; then
      as "$bin/pg_basebackup" -D "$folder/pg/data" -h "$2" -U borealis -X stream -c fast --no-sync >"$folder/initdb" 2>&1
      as touch "$folder/pg/data/standby.signal"
      follows="primary_conninfo = 'host=$2 user=borealis application_name=standby'"
    else
      as "$bin/initdb" -D "$folder/pg/data" -U borealis -A trust -E UTF8 --locale=C --no-sync >"$folder/initdb" 2>&1
    fi
    cat >>"$folder/pg/data/postgresql.conf" <<END
    listen_addresses = ''
    unix_socket_directories = '$folder/pg'
    fsync = off
    max_connections = 400
    shared_buffers = 32MB
    max_wal_size = 256MB
    dynamic_shared_memory_type = mmap
    $follows
    END
    control() { as "$bin/pg_ctl" -D "$folder/pg/data" -l "$folder/pg/log" -w -s "$@" </dev/null >>"$folder/control" 2>&1; }
    finish() {
      control -m immediate stop || true
      rm -rf "$folder"
    }
    trap finish EXIT
    control start
    echo ready
    while read -r order; do
      control $order && echo done || echo failed
    done
    """#
}

extension TemporaryFolder {
  /// Where the database of a test is that does not care which one it is.
  package func store() throws -> Store.Location {
    guard PostgresCluster.isChosen else { return .sqlite(path: database) }
    return .postgres(url: try PostgresCluster.shared().url(ofFolder: path))
  }
}
