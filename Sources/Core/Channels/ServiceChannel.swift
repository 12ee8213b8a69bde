import BorealisBase
import Model
import Storage

/// A channel to a service outside: it offers what it could bring, and has credentials and a queue.
///
/// Its pushes are also in the database (`ChannelQueueRepository.open`): it may drop what it has no room for,
/// and resumes unanswered pushes after a restart. It reports results by `Deliveries.store(_:of:done:)`. It is
/// called as a `Channel` is.
package protocol ServiceChannel: Channel, ChannelLifecycle, ChannelFacts {
  /// Makes of a push what it sends, when the push is accepted; nil for a channel that sends what devices see.
  var renderer: (any ContentRenderer)? { get }
  /// The legs of a push that it can deliver, and to which devices. Called for each push with parts that it
  /// carries (`ChannelInfo.parts`), on any thread, so return quickly if there is nothing.
  func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer]
  /// Why a push of an app is not accepted: its service would refuse what the channel has to bring of it, such
  /// as a notification that is too large. Nil also if the channel brings nothing of it. Called as `offers`
  /// is.
  func fault(_ content: PushContent, _ strategy: Strategy, in app: App) -> APIError?
  /// Devices of a push that was accepted before are the channel's now too: they are stored with the others.
  func takeOver(_ id: MessageID, of app: App)
  /// Whether it has room for another such push of an app; until it has, they stay where they are. On any
  /// thread.
  func mayTakeOver(in app: App) -> Bool
  /// A push is being recalled or replaced: holds it until `withdraw`, or `resume` by all holders. Returns
  /// what can no longer be recalled.
  func hold(_ id: MessageID, of app: App, by holder: PushHolder) -> ChannelHold
  /// A push was not recalled after all by a holder. On any thread.
  func resume(_ id: MessageID, of app: App, by holder: PushHolder)
  /// A push was replaced, by one that goes to `own` over the direct connection and to `here` over this
  /// channel: takes its notification from devices where the new one does not take its place.
  func overridden(_ id: MessageID, of app: App, own: NumberSet, here: NumberSet)
  /// Registrations have other tokens than before, or none, or were removed: nothing is sent with tokens read
  /// before.
  func tokensChanged(of numbers: [RegistrationNumber], in app: App)
  /// A device of an app can be reached over the direct connection since now: what has waited too long for the
  /// channel's service goes there (`Deliveries.withdraw(_:in:from:for:done:)`). On any thread, for each
  /// login.
  func reached(_ number: RegistrationNumber, in app: App)
  /// Checks a token that a device reports, which has the form of its kind; returns the bytes that are stored.
  func check(_ token: [UInt8], in slot: TokenSlot) -> Result<[UInt8], ReportedTokenFault>
  /// What apps prove themselves with at its service; nil if it needs no credentials.
  var credentials: (any ChannelCredentials)? { get }
  /// Handles its service's receipts; nil if the service sends none.
  var receipts: (any ChannelReceipts)? { get }
}

/// What a channel to a service does while the server runs.
///
/// The server calls `start` once before the first push, `tick` about once a second, and at the end `close`
/// and, when it `isIdle` or has had its time, `finish`.
package protocol ChannelLifecycle {
  /// Reads its data of apps, and resumes pushes of an earlier run. `done` is called once, on any thread, when
  /// it can make offers; after an error the server does not start.
  func start(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void)
  /// The work of once a second. On any thread but one at a time.
  func tick()
  /// Starts nothing new; requests in flight continue. On any thread.
  func close()
  /// Whether all requests that were under way at `close` have ended. On any thread.
  var isIdle: Bool { get }
  /// Saves the answers that are known; the store is closed afterwards. Pushes without an answer are delivered
  /// again after the next start. On any thread.
  func finish()
  /// Learns what another process has changed about what the channel needs of apps, such as credentials;
  /// `done` is called when it is known, or cannot be read.
  func learnChanges(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void)
  /// An app is about to have another home: sends nothing more for it, and stores the answers that are known.
  /// What has none is sent again by the other home. On any thread.
  func release(_ app: App)
}

/// What a channel to a service says when somebody asks about a push or an app.
package protocol ChannelFacts {
  /// Which of a device's tokens it would bring a push to, whether the app has a credential or not; nil if it
  /// has nothing to bring of it.
  func slot(for content: PushContent) -> TokenSlot?
  /// How the app's credential for one of its services stands, for `none` that for any of them. On a reader's
  /// thread.
  func credential(
    of app: App, for service: ServiceID, in transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) -> WhyFacts.Credential
  /// Why nothing of a push is sent for a while to one of its services, for `none` to any of them; nil if that
  /// is not so. Any thread.
  func rest(of app: App, for service: ServiceID, _ content: PushContent?) -> WhyFacts.Rest?
  /// What its service would get of a push of an app that has a credential for it, and that lives for so long;
  /// nil if it has nothing to say of it. Any thread.
  func preview(of content: PushContent, in app: App, secondsToLive: Int) -> ChannelPreview?
  /// How devices announce what a leg of it brings of a push. Any thread.
  func tone(of content: PushContent, on leg: DeliveryLeg) -> PushTone
  /// What its service has said of an app's quota today; nil if nothing. On any thread.
  func quota(of app: App) -> ChannelQuota?
  /// What a word with which its service refused a push means, in a sentence; nil for one that it does not
  /// know.
  func meaning(of reason: String) -> Phrase?
}

/// What a service need not have.
extension ServiceChannel {
  /// It sends what devices see.
  package var renderer: (any ContentRenderer)? { nil }
  /// What the renderer has not refused can be sent.
  package func fault(_ content: PushContent, _ strategy: Strategy, in app: App) -> APIError? { nil }
  /// It has no devices of its own.
  package func takeOver(_ id: MessageID, of app: App) {}
  /// It keeps nothing of them.
  package func mayTakeOver(in app: App) -> Bool { true }
  /// Nothing is under way.
  package func hold(_ id: MessageID, of app: App, by holder: PushHolder) -> ChannelHold { ChannelHold() }
  /// Nothing rests.
  package func resume(_ id: MessageID, of app: App, by holder: PushHolder) {}
  /// Devices replace it themselves.
  package func overridden(_ id: MessageID, of app: App, own: NumberSet, here: NumberSet) {}
  /// Nothing depends on tokens.
  package func tokensChanged(of numbers: [RegistrationNumber], in app: App) {}
  /// Nothing waits for a service.
  package func reached(_ number: RegistrationNumber, in app: App) {}
  /// A token of the right form is good.
  package func check(_ token: [UInt8], in slot: TokenSlot) -> Result<[UInt8], ReportedTokenFault> {
    .success(token)
  }
  /// No credentials are needed.
  package var credentials: (any ChannelCredentials)? { nil }
  /// Nothing is told.
  package var receipts: (any ChannelReceipts)? { nil }
  /// Nothing has to be read.
  package func start(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void) { done(.success(())) }
  /// Nothing depends on the time.
  package func tick() {}
  /// Nothing has to be closed.
  package func close() {}
  /// No requests are awaited.
  package var isIdle: Bool { true }
  /// All answers are saved.
  package func finish() {}
  /// Nothing is known of apps.
  package func learnChanges(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void) {
    done(.success(()))
  }
  /// All answers are stored.
  package func release(_ app: App) { forget(app) }
  /// It brings nothing.
  package func slot(for content: PushContent) -> TokenSlot? { nil }
  /// No credential is needed.
  package func credential(
    of app: App, for service: ServiceID, in transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) -> WhyFacts.Credential { .notNeeded }
  /// It never rests.
  package func rest(of app: App, for service: ServiceID, _ content: PushContent?) -> WhyFacts.Rest? { nil }
  /// With a sound.
  package func tone(of content: PushContent, on leg: DeliveryLeg) -> PushTone { .loud }
  /// It says nothing before.
  package func preview(of content: PushContent, in app: App, secondsToLive: Int) -> ChannelPreview? { nil }
  /// Nothing is known.
  package func quota(of app: App) -> ChannelQuota? { nil }
  /// The words speak for themselves.
  package func meaning(of reason: String) -> Phrase? { nil }
}
