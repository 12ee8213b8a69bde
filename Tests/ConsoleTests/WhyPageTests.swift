import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// The pages that say why a push did not arrive, and what is known of a device.
@Suite struct WhyPageTests {
  private struct Scene {
    let world: ConsoleWorld
    let app: App
    let viewer: Browser
    let devices: [RegistrationID]
    var base: String { "/console/apps/\(app.key.text)" }
  }

  private static func scene(_ count: Int) async throws -> Scene {
    let world = try ConsoleWorld()
    let account = try await world.account("mine")
    let app = try await world.app(of: account)
    var devices: [RegistrationID] = []
    for _ in 0..<count { devices.append(try await world.device(in: app)) }
    let viewer = try await world.member(.viewer, of: account, name: "vera")
    return Scene(world: world, app: app, viewer: viewer, devices: devices)
  }

  private static func change(_ change: DeviceChange, of id: RegistrationID, in scene: Scene) async throws {
    let number = try #require(scene.app.directory.find(id))
    let result = await awaitCallback { done in
      scene.world.router.registrations.change(change, of: number, in: scene.app) {
        done($0)
      }
    }
    try result.get()
  }

  private static func push(
    to ids: [RegistrationID], platforms: PlatformSet = .all, in scene: Scene
  ) async throws -> MessageID {
    let content = PushContent(variants: [
      ContentVariant(platforms: .all, notification: Array(#"{"alert":"The <sky>"}"#.utf8))
    ])
    let result = await awaitCallback { done in
      let audience = Audience.filter(AudienceFilter(registrationIDs: ids.map(\.text)))
      let request = AcceptRequest(
        PushRequest(platforms: platforms, audience: audience, content: content),
        object: Array(#"{"audience":{"registration_id":["x"]}}"#.utf8))
      scene.world.router.acceptance.accept(request, for: scene.app) { done($0) }
    }
    return try result.get().id
  }

  @Test func `The page asks for a device, and says what was wrong and what to do`() async throws {
    let scene = try await Self.scene(2)
    let id = try await Self.push(to: [scene.devices[0]], in: scene)
    let path = "\(scene.base)/pushes/\(id.text)/why"
    let empty = await scene.viewer.open(path)
    #expect(
      empty.status == 200 && empty.text.contains("The &lt;sky&gt;") && !empty.text.contains("class=\"steps\"")
    )
    let missed = await scene.viewer.open("\(path)?registration_id=\(scene.devices[1].text)").text
    for text in [
      WhyConclusion.failed.text, WhyPoint.audience.text, WhyCause.notNamed.text,
      WhyRemedy.changeAudience.text,
    ] {
      #expect(missed.contains(text.english.split(separator: "'")[0]), "\(text)")
    }
    #expect(
      missed.contains("class=\"failed\"") && missed.contains("/v1/pushes/\(id.text)/why?registration_id="))
    let waits = await scene.viewer.open("\(path)?registration_id=\(scene.devices[0].text)").text
    #expect(waits.contains(WhyConclusion.waiting.text.english) && waits.contains("class=\"waiting\""))
    let outsider = await scene.viewer.open("\(path)?registration_id=nobody").text
    #expect(outsider.contains(WhyCause.registrationUnknown.text.english))
    #expect(await scene.viewer.open("\(scene.base)/pushes/1/why").status == 404)
    let evil = await scene.viewer.open("\(path)?registration_id=%3Cscript%3E").text
    #expect(!evil.contains("<script>") && evil.contains("&lt;script&gt;"))
  }

  @Test func `Names of the program stand out in what is to be done`() async throws {
    let scene = try await Self.scene(1)
    let phone = try await scene.world.device(in: scene.app, platform: .ios)
    let id = try await Self.push(to: scene.devices, platforms: PlatformSet(.android), in: scene)
    let page = await scene.viewer.open("\(scene.base)/pushes/\(id.text)/why?registration_id=\(phone.text)")
      .text
    #expect(page.contains("<code>platform</code>") && !page.contains("`"))
  }

  @Test func `It is there in Chinese`() async throws {
    let scene = try await Self.scene(1)
    let id = try await Self.push(to: scene.devices, in: scene)
    _ = await scene.viewer.open("/console/me")
    _ = await scene.viewer.submit("/console/me/profile", ["name": "Vera", "language": "zh"])
    let page = await scene.viewer.open(
      "\(scene.base)/pushes/\(id.text)/why?registration_id=\(scene.devices[0].text)"
    ).text
    #expect(page.contains("为什么没收到？") && page.contains(WhyConclusion.waiting.text.chinese))
    let device = await scene.viewer.open("\(scene.base)/devices/\(scene.devices[0].text)").text
    #expect(device.contains("最近的推送") && device.contains("最近事件"))
  }

  @Test func `An alias of several devices lets one choose`() async throws {
    let scene = try await Self.scene(2)
    let id = try await Self.push(to: scene.devices, in: scene)
    for device in scene.devices {
      try await Self.change(DeviceChange(alias: .set("anna")), of: device, in: scene)
    }
    let page = await scene.viewer.open("\(scene.base)/pushes/\(id.text)/why?registration_id=anna").text
    #expect(scene.devices.allSatisfy { page.contains("why?registration_id=\($0.text)") })
  }

  @Test func `A device's page says how far it looked for pushes, and goes on from there`() async throws {
    let scene = try await Self.scene(2)
    var ids: [MessageID] = []
    for _ in 0..<13 { ids.append(try await Self.push(to: [scene.devices[0]], in: scene)) }
    let path = "\(scene.base)/devices/\(scene.devices[0].text)"
    let first = await scene.viewer.open(path).text
    let second = await scene.viewer.open("\(path)?before=\(ids[3].text)").text
    for (place, id) in ids.enumerated() {
      #expect(first.contains("/pushes/\(id.text)\"") == (place >= 3))
      #expect(second.contains("/pushes/\(id.text)\"") == (place < 3))
    }
    #expect(first.contains("href=\"?before=\(ids[3].text)\"") && first.contains("Searched back to"))
    #expect(!second.contains("Searched back to"))
  }

  @Test func `Devices are found, a tag's by pages`() async throws {
    let scene = try await Self.scene(52)
    for device in scene.devices {
      try await Self.change(DeviceChange(tags: .set(["red"])), of: device, in: scene)
    }
    let devices = "\(scene.base)/devices"
    let single = await scene.viewer.call("GET", "\(devices)?q=\(scene.devices[0].text)")
    #expect(single.headers["location"] == "\(devices)/\(scene.devices[0].text)")
    // The last one that was connected is first.
    let first = await scene.viewer.open("\(devices)?q=red").text
    #expect(first.contains("<h2>52 devices</h2>") && first.contains(scene.devices[2].text))
    #expect(!first.contains(scene.devices[1].text))
    let next = try #require(first.firstRange(of: "href=\"?q=red&amp;after="))
    let after = first[next.upperBound...].prefix { $0 != "\"" }
    let second = await scene.viewer.open("\(devices)?q=red&after=\(after)").text
    #expect(second.contains(scene.devices[0].text) && !second.contains("rel=\"next\""))
    #expect(await scene.viewer.open("\(devices)?q=nothing").text.contains("No device has this"))
    #expect(await scene.viewer.open("\(devices)/0123456789abcdef012").status == 404)
    #expect(await scene.viewer.open("\(devices)/x").status == 404)
  }

  @Test func `The list shows devices by platform, connection, token and segment`() async throws {
    let scene = try await Self.scene(0)
    let (router, devices) = (scene.world.router, "\(scene.base)/devices")
    #expect(await scene.viewer.open(devices).text.contains("No device has registered yet."))
    func register(_ platform: Platform, _ environment: APNsEnvironment? = nil) async throws -> RegistrationID
    {
      let token = environment.map { PushToken($0, [UInt8](repeating: 0xab, count: 31) + [$0.rawValue]) }
      return try await awaitCallback { done in
        router.registrations.register(
          in: scene.app, platform: platform, fingerprint: [], tokens: token.map { [$0] } ?? [],
          appVersion: "2.1", reply: done)
      }.get().id
    }
    let android = try await register(.android)
    let (sold, tried) = (try await register(.ios, .production), try await register(.ios, .sandbox))
    try await Self.change(
      DeviceChange(tags: .set(["a", "b", "c", "d"]), alias: .set("ivan")), of: tried, in: scene)
    func listed(_ query: String) async -> [RegistrationID] {
      let page = await scene.viewer.open("\(devices)?\(query)").text
      return [android, sold, tried].filter { page.contains("/devices/\($0.text)\"") }
    }
    #expect(await listed("") == [android, sold, tried])
    #expect(await listed("platform=ios") == [sold, tried])
    #expect(await listed("token=apns") == [sold, tried])
    #expect(await listed("platform=ios&token=apns:sandbox") == [tried])
    #expect(await listed("connection=online").isEmpty)
    #expect(await listed("connection=offline&platform=android") == [android])
    #expect(await listed("platform=x&token=y&connection=z") == [android, sold, tried])
    let segment = try await awaitCallback {
      router.segments.add("a", .tag("a"), to: scene.app, reply: $0)
    }.get()
    #expect(await listed("segment=\(segment.id)") == [tried])
    #expect(await scene.viewer.open("\(devices)?segment=99").text.contains("no longer exists"))
    let row = await scene.viewer.open("\(devices)?token=apns:sandbox").text.part(
      from: "<tbody>", to: "</tbody>")
    for text in ["ivan", "iOS", "2.1", "a, b, c", "+1", "(Sandbox)"] {
      #expect(row.contains(text), "\(text)")
    }
    #expect(!row.contains("abab") && !row.contains("/push?"), "neither a token nor what a viewer may not do")
  }

  @Test func `A device's page shows what is known, and links to why`() async throws {
    let scene = try await Self.scene(1)
    let id = scene.devices[0]
    try await Self.change(DeviceChange(tags: .set(["red"]), alias: .set("anna")), of: id, in: scene)
    let push = try await Self.push(to: [id], in: scene)
    let page = await scene.viewer.open("\(scene.base)/devices/\(id.text)").text
    for text in ["anna", "<strong>red</strong>", "tag set: red", "alias set: anna", "The &lt;sky&gt;"] {
      #expect(page.contains(text), "\(text)")
    }
    #expect(page.contains("/pushes/\(push.text)/why?registration_id=\(id.text)"))
    #expect(!page.contains("/push?registration_id="))
  }

  @Test func `A token is shown shortened, with its environment`() async throws {
    let scene = try await Self.scene(0)
    let token = [UInt8](repeating: 0xab, count: 30) + [0xcd, 0xef]
    let result = await awaitCallback { done in
      scene.world.router.registrations.register(
        in: scene.app, platform: .ios, fingerprint: [7],
        tokens: [PushToken(.sandbox, token)], appVersion: "2.1"
      ) { done($0) }
    }
    let id = try result.get().id
    let found = await scene.viewer.open("\(scene.base)/devices?q=\(Hex.encode(token))").text
    #expect(found.contains(id.text) && found.contains("abababab…cdef") && found.contains("Sandbox"))
    #expect(!found.contains(Hex.encode(token)))
    let again = await awaitCallback { done in
      scene.world.router.registrations.register(
        in: scene.app, platform: .ios, fingerprint: [7], tokens: [], appVersion: ""
      ) { done($0) }
    }
    let gone = await scene.viewer.open("\(scene.base)/devices/\(id.text)").text
    let successor = try again.get().id
    #expect(gone.contains("This registration no longer exists") && gone.contains(successor.text))
  }
}
