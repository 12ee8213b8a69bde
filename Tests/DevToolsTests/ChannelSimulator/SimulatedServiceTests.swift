import Channels
import Model
import Testing

@testable import DevTools

@Suite struct SimulatedServiceTests {
  /// Google's service and browsers' have paths of their own, and Apple's a simulator of its own.
  @Test func `Each maker's channel has a simulated service, and none is left over`() {
    let others: Set<ChannelID> = [.apns, .fcm, .webPush]
    let makers = ChannelRegistry.infos.filter { !others.contains($0.id) }
    #expect(Set(FCMSimulator.services.keys) == Set(makers.map(\.name)))
  }
}
