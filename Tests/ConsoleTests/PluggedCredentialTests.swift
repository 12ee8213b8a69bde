import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// Credentials of a channel of which the console knows nothing: one file of `PushTesting` has its form, its
/// words and its checks.
@Suite struct PluggedCredentialTests {
  private struct Scene {
    let world: ConsoleWorld
    let clock = ManualClock()
    let app: App
    let admin: Browser
    let folder = TemporaryFolder()
    let channel: FileChannel
    let base: String
    var settings: String { "\(base)/settings" }
    var page: String { "\(base)/settings/credentials/file" }

    init() async throws {
      world = try ConsoleWorld(time: clock)
      let account = try await world.account("some")
      app = try await world.app(of: account)
      admin = try await world.member(.admin, of: account, name: "ada")
      channel = FileChannel(
        world.router, world.store, path: folder.file("lines"), acceptsCredentials: true, time: clock)
      world.router.add(channel)
      base = "/console/apps/\(app.key.text)"
      _ = await admin.open(base)
    }

    func hand(_ fields: [String: String]) async -> (status: Int, text: String) {
      await admin.submit("\(page)/file", ["secret": "hush", "days": ""].merging(fields) { $1 })
    }

    func targets(_ action: String) async throws -> [String] {
      let account = app.account
      return try await world.store.look { transaction throws(StorageError) in
        try transaction.audit.entries(.account(account), before: nil, limit: 50)
          .map(\.entry).filter { $0.action == action }.map(\.target)
      }
    }
  }

  /// The problem under a field.
  private static func problem(_ phrase: String, at field: String) -> String {
    "<p class=\"problem\" id=\"\(field)-problem\">\(phrase)</p>"
  }

  @Test func `Its form is on its page, and the list of channels leads there`() async throws {
    let scene = try await Scene()
    let list = await scene.admin.open("\(scene.settings)/credentials").text
    #expect(list.contains("href=\"\(scene.page)\"") && list.contains("/settings/credentials/apns\""))
    #expect(list.split(separator: "<span class=\"state over\">Not set up</span>").count == 3)
    let page = await scene.admin.open(scene.page).text
    #expect(page.contains("<h2>Name the file</h2>") && page.contains("One line a notification."))
    #expect(page.contains("action=\"\(scene.page)/file\""))
    #expect(page.contains("<label for=\"file-path\">Path</label>"))
    #expect(page.contains("aria-describedby=\"file-path-hint\""))
    #expect(page.contains("name=\"secret\" type=\"password\"") && !page.contains("enctype"))
    _ = await scene.admin.submit("/console/me/profile", ["name": "ada", "language": "zh"])
    #expect(await scene.admin.open(scene.page).text.contains("<h2>指定文件</h2>"))
  }

  @Test func `What is wrong stands at its field, and what was typed stays`() async throws {
    let scene = try await Scene()
    let long = String(repeating: "x", count: CredentialField.longestLine + 1)
    for (fields, text) in [
      (["path": " "], Self.problem("Fill in this field.", at: "file-path")),
      (["path": "lines"], Self.problem("The path does not begin with a slash.", at: "file-path")),
      (["path": "/a", "secret": ""], Self.problem("Fill in this field.", at: "file-secret")),
      (["path": "/a", "days": long], Self.problem("Enter at most 1000 bytes.", at: "file-days")),
      (["path": "/dev/full"], "role=\"alert\">This file is full.</p>"),
    ] {
      let answer = await scene.hand(fields)
      #expect(answer.status == 422 && answer.text.contains(text), "\(text)")
    }
    let typed = await scene.hand(["path": "<i>", "secret": "hush"]).text
    #expect(typed.contains("value=\"&lt;i&gt;\"") && !typed.contains("hush"))
    #expect(await scene.admin.open(scene.page).text.contains("<p class=\"quiet\">no file</p>"))
    #expect(try await scene.targets("credential.add").isEmpty)
    #expect(await scene.admin.submit("\(scene.page)/other", ["path": "/a"]).status == 404)
    #expect(await scene.admin.submit("\(scene.settings)/credentials/none/file").status == 404)
  }

  @Test func `A credential is listed, asked about, paused, replaced and removed`() async throws {
    let scene = try await Scene()
    let (path, other) = (scene.folder.file("lines"), scene.folder.file("others"))
    let taken = await scene.hand(["path": path])
    #expect(taken.status == 200)
    #expect(taken.text.contains("Notifications go to \(path). The file can be written."))
    #expect(taken.text.contains("<dt>Path</dt><dd>\(path)</dd>") && taken.text.contains(">in use<"))
    #expect(!taken.text.contains("hush"))
    #expect(await scene.admin.submit("\(scene.page)/1/check").text.contains("The file can be written."))
    #expect(await scene.admin.submit("\(scene.page)/1/pause").text.contains(">paused<"))
    #expect(await scene.admin.submit("\(scene.page)/1/resume").text.contains("in use again"))
    #expect(taken.text.contains("href=\"\(scene.page)?replace=1#form-file\""))
    let replacing = await scene.admin.open("\(scene.page)?replace=1").text
    #expect(replacing.contains("name=\"replaces\" value=\"1\"") && replacing.contains("value=\"\(path)\""))
    // What is wrong with it does not make it one more.
    #expect(await scene.hand(["path": "x", "replaces": "1"]).text.contains("name=\"replaces\" value=\"1\""))
    let replaced = await scene.hand(["path": other, "replaces": "1"]).text
    #expect(replaced.contains("<dd>\(other)</dd>") && !replaced.contains("<dd>\(path)</dd>"))
    #expect(await scene.admin.submit("\(scene.page)/1/remove").status == 404)
    #expect(await scene.admin.submit("\(scene.page)/2/remove").text.contains("The credential was removed."))
    #expect(await scene.admin.submit("\(scene.page)/2/check").status == 404)
    #expect(try await scene.targets("credential.add").sorted() == ["file \(path)", "file \(other)"].sorted())
    for action in ["credential.pause", "credential.resume", "credential.remove"] {
      #expect(try await scene.targets(action).count == 1, "\(action)")
    }
  }

  @Test func `What ends is in the calendar, and above the pages of the app in time`() async throws {
    let scene = try await Scene()
    let path = scene.folder.file("lines")
    #expect(await scene.hand(["path": path, "days": "100"]).status == 200)
    let calendar = await scene.admin.open("/console/credentials").text
    #expect(calendar.contains("expires in 100 days") && calendar.contains("<td>File</td>"))
    #expect(calendar.contains(path) && calendar.contains("href=\"\(scene.page)\""))
    #expect(await !scene.admin.open("\(scene.base)/devices").text.contains("notice warn"))
    scene.clock.advance(seconds: 90 * 86_400)
    let admin = try await scene.world.member(.admin, of: scene.app.account, name: "bea")
    let page = await admin.open(scene.base).text
    #expect(page.contains("href=\"\(scene.page)\">The secret of the file expires in 10 days.</a>"))
    #expect(await admin.open("\(scene.base)/devices").text.contains("href=\"\(scene.page)\">View</a>"))
    #expect(await admin.open("/console/").text.contains("File needs attention in one of your apps."))
    #expect(await admin.open("\(scene.settings)/credentials").text.contains("needs attention"))
  }

  @Test func `Connecting it is one of the first steps, and the overview says how it stands`() async throws {
    let scene = try await Scene()
    let fresh = await scene.admin.open(scene.base).text
    #expect(fresh.contains("0 of 6 done") && fresh.contains("href=\"\(scene.page)\">Name a file</a>"))
    #expect(fresh.contains("Upload an APNs key") && fresh.contains("Not set up: APNs, File"))
    #expect(await scene.hand(["path": scene.folder.file("lines")]).status == 200)
    let after = await scene.admin.open(scene.base).text
    #expect(after.contains("1 of 6 done") && after.contains("<strong>File</strong>"))
    #expect(after.contains("Not used since the server started"))
  }

  @Test func `Older addresses of a channel lead to its page, and their forms work`() async throws {
    let scene = try await Scene()
    let moved = await scene.admin.call("GET", "\(scene.settings)/apple?notice=saved")
    #expect(moved.status == 303)
    #expect(moved.headers["location"] == "\(scene.settings)/credentials/apns?notice=saved")
    #expect(await scene.admin.call("GET", "\(scene.settings)/nothing").status == 404)
    _ = await scene.admin.open("\(scene.settings)/apple")
    let key = try ES256Key.generate()
    let taken = await scene.admin.upload(
      "\(scene.settings)/apple/key", ["team_id": "T5Z8W1R6PD", "topic": "com.example.app"],
      files: [("key", "AuthKey_ABC123DEFG.p8", Array(key.pem.utf8))])
    #expect(taken.status == 200 && taken.text.contains("The key ABC123DEFG is for com.example.app"))
    let id = try #require(taken.text.firstMatch(of: /credentials\/apns\/(?<id>\d+)\/pause/)?.id)
    let paused = await scene.admin.submit("\(scene.settings)/apple/\(id)/pause").text
    #expect(paused.contains("<p class=\"bad\">by ada</p>"))
  }

  @Test func `Only one channel needs no list`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    let page = "/console/apps/\(app.key.text)/settings/credentials"
    #expect(await owner.call("GET", page).headers["location"] == "\(page)/apns")
  }
}
