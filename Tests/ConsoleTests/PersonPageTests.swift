import BorealisBase
import Core
import HTTP
import PushTesting
import Storage
import Testing

@testable import Console

/// The page with what is stored of a person.
@Suite struct PersonPageTests {
  private struct Scene {
    let world: ConsoleWorld
    let account: AccountID
    let app: App
    let admin: Browser
    let device: RegistrationID
    var path: String { "/console/apps/\(app.key.text)/persons" }

    init() async throws {
      world = try ConsoleWorld()
      account = try await world.account("some")
      app = try await world.app(of: account)
      admin = try await world.member(.admin, of: account, name: "ada")
      device = try await world.device(in: app)
      let number = try #require(app.directory.find(device))
      _ = try await awaitCallback { [world, app] in
        world.router.registrations.change(
          DeviceChange(alias: .set("alice <1>")), of: number, in: app, reply: $0)
      }.get()
      _ = await admin.open("/console/")
    }

    func audit() async -> String {
      await admin.open("/console/accounts/\(account.rawValue)/audit").text
    }
  }

  @Test func `A person is erased once the name was typed again`() async throws {
    let scene = try await Scene()
    let (admin, path) = (scene.admin, scene.path)
    let devices = await admin.open("/console/apps/\(scene.app.key.text)/devices").text
    #expect(devices.contains("href=\"\(path)\""))
    let empty = await admin.open(path).text
    #expect(!empty.contains("\(path)/erase") && !empty.contains("\(path)/data"))
    let page = await admin.open("\(path)?name=alice%20%3C1%3E").text
    #expect(page.contains("Devices: 1") && page.contains("\(path)/erase") && page.contains("\(path)/data"))

    for confirmation in ["", "alice", "ALICE <1>"] {
      let refused = await admin.submit(
        "\(path)/erase", ["name": "alice <1>", "confirmation": confirmation])
      #expect(refused.status == 422 && refused.text.contains(Words.nameDiffers.english), "\(confirmation)")
      #expect(refused.text.contains("Devices: 1"))
    }
    #expect(scene.app.directory.find(scene.device) != nil)
    #expect(await !scene.audit().contains("title=\"device.erase\""))

    let done = await admin.submit("\(path)/erase", ["name": "alice <1>", "confirmation": "alice <1>"])
    #expect(done.status == 200 && done.text.contains(Words.personErased.english))
    #expect(scene.app.directory.find(scene.device) == nil)
    let audit = await scene.audit()
    #expect(audit.split(separator: "title=\"device.erase\"").count == 2)
    #expect(!audit.contains("alice"), "the log says that somebody was erased, not whom")
    #expect(await admin.open("\(path)?name=alice%20%3C1%3E").text.contains("Devices: 0"))
  }

  @Test func `A registration ID means one device`() async throws {
    let scene = try await Scene()
    let other = try await scene.world.device(in: scene.app)
    #expect(await scene.admin.open("\(scene.path)?name=\(scene.device.text)").text.contains("Devices: 1"))
    let fields = ["name": scene.device.text, "confirmation": scene.device.text]
    #expect(await scene.admin.submit("\(scene.path)/erase", fields).status == 200)
    #expect(scene.app.directory.find(scene.device) == nil && scene.app.directory.find(other) != nil)
  }

  @Test func `What is stored is downloaded as JSON`() async throws {
    let scene = try await Scene()
    let id = try await ConsoleTests.push(scene.admin, scene.app, to: scene.device)
    let file = await scene.admin.call("GET", "\(scene.path)/data?name=alice%20%3C1%3E")
    #expect(file.status == 200 && file.headers["content-type"] == "application/json")
    #expect(file.headers["content-disposition"] == "attachment; filename=\"person.json\"")
    let device = try parseJSON(file.body)["registrations"]?.array?.first
    #expect(device?["registration_id"]?.string == scene.device.text && device?["alias"] == "alice <1>")
    #expect(device?["pushes"]?.array?.map { $0["msg_id"]?.string } == [id])
    let nobody = await scene.admin.call("GET", "\(scene.path)/data?name=nobody")
    #expect(try parseJSON(nobody.body)["registrations"] == [])
    for query in ["", "?name=", "?name=\(String(repeating: "a", count: 256))"] {
      #expect(await scene.admin.call("GET", "\(scene.path)/data\(query)").status == 404, "\(query)")
    }
    #expect(await scene.admin.post("\(scene.path)/erase", ["confirmation": ""]).status == 404)
  }

  @Test func `The page is in Chinese, too`() async throws {
    let scene = try await Scene()
    _ = await scene.admin.open("/console/me")
    _ = await scene.admin.submit("/console/me/profile", ["name": "ada", "language": "zh"])
    let page = await scene.admin.open("\(scene.path)?name=\(scene.device.text)").text
    for words in [Words.persons, Words.findPerson, Words.personData, Words.downloadJSON, Words.erasePerson] {
      #expect(page.contains(words.chinese) && !page.contains(">\(words.english)<"), "\(words.english)")
    }
    #expect(page.contains("设备数：1"))
    let fields = ["name": scene.device.text, "confirmation": scene.device.text]
    #expect(
      await scene.admin.submit("\(scene.path)/erase", fields).text.contains(Words.personErased.chinese))
    #expect(await scene.audit().contains("清除用户数据"))
  }
}
