import BorealisBase
import Model

extension Deliveries {
  /// Waiting pushes that are read at a time, and how often.
  private static let (page, pages) = (64, 16)

  /// The messages with a topic that wait for a browser, oldest first. What waits is read only if the app does
  /// not know the browser's topics yet.
  package func waiting(
    under topic: WebPushTopic, for number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<[MessageID], DeviceFailure>) -> Void
  ) {
    if let known = app.directory.webPushTopics.messages(under: topic, of: number) {
      let alive = app.directory.waiting(known, for: number, at: UInt32(clamping: time.now().seconds))
      return reply(.success(known.filter { alive.contains($0) }))
    }
    webPush(waitingFor: number, in: app) { result in
      reply(
        result.map { found in
          app.directory.webPushTopics.learn(found, of: number)
          return found.filter { $0.topic == topic }.map(\.id)
        })
    }
  }

  /// Recalls what waits for subscriptions that have ended with their tags, which belonged to the
  /// registration.
  func recallWebPush(
    endedBy tags: [String], of number: RegistrationNumber, in app: App, done: @escaping @Sendable () -> Void
  ) {
    let tokens = tags.compactMap { EndpointToken($0) }
    // Other devices may have tags of this form.
    guard !tokens.isEmpty, let secret = app.directory.secretHash(of: number) else { return done() }
    let ended = Set(tokens.filter { $0.isMade(with: secret) }.map(\.subscription))
    guard !ended.isEmpty else { return done() }
    webPush(waitingFor: number, in: app) { [self] result in
      guard case .success(let found) = result else { return done() }
      let ids = found.filter { ended.contains($0.topic.subscription) }.map(\.id)
      recall(ids[...], in: app) { _ in done() }
    }
  }

  /// The messages of Web Push among the 1,024 oldest pushes that wait for a browser, oldest first.
  private func webPush(
    waitingFor number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<[WaitingWebPush], DeviceFailure>) -> Void
  ) {
    read([], for: number, in: app, after: MessageID(0), pages: Self.pages, reply)
  }

  private func read(
    _ known: [WaitingWebPush], for number: RegistrationNumber, in app: App, after id: MessageID, pages: Int,
    _ reply: @escaping @Sendable (Result<[WaitingWebPush], DeviceFailure>) -> Void
  ) {
    let page = app.directory.pending(
      for: number, after: id, at: UInt32(clamping: time.now().seconds), limit: Self.page)
    guard let last = page.through ?? page.ids.last, pages > 0 else { return reply(.success(known)) }
    contents(of: page.ids) { [self] result in
      switch result {
      case .failure(let failure): reply(.failure(failure))
      case .success(let found):
        let more = found.compactMap { id, push in
          WebPushMessage(push.content, WebPushMessage.platform).map {
            WaitingWebPush(id: id, topic: $0.topic)
          }
        }
        read(known + more, for: number, in: app, after: last, pages: pages - 1, reply)
      }
    }
  }
}
