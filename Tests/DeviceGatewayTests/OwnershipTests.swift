import BorealisNet
import Synchronization
import Testing

@testable import DeviceGateway

/// The sessions of a loop are its thread's alone: each test provokes what an assertion stops at.
@Suite(.timeLimit(.minutes(1))) struct OwnershipTests {
  @Test func `Another thread that lets a connection in stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let server = try TestServer(loops: 1)
      _ = server.strayed().value.admit(PeerNetwork(rawValue: 1))
    }
    #expect(end?.says("a loop is touched by its own thread alone") == true)
  }

  @Test func `Another thread that ends a session stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let server = try TestServer(loops: 1)
      server.strayed().value.connections.close(0)
    }
    #expect(end?.says("a loop is touched by its own thread alone") == true)
  }
}

extension TestServer {
  /// The server of its loop, on a thread where it must not be.
  fileprivate func strayed() -> LoopBound {
    let found = Mutex<LoopBound?>(nil)
    onEachServer { server in
      let bound = LoopBound(value: server)
      found.withLock { $0 = bound }
    }
    guard let bound = found.withLock({ $0 }) else { fatalError("the loop has no server") }
    return bound
  }
}

extension ExitTest.Result {
  fileprivate func says(_ message: String) -> Bool {
    String(decoding: standardErrorContent, as: UTF8.self).contains(message)
  }
}
