import BorealisNet
import CLinux
import Glibc
import HTTP

/// As a child of the bench: a server that answers every request 200 and repeats its `apns-id`, as Apple does.
/// It prints its port.
enum APNsSink {
  /// Arguments: certificate file and key file.
  static func run(_ words: [String]) -> Int32 {
    guard words.count == 2 else { return 2 }
    _ = cl_die_with_parent()
    do {
      let tls = try TLSContext.server(
        identity: .files(certificatePath: words[0], keyPath: words[1]), protocols: ["h2"])
      let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 64, 0), "listen")
      let port = try SystemError.check(cl_local_port(listener), "getsockname")
      let handle = try LoopHandle(index: 0)
      try handle.start(
        { loop throws(SystemError) in
          var options = HTTP2ServerOptions()
          // One of the peers does not offer any protocol.
          options.requiresALPN = false
          let server = HTTP2Server(loop: loop, tls: tls, options: options, handler: Handler())
          try loop.listen(listener) { [unowned server] in server.accept($0) }
        }, failed: { _ in exit(1) })
      print(port)
      fflush(nil)
      while true { sleep(1000) }
    } catch {
      return 1
    }
  }

  private final class Handler: HTTP2ServerHandler {
    func request(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
      var headers = HTTP2Headers()
      if let id = request.headers.first("apns-id") { headers.append("apns-id", id, .neverIndexed) }
      connection.answer(request.streamID, HTTP2Answer(status: 200, headers: headers))
    }
  }
}
