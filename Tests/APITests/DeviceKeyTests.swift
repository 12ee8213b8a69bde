import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

/// Public keys of devices, and keys that are shared with them.
@Suite struct DeviceKeyTests {
  private static let id = ContentKeyID(0x0123_4567_89ab_cdef)

  private func setKey(
    _ kind: DeviceKeyKind, _ bytes: [UInt8], of id: RegistrationID, in world: GatewayWorld, _ app: App
  ) async throws -> Result<Void, DeviceFailure> {
    let number = try #require(app.directory.find(id))
    return await awaitCallback { done in
      world.router.deviceKeys.set(kind, bytes, of: number, in: app) { done($0) }
    }
  }

  private func fetch(
    _ key: ContentKeyID, by id: RegistrationID, in world: GatewayWorld, _ app: App
  ) async throws -> Result<[UInt8], DeviceFailure> {
    let number = try #require(app.directory.find(id))
    return await awaitCallback { done in
      world.router.deviceKeys.shared(key, with: number, in: app) { done($0) }
    }
  }

  @Test func keysOfAnAudienceInPages() async throws {
    let world = try await GatewayWorld()
    let ids = try await world.registerMany(5)
    for id in [ids[0], ids[2], ids[4]] {
      _ = try await setKey(.x25519, Array(0..<48), of: id, in: world, world.app).get()
    }
    _ = try await setKey(.sm2, Array(0..<81), of: ids[2], in: world, world.app).get()
    var (found, next): ([JSONValue], Int64?) = ([], 0)
    var pages = 0
    while let from = next {
      let answer = await world.call("GET", "/v1/devices/keys?limit=2&from=\(from)")
      #expect(answer.status == 200)
      found += answer.json?["keys"]?.array ?? []
      next = answer.json?["next"]?.int64
      pages += 1
      try #require(pages <= 3)
    }
    #expect(pages == 3)
    #expect(found.map { $0["registration_id"]?.string } == [ids[0].text, ids[2].text, ids[4].text])
    #expect(found.map { $0["kind"]?.string } == ["x25519", "sm2", "x25519"])
    #expect(found[0]["point"]?.string == Base64.encode(Array(0..<32)))
    #expect(found[0]["auth"]?.string == Base64.encode(Array(32..<48)))
    let one = await world.call("GET", "/v1/devices/keys?registration_id=\(ids[4].text),\(ids[1].text)")
    #expect(one.json?["keys"]?.array?.map { $0["registration_id"]?.string } == [ids[4].text])
    _ = try await setKey(.x25519, [], of: ids[4], in: world, world.app).get()
    let gone = await world.call("GET", "/v1/devices/keys?registration_id=\(ids[4].text)")
    #expect(gone.json?["keys"]?.array == [])
  }

  @Test func anotherAppSeesNothing() async throws {
    let world = try await GatewayWorld()
    let other = try await world.addApp()
    let id = try await world.register()
    _ = try await setKey(.x25519, Array(0..<48), of: id, in: world, world.app).get()
    let answer = await world.call("GET", "/v1/devices/keys?registration_id=\(id.text)", as: other)
    #expect(answer.json?["keys"]?.array == [])
    let shared = await world.call(
      "PUT", "/v1/keys/\(Self.id.text)", "{\"devices\":{\"\(id.text)\":\"AQID\"}}", as: other)
    #expect(shared.json?["stored"]?.int64 == 0)
    #expect(shared.json?["unknown"]?.array?.map(\.string) == [id.text])
    #expect(try await fetch(Self.id, by: id, in: world, world.app) == .failure(.unknownKey))
  }

  @Test func sharedKeysAreOneDevicesOwn() async throws {
    let world = try await GatewayWorld()
    let ids = try await world.registerMany(2)
    #expect(try await fetch(Self.id, by: ids[0], in: world, world.app) == .failure(.unknownKey))
    for text in ["AQID", "BAUG"] {
      let answer = await world.call(
        "PUT", "/v1/keys/\(Self.id.text)", "{\"devices\":{\"\(ids[0].text)\":\"\(text)\"}}")
      #expect(answer.status == 200 && answer.json?["stored"]?.int64 == 1)
    }
    #expect(try await fetch(Self.id, by: ids[0], in: world, world.app) == .success([4, 5, 6]))
    #expect(try await fetch(Self.id, by: ids[1], in: world, world.app) == .failure(.unknownKey))
    // A device keeps the newest ones only.
    for number in 1...DeviceKeys.keptForDevice {
      world.clock.advance(milliseconds: 1000)
      let key = ContentKeyID(UInt64(number))
      _ = await world.call("PUT", "/v1/keys/\(key.text)", "{\"devices\":{\"\(ids[0].text)\":\"AQID\"}}")
    }
    #expect(try await fetch(Self.id, by: ids[0], in: world, world.app) == .failure(.unknownKey))
    #expect(try await fetch(ContentKeyID(1), by: ids[0], in: world, world.app) == .success([1, 2, 3]))
  }

  @Test(arguments: [
    ("GET", "/v1/devices/keys?limit=0", ""), ("GET", "/v1/devices/keys?limit=1001", ""),
    ("GET", "/v1/devices/keys?from=-1", ""), ("GET", "/v1/devices/keys?alias=", ""),
    ("PUT", "/v1/keys/0123", "{\"devices\":{\"1a2b3c4d5e6f7081923\":\"AQID\"}}"),
    ("PUT", "/v1/keys/0123456789abcdef", "{}"), ("PUT", "/v1/keys/0123456789abcdef", "{\"devices\":{}}"),
    ("PUT", "/v1/keys/0123456789abcdef", "{\"devices\":{\"x\":\"AQID\"}}"),
    ("PUT", "/v1/keys/0123456789abcdef", "{\"devices\":{\"1a2b3c4d5e6f7081923\":7}}"),
    ("PUT", "/v1/keys/0123456789abcdef", "{\"devices\":{\"1a2b3c4d5e6f7081923\":\"\"}}"),
  ])
  func faults(method: String, target: String, body: String) async throws {
    let world = try await GatewayWorld()
    #expect(await world.call(method, target, body).outcome == "400 7002")
  }
}

extension Result<[UInt8], DeviceFailure> {
  fileprivate static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.success(let left), .success(let right)): left == right
    case (.failure(let left), .failure(let right)): left == right
    default: false
    }
  }
}
