import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// A channel that the console does not know is shown as all others are.
@Suite struct ChannelPageTests {
  @Test func `One more channel has its line, its note and its place in the list of targets`() async throws {
    let world = try ConsoleWorld()
    let browser = try await world.owner()
    let app = try await world.app(of: .standard)
    for _ in 0..<2 { _ = try await world.device(in: app) }
    let folder = TemporaryFolder()
    let channel = FileChannel(world.router, world.store, path: folder.file("notifications"), capacity: 1)
    world.router.add(channel)
    for number in 0..<2 as Range<UInt32> {
      let word = PushToken(TokenSlot(channel.info.id, kind: 1), .only, Array("word\(number)".utf8))
      try await awaitCallback { done in
        world.router.registrations.setTokens([word], of: RegistrationNumber(number), in: app) {
          done($0)
        }
      }.get()
    }
    let body = #"{"platform":"all","audience":"all","notification":{"alert":"hello"}}"#
    let request = AcceptRequest(try PushRequest.parse(try parseJSON(Array(body.utf8))))
    let id = try await world.router.acceptance.accept(request, for: app).get().id
    var isPending = true
    while isPending {
      isPending = try await world.store.change { transaction throws(StorageError) in
        try transaction.deliveries.targets(of: id)?.pendingChannels.isEmpty == false
      }
    }

    let path = "/console/apps/\(app.key.text)/pushes/\(id.text)"
    let page = await browser.open(path).text
    #expect(page.contains("<th scope=\"row\">File</th>"))
    // Nor does its row of the table.
    let row = page.firstMatch(of: /<th scope="row">File<\/th>(.*?)<\/tr>/)?.output.1 ?? ""
    #expect(row.contains("data-label=\"Accepted\">1</td>") && row.contains("data-label=\"Delivered\">–</td>"))
    #expect(page.contains("1 through File") && page.contains("File confirms that it accepted"))
    #expect(page.contains("<code>FileFull</code>"))
    // The file takes a notification, and says nothing of whether anybody has it.
    let funnel = page.matches(of: /<li><span>(\w+)<\/span>.*?<strong>(.*?)<\/strong>/).map {
      "\($0.output.1) \($0.output.2)"
    }
    #expect(funnel == ["Targets 2", "Sent 1", "Accepted 1", "Delivered –", "Shown 0", "Tapped 0"])
    #expect(page.contains("Accepted <strong>1</strong>") && page.contains("Delivered <strong>0</strong>"))
    #expect(page.contains("<span class=\"state accepted\">accepted</span>"))
    let list = await browser.open("/console/apps/\(app.key.text)/pushes").text
    #expect(list.contains("data-label=\"Delivered\">– <span class=\"quiet\">accepted: 1</span></td>"))
    let file = String(decoding: await browser.call("GET", "\(path)/targets.csv").body, as: UTF8.self)
    #expect(file.split(whereSeparator: \.isNewline).filter { $0.contains("File") }.count == 2, "\(file)")
    #expect(file.contains(",accepted,,File,"))
    let why = await browser.open(
      "\(path)/why?registration_id=\(app.directory.identity(RegistrationNumber(1))?.id.text ?? "")")
    #expect(
      why.text.contains("FileFull, file") && why.text.contains("Accepted by the channel"), "\(why.text)")
  }
}
