import BorealisBase
import Model
import Synchronization

/// A subscription, and the topic under which a message replaces others of it.
package struct WebPushTopic: Hashable, Sendable {
  /// The subscription.
  package let subscription: SubscriptionID
  /// Nil for a message that replaces nothing.
  package let name: String?

  /// Takes both.
  package init(subscription: SubscriptionID, name: String?) {
    (self.subscription, self.name) = (subscription, name)
  }
}

/// A message of Web Push that waits for a browser.
struct WaitingWebPush: Sendable {
  let id: MessageID
  let topic: WebPushTopic
}

/// Which messages with topics may wait for an app's browsers, so that what waits need not be read for each
/// new message with a topic. Safe to use from any thread, for each browser by one caller at a time.
package final class WebPushTopics: Sendable {
  private struct State: Sendable {
    /// Of a browser that is in it all messages are known.
    var browsers: [RegistrationNumber: [WebPushTopic: [MessageID]]] = [:]
    /// Topics of all browsers, and browsers.
    var count = 0

    mutating func set(_ topics: [WebPushTopic: [MessageID]]?, of number: RegistrationNumber) {
      if let old = browsers.removeValue(forKey: number) { count -= old.count + 1 }
      guard let topics, topics.count <= WebPushTopics.mostOfBrowser else { return }
      if count + topics.count >= WebPushTopics.most { (browsers, count) = ([:], 0) }
      browsers[number] = topics
      count += topics.count + 1
    }
  }

  /// What is remembered: of a browser, and of all in about 10 MB. Browsers over it are forgotten, which costs
  /// another look at what waits for them.
  private static let (mostOfBrowser, most) = (256, 50_000)

  private let state = Mutex(State())

  /// The messages that may wait for a browser under a topic, oldest first; nil if that is not known.
  func messages(under topic: WebPushTopic, of number: RegistrationNumber) -> [MessageID]? {
    state.withLock { $0.browsers[number].map { $0[topic] ?? [] } }
  }

  /// All that waits for a browser has been read, oldest first.
  func learn(_ waiting: [WaitingWebPush], of number: RegistrationNumber) {
    let named = waiting.filter { $0.topic.name != nil }
    let topics = Dictionary(grouping: named, by: \.topic).mapValues { $0.map(\.id) }
    state.withLock { $0.set(topics, of: number) }
  }

  /// These are the messages that may wait for a browser under a topic from now on, oldest first.
  package func set(_ ids: [MessageID], under topic: WebPushTopic, of number: RegistrationNumber) {
    state.withLock { state in
      guard var topics = state.browsers[number] else { return }
      topics[topic] = ids
      state.set(topics, of: number)
    }
  }
}
