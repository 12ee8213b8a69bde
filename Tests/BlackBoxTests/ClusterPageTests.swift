import BorealisBase
import Glibc
import PushTesting
import Testing

/// The recipe for PostgreSQL and NATS in Docs/cluster.md, followed to the letter on this machine.
@Suite struct ClusterPageTests {
  let folder = TemporaryFolder()

  /// The indented blocks under a heading of the page, in their order.
  private static func blocks(under heading: String) -> [String] {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let lines = TemporaryFolder.read(root + "/Docs/cluster.md").split(
      separator: "\n", omittingEmptySubsequences: false)
    let start = lines.firstIndex { $0.hasPrefix("#") && $0.hasSuffix("# " + heading) } ?? lines.endIndex
    var blocks: [String] = []
    var isInside = false
    for line in lines[start...].dropFirst().prefix(while: { !$0.hasPrefix("#") }) {
      let isList = line.hasPrefix("       ")
      guard line.hasPrefix("    ") || line.isEmpty && isInside else {
        isInside = false
        continue
      }
      if !isInside { blocks.append("") }
      isInside = true
      blocks[blocks.endIndex - 1] += line.dropFirst(isList ? 7 : 4) + "\n"
    }
    return blocks
  }

  /// The start of an address of the loopback network that no other test process uses: three machines have it.
  private static let network = "127.\(getpid() >> 8 & 63 + 64).\(getpid() & 255)"

  /// A block of the page with the paths and addresses of this test; `name` is the machine that runs it.
  private func here(_ block: String, name: String = "db1") -> String {
    block.replacing("/etc/postgresql/", with: "\(folder.path)/\(name)/")
      .replacing("/var/lib/postgresql/15/main", with: "\(folder.path)/\(name)/data")
      .replacing("/archive/", with: "\(folder.path)/archive/")
      .replacing("10.0.0.0/24", with: "127.0.0.0/24")
      .replacing("10.0.1.0/24", with: "127.0.0.0/24")
      .replacing("'*'", with: "'\(Self.network).\(name.suffix(1))'")
  }

  private func write(_ text: String, _ name: String) throws {
    try TemporaryFolder.write(text, to: "\(folder.path)/\(name)")
  }

  @Test func `What was answered survives the primary, as the page has it made`() throws {
    let (primary, certificates) = (
      Self.blocks(under: "PostgreSQL"), Self.blocks(under: "Certificates of PostgreSQL")
    )
    let (roles, standbys) = (Self.blocks(under: "Roles and who may connect"), Self.blocks(under: "Standbys"))
    let failover = Self.blocks(under: "Fail-over")
    let counts = [primary, certificates, roles, standbys, failover].map(\.count)
    try #require(counts == [1, 1, 3, 3, 3], "the page has other examples: \(counts)")
    try write(certificates[0], "certificates")
    try write(roles[0], "roles.sql")
    for name in ["db1", "db2", "db3"] {
      let others = ["db1", "db2", "db3"].filter { $0 != name }.joined(separator: ", ")
      try write(here(primary[0], name: name), "\(name).conf")
      try write(standbys[1].replacing("db2, db3", with: others), "\(name).waits")
      try write(here(roles[1], name: name), "\(name).hba")
      try write(here(standbys[0], name: name).replacing("=db2", with: "=\(name)"), "\(name).copy")
      try write(here(failover[1], name: name), "\(name).promote")
    }
    try write(here(failover[2], name: "db3"), "follow2.sql")
    try write(
      here(failover[2], name: "db2").replacing("db2", with: "db3").replacing("=db3 '", with: "=db2 '"),
      "follow3.sql")
    let machines = try RunningProgram(
      ["-c", Self.script, "bash", folder.path, Self.network], of: "/bin/bash", input: nil)
    #expect(try machines.line() == "ready")

    let url =
      roles[2].split(separator: "\n")[0] + "&sslrootcert=\(folder.path)/db1/db-ca.pem"
    let environment = [
      "BOREALIS_STORE": String(url),
      "PGHOSTADDR": (1...3).map { "\(Self.network).\($0)" }.joined(separator: ","),
    ]
    let server = try TestServer(data: folder.path + "/data", environment: environment)
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    func sql(_ text: String, at machine: String) throws -> String {
      try machines.write(line: "sql \(machine) \(text.split(separator: "\n").joined(separator: " "))")
      return try machines.line()
    }
    for name in ["db2", "db3"] {
      let isWaitedFor = try RunningProgram.eventually {
        try sql(standbys[2], at: "db1").contains("\(name)|streaming|quorum")
      }
      #expect(isWaitedFor)
    }
    #expect(try server.push("before", to: identity, as: app).status == 200)

    try machines.write(line: "kill db1")
    #expect(try machines.line() == "done")
    let places = try ["db2", "db3"].map { try sql(failover[0], at: $0) }
    let isSecond = try sql("SELECT '\(places[0])'::pg_lsn >= '\(places[1])'::pg_lsn", at: "db2") == "t"
    let (next, last) = isSecond ? ("db2", "db3") : ("db3", "db2")
    try machines.write(line: "promote \(next) \(last)")
    #expect(try machines.line() == "done")
    let isBack = try RunningProgram.eventually {
      try server.push("after", to: identity, as: app).status == 200
    }
    #expect(isBack)
    let device = try TestDevice.login(server.device, app: app.key, identity)
    let texts = try [device.arrival(), device.arrival()].map { $0.content["message"]?["msg_content"]?.string }
    #expect(texts == ["before", "after"])
    try machines.write(line: "end")
    #expect(try machines.end().status == 0)
  }

  /// $1 is the folder, $2 the network. Not as root, which PostgreSQL refuses: as "nobody".
  private static let script = #"""
    set -eu
    folder=$1 network=$2
    exec 3>&1 >&2
    bin=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)")
    export PATH=$bin:$PATH
    as() {
      if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=nobody --regid=nogroup --clear-groups --inh-caps=-all,+dac_override \
          --ambient-caps=-all,+dac_override "$@"
      else
        "$@"
      fi
    }
    finish() {
      for name in db1 db2 db3; do
        as pg_ctl -D "$folder/$name/data" -m immediate stop || true
      done
    }
    trap finish EXIT
    # What each starts with: its certificate and its place on the network.
    (cd "$folder" && . ./certificates)
    mkdir "$folder/archive"
    for name in db1 db2 db3; do
      mkdir "$folder/$name"
      cp "$folder/$name.pem" "$folder/$name/server.pem"
      cp "$folder/$name.key" "$folder/$name/server.key"
      cp "$folder/db-ca.pem" "$folder/$name"
      chmod 600 "$folder/$name/server.key"
    done
    [ "$(id -u)" != 0 ] || chown -R nobody "$folder"/db? "$folder/archive"
    begin() {
      printf '%s\n' "unix_socket_directories = '$folder/$1'" 'shared_buffers = 16MB' 'fsync = off' \
        'dynamic_shared_memory_type = mmap' >>"$folder/$1/data/postgresql.conf"
      cat "$folder/$1.conf" >>"$folder/$1/data/postgresql.conf"
      cp "$folder/$1.hba" "$folder/$1/data/pg_hba.conf"
      echo 'local all all trust' >>"$folder/$1/data/pg_hba.conf"
      as env HOME="$folder/$1" PGHOSTADDR="${2-}" pg_ctl -D "$folder/$1/data" \
        -l "$folder/$1/log" -w start </dev/null
    }
    sql() { as psql -h "$folder/$1" -U postgres -d postgres -AtX "${@:2}"; }
    as initdb -D "$folder/db1/data" -U postgres -E UTF8 --locale=C --no-sync
    begin db1
    sql db1 -f "$folder/roles.sql"
    for name in db2 db3; do
      as env HOME="$folder/$name" PGHOSTADDR="$network.1" bash -e "$folder/$name.copy"
      # It has them from the primary.
      sed -i '/^unix_socket_directories = .*\/db1/,$d' "$folder/$name/data/postgresql.conf"
      other=$([ $name = db2 ] && echo 3 || echo 2)
      as sed -i "s/db1.example.com:\*/*:*/" "$folder/$name/.pgpass"
      begin $name "$network.$other"
    done
    for name in db1 db2 db3; do
      cat "$folder/$name.waits" >>"$folder/$name/data/postgresql.conf"
      as pg_ctl -D "$folder/$name/data" reload
    done
    echo ready >&3
    while read -r order name rest; do
      case $order in
      sql) sql "$name" -c "$rest" | paste -sd ' ' >&3 ;;
      kill)
        as pg_ctl -D "$folder/$name/data" -m immediate stop
        echo done >&3
        ;;
      promote)
        as bash -e "$folder/$name.promote"
        sql "$rest" -f "$folder/follow${name#db}.sql" -c "SELECT pg_reload_conf()"
        echo done >&3
        ;;
      end) exit 0 ;;
      esac
    done
    """#

  @Test func `NATS takes the file of the page`() throws {
    let blocks = Self.blocks(under: "NATS")
    let nodes = Self.blocks(under: "Certificates between nodes")
    try #require(blocks.count == 2 && nodes.count == 1)
    let file = blocks[0].replacing("/etc/nats/", with: folder.path + "/")
      .replacing("node.pem", with: "n1.pem").replacing("node.key", with: "n1.key")
    try write(nodes[0] + "\nexec nats-server -t -c nats.conf\n", "check")
    try write(file, "nats.conf")
    let ending = try RunningProgram(["-c", "cd \(folder.path) && . ./check"], of: "/bin/bash").end()
    #expect(ending.status == 0, "\(ending.errors)")
  }
}
