import BorealisBase
import BorealisCrypto
import Channels
import Core
import Model
import PushTesting
import Synchronization
import Testing

@testable import API
@testable import Storage

/// Getui's report on what an iPhone gets, through its API: which channel is given what, under each strategy.
@Suite(.timeLimit(.minutes(2))) struct NumberedCaseTests {
  /// Notes what a channel to Apple is given.
  private final class Apple: ServiceChannel {
    let info = ChannelInfo.apns
    private let taken = Mutex<[MessageID]>([])

    func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
      content.apnsOffers(strategy, .production)
    }
    func deliver(_ push: ChannelPush) { taken.withLock { $0.append(push.id) } }
    func count(_ id: MessageID) -> Int { taken.withLock { $0.count { $0 == id } } }
  }

  /// Notes what is sent to devices that are connected.
  private final class Connections: DeviceGateway {
    private let sent = Mutex<[MessageID]>([])

    func send(_ message: HomeMessage, to loop: UInt16) { note(message) }
    func sendToAll(_ message: HomeMessage) { note(message) }
    private func note(_ message: HomeMessage) {
      switch message {
      case .push(let push, _, _), .broadcast(let push, _): sent.withLock { $0.append(push.id) }
      default: break
      }
    }
    func count(_ id: MessageID) -> Int { sent.withLock { $0.count { $0 == id } } }
  }

  @Test(arguments: NumberedCase.strategies)
  func `Each of the twenty cases is routed as the table says`(strategy: Int) async throws {
    let world = try await GetuiWorld()
    let (apple, connections) = (Apple(), Connections())
    world.router.add(apple)
    world.router.add(connections)
    for (place, row) in NumberedCase.all.enumerated() {
      let expected = row.outcome(strategy: strategy)
      let phone = try await world.router.newDevice(
        in: world.app, platform: .ios, environment: .production,
        token: [UInt8](repeating: UInt8(place + 1), count: 32))
      if row.app != .notRunning {
        let location = Location(loop: 0, slot: UInt32(place + 1), generation: 1)
        let login = world.app.directory.login(
          phone.id, secretHash: SHA256.digest128(phone.secret), at: location,
          isForeground: row.app == .foreground, since: UInt32(clamping: world.clock.now().seconds))
        guard case .accepted = login else {
          Issue.record("\(row): \(login)")
          continue
        }
      }
      let id = try await push(to: phone.id, strategy, row, world)
      #expect(apple.count(id) == (expected.asksApple ? 1 : 0), "\(row): Apple")
      // Of an app in the background the connection itself waits until it is in the foreground.
      if row.app != .background {
        let isSentNow = row.app == .foreground && expected.getsMessage
        #expect(connections.count(id) == (isSentNow ? 1 : 0), "\(row): sent at once")
      }
      if row.isStopped { #expect(await world.ask("DELETE", "/task/RASA_\(id.text)").code == 0, "\(row)") }
      // What is sent at once waits for the acknowledgement.
      let seconds = UInt32(clamping: world.clock.now().seconds)
      let waiting = world.app.directory.pending(
        for: phone.number, after: MessageID(0), at: seconds, limit: 10
      ).ids
      #expect(waiting == (expected.getsMessage ? [id] : []), "\(row): handed over when the app is opened")
    }
  }

  /// To a tag of its own, so that it can be stopped.
  private func push(
    to id: RegistrationID, _ strategy: Int, _ row: NumberedCase, _ world: GetuiWorld
  ) async throws -> MessageID {
    let tags = #"{"custom_tag":["\#(row.name)"]}"#
    #expect(await world.ask("POST", "/user/custom_tag/cid/\(id.text)", tags).code == 0)
    let body = """
      {"request_id":"request-\(row.name)-0","audience":{"fast_custom_tag":"\(row.name)"},
       "settings":{"strategy":{"default":\(strategy)}},"push_message":{"transmission":"data"},
       "push_channel":{"ios":{"aps":{"alert":{"title":"Hello","body":"Hello"}}}}}
      """
    let answer = await world.ask("POST", "/push/fast_custom_tag", body)
    let task = answer.json["data"]?["taskid"]?.string.flatMap { GetuiTaskID($0) }
    return try #require(task, "\(row): \(answer.message)").id
  }
}
