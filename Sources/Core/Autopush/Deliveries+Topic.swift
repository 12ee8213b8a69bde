import BorealisBase
import Model

extension Deliveries {
  /// Waiting pushes that are read at a time, and how often.
  private static let (topicPage, topicPages) = (64, 16)

  /// The message of Web Push that waits for a browser under the topic of another one; nil if there is none
  /// among the 1,024 oldest that wait.
  package func waiting(
    underTopicOf message: WebPushMessage, for number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<MessageID?, DeviceFailure>) -> Void
  ) {
    find(message, for: number, in: app, after: MessageID(0), pages: Self.topicPages, reply)
  }

  private func find(
    _ message: WebPushMessage, for number: RegistrationNumber, in app: App, after id: MessageID, pages: Int,
    _ reply: @escaping @Sendable (Result<MessageID?, DeviceFailure>) -> Void
  ) {
    let page = app.directory.pending(
      for: number, after: id, at: UInt32(clamping: time.now().seconds), limit: Self.topicPage)
    guard let last = page.through ?? page.ids.last, pages > 0 else { return reply(.success(nil)) }
    contents(of: page.ids) { [self] result in
      switch result {
      case .failure(let failure): reply(.failure(failure))
      case .success(let found):
        let old = found.first { _, push in
          let other = WebPushMessage(push.content, WebPushMessage.platform)
          return other?.topic == message.topic && other?.subscription == message.subscription
        }
        if let old { return reply(.success(old.0)) }
        find(message, for: number, in: app, after: last, pages: pages - 1, reply)
      }
    }
  }
}
