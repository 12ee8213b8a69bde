import Testing

@testable import DeviceGateway

@Suite struct SessionSizeTests {
  /// Each of a million idle connections has one. What only WebSocket connections need stands elsewhere.
  @Test func `A session stays small`() {
    #expect(MemoryLayout<Session>.stride <= 120)
  }
}
