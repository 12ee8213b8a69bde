import BorealisBase
import Glibc
import PushTesting
import Testing

/// `borealis top` and `borealis status` with a running server.
@Suite(.onSQLite) struct TopTests {
  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }

  /// The next lines that a program prints, through one that matches.
  private func lines(of program: RunningProgram, through pattern: some RegexComponent) throws -> [String] {
    var lines: [String] = []
    while lines.count < 2000 {
      lines.append(try program.line())
      if lines.last?.prefixMatch(of: pattern) != nil { return lines }
    }
    throw RunningProgram.Failure(description: lines.suffix(40).joined(separator: "\n"))
  }

  @Test func `Pages show devices and what has changed`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp("Shop")
    let identity = try TestDevice.register(server.device, app: app.key, install: "a")
    let device = try TestDevice.login(server.device, app: app.key, identity)
    let top = try RunningProgram(["top", "--data", data, "--interval", "1"])
    let first = try lines(of: top, through: /events/)
    #expect(first[0].wholeMatch(of: /borealis [0-9.]+, up .*, ready/) != nil, "\(first)")
    #expect(first.contains { $0.hasPrefix("devices     online 1   connections ") }, "\(first)")
    #expect(first.contains { $0.hasPrefix("pushes      accepted –/s") }, "\(first)")
    #expect(try server.push("hello", to: identity, as: app).status == 200)
    let row = /Shop +[0-9.]*[1-9] +0 +[01] +0 +1  [0-9a-f]{24}/
    let later = try lines(of: top, through: row)
    #expect(later.last?.hasSuffix("  \(app.key)") == true)
    #expect(later.contains { $0.contains(/accepted [0-9.]*[1-9]\/s   refused 0\/s/) }, "\(later)")
    withExtendedLifetime(device) {}
    // The server does not log each question.
    #expect(!server.program.errors.contains("command=status"))
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    let ending = try top.end()
    #expect(ending.status == 1 && ending.errors.hasPrefix("borealis: "), "\(ending.errors)")
  }

  @Test func `One page for scripts, and its figures as JSON`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp("Shop")
    let identity = try TestDevice.register(server.device, app: app.key, install: "a")
    #expect(try server.push("hello", to: identity, as: app).status == 200)
    let ending = try RunningProgram.run(["top", "--data", data, "--once", "--interval", "1"])
    #expect(ending.status == 0 && ending.errors.isEmpty, "\(ending.errors)")
    #expect(ending.output.contains("\npushes      accepted 0/s   refused 0/s   sent to devices 0/s"))
    #expect(ending.output.split(separator: "\n").filter { $0.hasPrefix("borealis ") }.count == 1)
    let status = try #require(RunningProgram.run(["status", "--data", data]).documents.first ?? nil)
    #expect(status["metrics"]?["borealis_pushes_accepted_total"]?.double == 1 && status["obstacle"] == .null)
    #expect(
      status["apps"] == [
        [
          "name": "Shop", "app_key": .string(app.key), "broadcasts": 0, "online": 0, "pushes": 1, "queued": 0,
          "waiting": 1,
        ]
      ])
    withExtendedLifetime(server) {}
  }

  @Test(arguments: [["top"], ["top", "--once"], ["status"]])
  func `Without a server there is nothing to show`(arguments: [String]) throws {
    try TestServer.initialize(data: data)
    let ending = try RunningProgram.run(arguments + ["--data", data])
    #expect(ending.status == 1 && ending.output.isEmpty)
    #expect(ending.errors == "borealis: no server runs on \(data)\n")
  }

  @Test(arguments: ["0", "61", "1.5"]) func `Intervals have limits`(seconds: String) throws {
    let ending = try RunningProgram.run(["top", "--data", data, "--interval", seconds])
    #expect(ending.status == 2 && ending.errors.contains("--interval"), "\(ending.errors)")
  }

  /// Runs the program on a terminal of its own, makes that narrower, ends the program and compares the
  /// terminal with what it was.
  private static let terminal = """
    import fcntl, os, select, signal, struct, subprocess, sys, termios
    end, command = sys.argv[1], sys.argv[2:]
    master, slave = os.openpty()
    def resize(rows, columns):
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    resize(24, 100)
    before = termios.tcgetattr(slave)
    program = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    output = b""
    def read_until(*texts):
        global output
        while not all(text in output for text in texts):
            if not select.select([master], [], [], 50)[0]:
                sys.exit(f"no {texts} in {output}")
            output += os.read(master, 65536)
    read_until(b"\\x1b[?1049h\\x1b[?25l", b", ready", b"\\x1b[J")
    raw = termios.tcgetattr(slave)
    assert not raw[3] & (termios.ECHO | termios.ICANON | termios.ISIG), raw
    assert output.count(b"\\n") < 24 and max(map(len, output.decode().split("\\n"))) < 130, output
    output = b""
    resize(5, 12)
    read_until(b"\\x1b[H\\x1b[Kborealis 0.9\\r", b"\\x1b[J")
    assert output.count(b"\\n") == 4, output
    output = b""
    if end == "signal":
        program.send_signal(signal.SIGTERM)
    else:
        os.write(master, end.encode())
    read_until(b"\\x1b[?25h\\x1b[?1049l")
    assert program.wait(50) == 0, program.returncode
    assert termios.tcgetattr(slave) == before
    print("ok")
    """

  @Test(arguments: ["q", "\u{3}", "signal"])
  func `The view follows the size of the terminal and leaves it as it was`(end: String) throws {
    let server = try TestServer(data: data)
    let program = try RunningProgram(
      ["-c", Self.terminal, end, RunningProgram.path, "top", "--data", data, "--interval", "60"],
      of: "/usr/bin/python3")
    let ending = try program.end()
    #expect(ending.status == 0 && ending.output == "ok\n", "\(ending.errors)")
    withExtendedLifetime(server) {}
  }
}
