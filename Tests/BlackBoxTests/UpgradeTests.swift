import BorealisBase
import BorealisProtocol
import CLinux
import Glibc
import PushTesting
import Testing

/// `borealis upgrade`: another process takes the place of the running server.
@Suite(.onSQLite) struct UpgradeTests {
  private let folder = TemporaryFolder()

  @Test func `Devices stay connected, and get every push once, through one upgrade after the other`() throws {
    let world = try UpgradeWorld(folder.path)
    try world.start("plain", count: 60, at: world.server.device, ["--plain"])
    try world.start("tls", count: 60, at: world.tls, ["--insecure"])
    let wire = try WireDevices(world, count: 3)
    let load = UpgradeWorld.Load(world, pushers: 3)
    for _ in 0..<12 {
      let ending = try world.upgrade()
      #expect(ending.status == 0)
      let report = try #require(ending.documents.first ?? nil)
      #expect(report["devices"]?.int64 == 123 && report["reconnecting"]?.int64 == 0, "\(report)")
    }
    let (accepted, faults) = load.finish()
    world.expectAll(accepted)
    let seen = world.now
    #expect(seen.logins.values.allSatisfy { $0 == 1 } && seen.ends.isEmpty, "\(seen.ends.prefix(3))")
    #expect(accepted.count > 100 && faults.isEmpty, "\(faults.prefix(3))")
    let metrics = try world.server.call("GET", "/metrics").body
    #expect(metrics.contains("\nborealis_devices_online 123.0\n"))
    #expect(metrics.contains("\nborealis_device_logins_total 0\n"))
    #expect(metrics.contains("\nborealis_push_targets_unaccounted 0.0\n"))
    try wire.finish(in: world)
    try world.stop()
  }

  @Test(arguments: [false, true])
  func `Nothing is lost, and nothing shown twice, whichever process is killed when`(isNew: Bool) throws {
    let world = try UpgradeWorld(folder.path)
    try world.start("plain", count: 5, at: world.server.device, ["--plain"])
    try world.start("tls", count: 5, at: world.tls, ["--insecure"])
    let load = UpgradeWorld.Load(world, pushers: 2)
    for _ in 0..<12 { try world.upgradeKilling(isNew) }
    world.expectAll(load.finish().accepted)
    try world.stop()
  }

  /// A device in the middle of a frame, one behind a proxy that speaks WebSocket, one that has not logged
  /// in, and an app server between two requests.
  @Test func `Connections go on wherever they are`() throws {
    let world = try UpgradeWorld(folder.path)
    let address = world.server.device
    func identity(_ install: String) throws -> TestDevice.Identity {
      try TestDevice.register(address, app: world.app.key, install: install)
    }
    let (one, other) = (try identity("one"), try identity("other"))
    let line = try TestSocket(address)
    let device = try TestDevice.login(line, app: world.app.key, one)
    let web = try TestDevice.login(TestWebSocket(world.server.http), app: world.app.key, other)
    let server = try TestSocket(world.server.http)
    var frame: [UInt8] = []
    ClientFrame.operation(sequence: 9, .addTags(["one", "two"])).encode(into: &frame)
    func ask() throws -> String {
      try server.send(HTTPCall.request("GET", "/healthz"))
      return String(decoding: try server.receive(), as: UTF8.self)
    }
    #expect(try ask().hasPrefix("HTTP/1.1 200"))
    for round in 0..<3 {
      // Programs that start take long on a busy machine, and a login or a frame may take some seconds only.
      let command = try world.prepareUpgrade()
      let greeted = try round == 0 ? TestDevice(TestSocket(address)) : nil
      if round == 0 { try line.send(Array(frame[..<7])) }
      let ending = try world.goOn(with: command)
      #expect(ending.status == 0)
      if round == 0 {
        #expect((ending.documents.first ?? nil)?["devices"] == 3, "\(ending.output)")
        try line.send(Array(frame[7...]))
        guard case .result(let sequence, let code, _) = try device.next() else {
          throw TestDevice.Unexpected()
        }
        #expect(sequence == 9 && code == .ok)
        // It has had enough time.
        withExtendedLifetime(greeted) {}
      }
      // It was between two requests, and is again.
      let answer = try ask()
      #expect(answer.hasPrefix("HTTP/1.1 200") && !answer.lowercased().contains("connection: close"))
      for (name, target) in [(one, device), (other, web)] {
        let push = try world.server.push("round \(round)", to: name, as: world.app)
        let arrival = try target.arrival()
        #expect(arrival.id == push.document?["msg_id"]?.string)
        // Of every other one the next process has to know that it was sent, since it is not acknowledged.
        if round == 1 { try target.acknowledge(arrival) }
      }
    }
    try world.stop()
  }

  @Test func `TLS that OpenSSL goes on with reconnects`() throws {
    let world = try UpgradeWorld(folder.path, ["--tls-records", "openssl"])
    try world.start("tls", count: 3, at: world.tls, ["--insecure"])
    let report = try #require(try world.upgrade().documents.first ?? nil)
    #expect(report["devices"] == 0 && report["reconnecting"] == 3)
    let isBack = RunningProgram.eventually { world.now.logins.values.allSatisfy { $0 == 2 } }
    #expect(isBack)
    try world.stop()
  }

  @Test func `systemd is told which process is the main one`() throws {
    let path = folder.file("notify")
    let manager = socket(AF_UNIX, SocketKind.closingDatagrams, 0)
    defer { close(manager) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let isBound = withUnsafeBytes(of: &address) { raw in
      guard let start = raw.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
      return bind(manager, start, socklen_t(raw.count)) == 0
    }
    try #require(isBound)
    let world = try UpgradeWorld(folder.path, environment: ["NOTIFY_SOCKET": path])
    #expect(try world.end(of: RunningProgram(["upgrade", "--data", world.data])).status == 0)
    let next = world.process
    try world.stop()
    let states = (0..<4).map { _ in
      var buffer = [UInt8](repeating: 0, count: 100)
      let count = recv(manager, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    }
    #expect(Set(states) == ["READY=1", "MAINPID=\(next)\nREADY=1", "STOPPING=1"])
    #expect(states.first == "READY=1" && states.last == "STOPPING=1")
  }

  // MARK: Programs that do not take the place

  private func script(_ text: String) throws -> String {
    let path = folder.file("program")
    try TemporaryFolder.write("#!/bin/sh\n" + text + "\n", to: path)
    chmod(path, 0o755)
    return path
  }

  @Test func `A program that fails leaves the server as it was`() throws {
    let world = try UpgradeWorld(folder.path)
    try world.start("plain", count: 5, at: world.server.device, ["--plain"])
    let program = RunningProgram.path
    let programs = [
      ("exit 3", "the new process has ended"), ("exec /bin/true", "the new process has ended"),
      // As a version that knows nothing of upgrades.
      ("unset UPGRADE_SOCKET; exec \(program) \"$@\"", "the new process has ended"),
      ("exec \(program) \"$@\" --http-tls 127.0.0.1:0", "the addresses have changed"),
      ("exec \(program) \"$@\" --loops 3", "--loops is 3"),
      ("exec \(program) \"$@\" --no-such-setting", "the new process has ended"),
      ("\(program) \"$@\"; exit 1", "the new process"),
    ]
    for (text, reason) in programs {
      let ending = try world.upgrade(["--binary", try script(text)])
      #expect(ending.status == 1 && ending.errors.contains(reason), "\(text): \(ending.errors)")
    }
    #expect(try world.upgrade(["--binary", folder.file("missing")]).errors.contains("No such file"))
    #expect(try world.upgrade(["--binary", "program"]).status == 2)
    let push: JSONValue = ["platform": "all", "audience": "all", "message": ["msg_content": "still here"]]
    #expect(try world.server.call("POST", "/v3/push", as: world.app, body: push).status == 200)
    let isThere = RunningProgram.eventually { world.now.shown.count == 5 }
    #expect(isThere && world.now.logins.values.allSatisfy { $0 == 1 } && world.now.ends.isEmpty)
    try world.stop()
  }

  @Test func `A program that says nothing is given up`() throws {
    let world = try UpgradeWorld(folder.path)
    try world.start("plain", count: 2, at: world.server.device, ["--plain"])
    let command = try world.startUpgrade(["--binary", try script("exec sleep 1000")])
    var child: Int32?
    let isThere = RunningProgram.eventually {
      child = world.child(of: world.process)
      return child.map { TemporaryFolder.read("/proc/\($0)/cmdline").hasPrefix("sleep") } ?? false
    }
    #expect(isThere)
    // A second one waits for nobody.
    #expect(try world.upgrade().errors.contains("an upgrade is under way"))
    kill(try #require(child), SIGKILL)
    #expect(try command.end().status == 1)
    #expect(try world.upgrade().status == 0)
    #expect(world.now.logins.values.allSatisfy { $0 == 1 })
    try world.stop()
  }

  @Test func `The program is what is at the path by which the server was started`() throws {
    let (link, data) = (folder.file("borealis"), folder.file("linked"))
    try #require(symlink(RunningProgram.path, link) == 0)
    let server = try RunningProgram(
      ["serve", "--data", data, "--http", "127.0.0.1:0", "--device-plain", "127.0.0.1:0"], of: link)
    _ = try server.document()
    func upgrade() throws -> Ending {
      try RunningProgram.run(["upgrade", "--data", data, "--if-changed", "--unsupervised"])
    }
    let ending = try upgrade()
    #expect(ending.status == 0 && (ending.documents.first ?? nil)?["upgraded"] == false)
    // The file that it runs from is where it was, under another name.
    unlink(link)
    try #require(symlink(try script("exit 3"), link) == 0)
    let other = try upgrade()
    #expect(other.status == 1 && other.errors.contains("the new process has ended"))
    server.signal(SIGTERM)
    #expect(try server.end().status == 0)
  }

  @Test func `Without systemd somebody has to say that there is no supervisor`() throws {
    let world = try UpgradeWorld(folder.path)
    let ending = try RunningProgram.run(["upgrade", "--data", world.data])
    #expect(ending.status == 1 && ending.errors.contains("--unsupervised"))
    #expect(world.child(of: world.process) == nil)
    try world.stop()
  }

  @Test func `Only a changed program, and only a server that runs`() throws {
    let world = try UpgradeWorld(folder.path)
    let ending = try world.upgrade(["--if-changed"])
    #expect(ending.status == 0 && (ending.documents.first ?? nil)?["upgraded"] == false)
    #expect(try world.upgrade(["--if-changed", "--binary", try script("exit 1")]).status == 1)
    try world.stop()
    #expect(try world.upgrade().errors.contains("no server runs on"))
    let other = try RunningProgram.run(
      ["upgrade", "--data", world.data, "--store", "postgres://nobody@127.0.0.1:1/none"])
    #expect(other.status == 1 && other.errors.contains("PostgreSQL"))
  }
}
