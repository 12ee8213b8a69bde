import Glibc

/// The scripts in Python that tests run.
enum PythonClient {
  private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  /// The interpreter with JPush's client, if it is there, or else the first in the path.
  private static let interpreter: [String] = {
    let own = root + "/.build/python/bin/python3"
    return access(own, X_OK) == 0 ? [own] : ["/usr/bin/env", "python3"]
  }()

  static let canRun =
    (try? start(["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]).end().status) == 0

  /// Whether the package that speaks HTTP/2 is there.
  static let hasHTTP2 = (try? start(["-c", "import h2"]).end().status) == 0

  /// Whether Google's client for FCM is there.
  static let hasFirebase = (try? start(["-c", "import firebase_admin"]).end().status) == 0

  /// Whether a sender of Web Push is there, and what it is made of.
  static let hasWebPush =
    (try? start(["-c", "import pywebpush, py_vapid, http_ece"]).end().status) == 0

  /// Whether Firefox is there.
  static let hasFirefox = access("/usr/bin/firefox-esr", X_OK) == 0

  /// Whether the package that speaks WebSocket is there.
  static let hasWebSockets = (try? start(["-c", "import websockets"]).end().status) == 0

  /// Whether the package is there that tries out what a description promises.
  static let hasSchemathesis = (try? start(["-c", "import schemathesis"]).end().status) == 0

  /// Whether bills of materials can be checked.
  static let hasSPDX = (try? start(["-c", "import spdx_tools"]).end().status) == 0

  /// Whether manifests of Kubernetes can be rendered and checked.
  static let hasKubernetes =
    (try? start(["-c", "import kubernetes_validate, shutil; exit(not shutil.which('kubectl'))"]).end().status)
    == 0

  /// Whether there are ciphers.
  static let hasCryptography = (try? start(["-c", "import cryptography"]).end().status) == 0

  /// Whether there is a mail server.
  static let hasMailServer = (try? start(["-c", "import aiosmtpd"]).end().status) == 0

  /// Whether a browser can be driven.
  static let hasBrowser =
    access("/usr/bin/chromium", X_OK) == 0 && (try? start(["-c", "import playwright"]).end().status) == 0

  /// Whether a unit's filter can be made and what runs under it is what a unit would run.
  static let canConfine =
    access("/usr/bin/systemd-analyze", X_OK) == 0 && !RunningProgram.isSanitized

  /// Runs a script of a folder in `Tests`. Each step of it has a limit of its own, 300 s at most; what it
  /// prints may come only at its end.
  static func run(
    _ script: String, in folder: String = "PythonClient", _ arguments: [String] = []
  ) throws -> Ending {
    try start(["\(root)/Tests/\(folder)/\(script)"] + arguments).end(patience: 900)
  }

  private static func start(_ arguments: [String]) throws -> RunningProgram {
    var environment = ["PYTHONDONTWRITEBYTECODE": "1"]
    for name in ["PATH", "TMPDIR"] { environment[name] = getenv(name).map { String(cString: $0) } }
    return try RunningProgram(
      Array(interpreter.dropFirst()) + arguments, of: interpreter[0], environment: environment)
  }
}
