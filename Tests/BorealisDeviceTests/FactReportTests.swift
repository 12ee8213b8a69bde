import BorealisProtocol
import Testing

/// Facts of the device: what the server asks for, and when it is sent.
@Suite struct FactReportTests {
  private static let login = [
    "send HELLO 1-7", "send LOGIN 1a2b3c4d5e6f7081923 background heartbeat=0", "logged in pending=0",
  ]

  /// A device in a session; what it did until then is taken.
  private static func device() throws -> ScenarioDevice {
    var device = ScenarioDevice()
    device.register("")
    try device.app("start")
    device.connected()
    device.receive(try ScenarioFrames.bytes(["HELLO_OK", "LOGIN_OK"]))
    _ = device.drain()
    return device
  }

  private static func receive(_ frames: String..., by device: inout ScenarioDevice) throws -> [String] {
    device.receive(try ScenarioFrames.bytes(frames))
    return device.drain()
  }

  private static func app(_ text: String, of device: inout ScenarioDevice) throws -> [String] {
    try device.app(text)
    return device.drain()
  }

  private static func reconnect(_ device: inout ScenarioDevice, _ frames: [String]) throws -> [String] {
    device.receive(try ScenarioFrames.bytes(["GO_AWAY 4"]))
    device.wait(0)
    _ = device.drain()
    device.connected()
    device.receive(try ScenarioFrames.bytes(["HELLO_OK", "LOGIN_OK"] + frames))
    return device.drain()
  }

  @Test func `Only what the server asks for is sent, and again when it changes`() throws {
    var device = try Self.device()
    #expect(try Self.app("facts 1=de 5=Pixel", of: &device) == [])
    #expect(
      try Self.receive("FACTS_WANTED 17", by: &device) == ["send SET_FACTS 1 1=de,5=Pixel"])
    #expect(try Self.receive("RESULT 1 0", by: &device) == ["result 1 0"])
    #expect(try Self.app("facts 1=de 2=Asia/Shanghai", of: &device) == [])
    #expect(try Self.app("facts 1=en", of: &device) == ["send SET_FACTS 2 1=en"])
    // One report at a time.
    #expect(try Self.app("facts 5=Tablet", of: &device) == [])
    #expect(
      try Self.receive("RESULT 2 0", by: &device) == ["result 2 0", "send SET_FACTS 3 5=Tablet"])
    #expect(try Self.receive("RESULT 3 0", by: &device) == ["result 3 0"])
    #expect(try Self.app("facts 5=", of: &device) == ["send SET_FACTS 4 5="])
  }

  @Test func `What the server knows is not sent after a reconnection`() throws {
    var device = try Self.device()
    _ = try Self.app("facts 1=de", of: &device)
    _ = try Self.receive("FACTS_WANTED 1", by: &device)
    _ = try Self.receive("RESULT 1 0", by: &device)
    #expect(try Self.reconnect(&device, ["FACTS_WANTED 1"]) == Self.login)
    #expect(try Self.app("facts 1=en", of: &device) == ["send SET_FACTS 2 1=en"])
    // Without a result it is not known.
    #expect(try Self.reconnect(&device, ["FACTS_WANTED 1"]) == Self.login + ["send SET_FACTS 3 1=en"])
    // What is asked for ends with the connection.
    #expect(try Self.reconnect(&device, []) == Self.login)
    #expect(try Self.app("facts 1=fr", of: &device) == [])
  }

  @Test func `What the server asked for no longer is reported anew`() throws {
    var device = try Self.device()
    _ = try Self.app("facts 1=de 5=Pixel", of: &device)
    _ = try Self.receive("FACTS_WANTED 17", by: &device)
    _ = try Self.receive("RESULT 1 0", by: &device)
    #expect(try Self.receive("FACTS_WANTED 16", by: &device) == [])
    #expect(try Self.receive("FACTS_WANTED 17", by: &device) == ["send SET_FACTS 2 1=de"])
  }

  @Test func `A report that fails for the moment is sent again after a pause`() throws {
    var device = try Self.device()
    _ = try Self.app("facts 1=de", of: &device)
    _ = try Self.receive("FACTS_WANTED 1", by: &device)
    #expect(try Self.receive("RESULT 1 6014", by: &device) == ["result 1 6014"])
    device.wait(4999)
    #expect(device.drain() == [])
    device.wait(1)
    #expect(device.drain() == ["send SET_FACTS 2 1=de"])
    #expect(try Self.receive("RESULT 2 6017", by: &device) == ["result 2 6017"])
    #expect(try Self.app("facts 1=de", of: &device) == [], "the server would refuse it again")
  }

  @Test func `A value that is too long is not sent`() throws {
    var device = try Self.device()
    _ = try Self.receive("FACTS_WANTED 17", by: &device)
    let sent = try Self.app("facts 1=de 5=" + String(repeating: "x", count: 65), of: &device)
    #expect(sent == ["send SET_FACTS 1 1=de"])
  }
}
