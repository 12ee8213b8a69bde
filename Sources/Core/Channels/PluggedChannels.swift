import BorealisBase
import Model
import Storage
import Synchronization

/// The channels of a router, in the order in which they were plugged in; passthrough is the first.
package final class PluggedChannels: Sendable {
  private struct State {
    var all: [Plugged<any Channel>] = []
    /// Those to services.
    var services: [Plugged<any ServiceChannel>] = []
    /// Those that carry some of certain parts, of which there are few combinations: looked up for each push.
    var carrying: [PushParts: [Plugged<any ServiceChannel>]] = [:]
  }

  private let state: Mutex<State>

  init(_ passthrough: any Channel) {
    state = Mutex(State(all: [Plugged(passthrough, passthrough.info)]))
  }

  var all: [Plugged<any Channel>] { state.withLock { $0.all } }

  var services: [Plugged<any ServiceChannel>] { state.withLock { $0.services } }

  func add(_ channel: any ServiceChannel) {
    let info = channel.info
    state.withLock { state in
      state = State(
        all: state.all + [Plugged(channel as any Channel, info)],
        services: state.services + [Plugged(channel, info)])
    }
  }

  func removeAll() { state.withLock { $0 = State() } }

  /// What the channels are.
  package var infos: [ChannelInfo] { all.map(\.channel.info) }

  /// What a channel is, also one that this program does not have.
  package func info(_ id: ChannelID) -> ChannelInfo {
    all.first { $0.id == id }?.channel.info ?? .unknown(id)
  }

  /// The channel to a service; nil if there is none.
  func serviceChannel(_ id: ChannelID) -> (any ServiceChannel)? { services.first { $0.id == id }?.channel }

  /// What makes contents for them when a push is accepted.
  package var renderers: [any ContentRenderer] { services.compactMap(\.channel.renderer) }

  /// Why a push is not accepted: a channel's service would refuse it. Nil if nothing is wrong.
  func fault(_ request: AcceptRequest, in app: App) -> APIError? {
    if let fault = fault(request.push.content, request, in: app) { return fault }
    for translation in request.push.translations {
      guard let fault = fault(translation.content, request, in: app) else { continue }
      return fault.saying("languages.\(translation.language.text): \(fault.message)")
    }
    return nil
  }

  private func fault(_ said: PushContent, _ request: AcceptRequest, in app: App) -> APIError? {
    var content = said
    content.overrides = request.overrides
    let strategy = request.push.options.strategy
    for plugged in carrying(content.parts) {
      if let fault = plugged.channel.fault(content, strategy, in: app) { return fault }
    }
    return nil
  }

  /// What they could bring of a request.
  func offers(_ request: AcceptRequest, in app: App) -> [ChannelOffer] {
    let offers = offers(request.push.content, request.push.options.strategy, in: app)
    return request.channel.map { only in offers.filter { $0.leg.channel == only } } ?? offers
  }

  /// What they could bring of a content.
  func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    var offers: [ChannelOffer] = []
    for plugged in carrying(content.parts) {
      offers += plugged.channel.offers(content, strategy, in: app)
    }
    return offers
  }

  /// Those that carry some of the parts of a content: the others need not be asked.
  func carrying(_ parts: PushParts) -> [Plugged<any ServiceChannel>] {
    state.withLock { state in
      if let known = state.carrying[parts] { return known }
      let found = state.services.filter { !$0.parts.isDisjoint(with: parts) }
      state.carrying[parts] = found
      return found
    }
  }

  /// What takes the receipts of a channel's service, by the channel's name; nil if there are none.
  package func receipts(of name: String) -> (any ChannelReceipts)? {
    services.first { $0.channel.info.name == name }?.channel.receipts
  }

  /// The status of a channel's services for an app.
  package func status(of id: ChannelID, for app: App) -> [ChannelStatus] {
    all.first { $0.id == id }?.channel.status(of: app) ?? []
  }

  /// The status of the services of all channels for an app.
  package func status(of app: App) -> [ChannelStatus] { all.flatMap { $0.channel.status(of: app) } }

  /// What a word with which a channel's service refused a push means; nil if no channel knows it.
  package func meaning(of reason: String) -> Phrase? {
    services.lazy.compactMap { $0.channel.meaning(of: reason) }.first
      ?? ReceiptReason(rawValue: reason)?.meaning.cause.text
  }

  // MARK: All channels

  /// Notifies them that the tokens of some registrations have changed.
  func tokensChanged(of numbers: [RegistrationNumber], in app: App) {
    for plugged in services { plugged.channel.tokensChanged(of: numbers, in: app) }
  }

  /// A device that runs this can be reached over the direct connection since now.
  func reached(_ number: RegistrationNumber, on platform: Platform, in app: App) {
    for plugged in services where plugged.channel.info.platforms.contains(platform) {
      plugged.channel.reached(number, in: app)
    }
  }

  /// A push is being recalled: returns what can no longer be.
  func hold(_ id: MessageID, of app: App, by holder: PushHolder) -> ChannelHold {
    services.reduce(into: ChannelHold()) { all, plugged in
      let one = plugged.channel.hold(id, of: app, by: holder)
      all.answered.merge(one.answered) { $0.union($1) }
      all.inFlight.merge(one.inFlight) { $0.union($1) }
    }
  }

  /// A push was not recalled after all by a holder.
  func resume(_ id: MessageID, of app: App, by holder: PushHolder) {
    for plugged in services { plugged.channel.resume(id, of: app, by: holder) }
  }

  /// A push that some channels have delivered, or whose services have accepted it, was recalled: devices are
  /// to remove it.
  func recall(_ id: MessageID, of app: App, audience: NumberSet, sentOver channels: Set<ChannelID>) {
    for plugged in all where channels.contains(plugged.id) {
      plugged.channel.recall(id, of: app, audience: audience)
    }
  }

  /// A push that some channels' services have accepted was replaced by another one with its own routes.
  func overridden(_ id: MessageID, of app: App, by plan: RoutePlan, sentOver channels: Set<ChannelID>) {
    guard !channels.isEmpty else { return }
    let own = plan.own.numbers
    for plugged in services where channels.contains(plugged.id) {
      let here = plan[DeliveryLeg(plugged.id)].numbers
      plugged.channel.overridden(id, of: app, own: own, here: here)
    }
  }

  /// A push was recalled; returns for how many targets it waited.
  func withdraw(_ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp) -> Int {
    all.reduce(0) { $0 + $1.channel.withdraw(id, of: app, status, at: now) }
  }
}

/// A channel of a router, with its number and what it carries at hand.
struct Plugged<C: Sendable>: Sendable {
  let id: ChannelID
  let parts: PushParts
  let channel: C

  init(_ channel: C, _ info: ChannelInfo) {
    (id, parts) = (info.id, info.parts)
    self.channel = channel
  }
}
