import BorealisBase
import PushTesting
import Testing

@testable import borealis

/// A renewal in this process, by clocks that the test sets.
@Suite struct CertificateRenewalTests {
  private let folder = TemporaryFolder()

  @Test func `A wall clock that is set back delays no attempt`() throws {
    let clock = ManualClock()
    // Nobody is there.
    let directory = "https://\(FixedPort.address())/"
    let settings = try ServeSettings(
      Input(
        ServeCommand.self,
        [
          "--data", folder.path, "--http", "127.0.0.1:0", "--device", "127.0.0.1:0", "--log-level", "error",
          "--acme-domain", "localhost", "--acme-accept-terms", "--acme-directory", directory,
        ]))
    let renewal = try #require(try CertificateRenewal(settings, Certificates(settings), clock))
    renewal.start()
    defer { renewal.stop() }
    func fails(_ count: Int64) -> Bool {
      RunningProgram.eventually {
        clock.advance(seconds: 1)
        renewal.tick()
        return renewal.failures == count
      }
    }
    #expect(fails(1))
    clock.setWall(minutes: -5_000_000)
    clock.advance(seconds: 850)
    #expect(fails(2))
  }
}
