import BorealisBase
import Model
import Storage

/// What apps prove themselves with at a channel's service, for the people who hand it in and look after it.
/// The console has pages for these, and the channel has everything that is said on them, in both languages:
/// one more channel needs no change of the console. Safe to use from any thread.
///
/// Times in texts are in `Router.zone`, as on all pages.
package protocol ChannelCredentials: AnyObject, Sendable {
  /// The channel.
  var info: ChannelInfo { get }
  /// What pages say of the channel.
  var texts: CredentialTexts { get }
  /// The forms for credentials that the channel takes, in the order of the page.
  var forms: [CredentialForm] { get }
  /// Former names of the channel in addresses of the console, which still lead to it.
  var formerNames: [String] { get }
  /// All credentials of some apps, for each app the oldest first.
  func stored(of apps: [AppID]) async -> Result<[StoredCredential], StorageError>
  /// Checks credentials and stores them sealed, all or none, and gives a receipt for each when they are in
  /// use. `CredentialForm.problem` has found nothing wrong with them. Called on a thread that may wait, but
  /// not for the service's answer.
  ///
  /// `entry` goes into the audit log in the same commit; the channel sets its `target`: which credential it
  /// is, also for those who read that when it is gone. Without an entry a program hands them in: then one
  /// that is stored already is no error.
  func install(
    _ inputs: [CredentialInput], for app: App, noting entry: AuditRow?,
    reply: @escaping @Sendable (Result<[CredentialReceipt], CredentialInput.Refusal>) -> Void)
  /// What the service says of a credential that was just taken. Waits some seconds for it.
  func answer(to receipt: CredentialReceipt, for app: App) async -> CredentialAnswer
  /// Changes a credential, with an entry in the audit log as for `install`, and returns when the change is in
  /// use; false if the app has no such credential, or the channel no such change.
  func change(
    _ id: String, of app: App, _ change: CredentialChange, noting entry: AuditRow
  ) async -> Result<Bool, StorageError>
  /// Has the service asked about a credential now; nil if the app has no such credential in use. Waits some
  /// seconds.
  func check(_ id: String, of app: App) async -> CredentialAnswer?
  /// What somebody has to look at: a credential that ends soon, pushes that do not leave. Called for each
  /// page of an app, and every few seconds for each app.
  func alerts(of app: App) -> [ChannelAlert]
}

/// What a channel's credentials need not have.
extension ChannelCredentials {
  /// The channel was never called otherwise.
  package var formerNames: [String] { [] }
  /// The service is not asked.
  package func answer(to receipt: CredentialReceipt, for app: App) async -> CredentialAnswer {
    CredentialAnswer(Phrase("The credential is stored.", "凭证已保存。"), isBad: false)
  }
  /// Nothing can be changed.
  package func change(
    _ id: String, of app: App, _ change: CredentialChange, noting entry: AuditRow
  ) async -> Result<Bool, StorageError> { .success(false) }
  /// The service cannot be asked.
  package func check(_ id: String, of app: App) async -> CredentialAnswer? { nil }
  /// There is nothing to look at.
  package func alerts(of app: App) -> [ChannelAlert] { [] }
}

/// What pages say of a channel that apps need credentials for.
package struct CredentialTexts: Sendable {
  /// What to do first, an imperative: "Upload an APNs key".
  package let step: Phrase
  /// What that is good for, in a sentence.
  package let stepText: Phrase
  /// How it is said that there is no credential, in a few words: "no key or certificate".
  package let none: Phrase
  /// What is said of a push to devices that only this channel reaches while their app is closed, as long as
  /// there is no credential: of one device and of several, with `{}` for "2 iPhones". Nil for others than
  /// iOS, where apps keep their direct connection.
  package let unreached: (one: Phrase, several: Phrase)?

  package init(
    step: Phrase, stepText: Phrase, none: Phrase, unreached: (one: Phrase, several: Phrase)? = nil
  ) {
    self.step = step
    self.stepText = stepText
    self.none = none
    self.unreached = unreached
  }
}

/// What somebody has to look at about an app's channel.
package struct ChannelAlert: Sendable, Equatable {
  package let channel: ChannelInfo
  package let kind: TroubleKind
  /// Which of the channel's services it is about; empty if the channel has only one.
  package let service: String
  /// What it is, in a sentence.
  package let phrase: Phrase

  package init(_ kind: TroubleKind, of channel: ChannelInfo, service: String = "", _ phrase: Phrase) {
    (self.kind, self.channel, self.service, self.phrase) = (kind, channel, service, phrase)
  }
}

extension PluggedChannels {
  /// Of the channels that apps need credentials for.
  package var credentials: [any ChannelCredentials] { services.compactMap(\.channel.credentials) }

  /// Of the channel with a name, or that had it formerly.
  package func credentials(named name: String) -> (any ChannelCredentials)? {
    let known = credentials
    return known.first { $0.info.name == name } ?? known.first { $0.formerNames.contains(name) }
  }

  /// What somebody has to look at about an app.
  package func alerts(of app: App) -> [ChannelAlert] { credentials.flatMap { $0.alerts(of: app) } }

  /// Has a channel check credentials and store them: all of them, or none. Reading them takes some time: not
  /// for a loop.
  package func install(
    _ inputs: [CredentialInput], of channel: ChannelID, for app: App,
    reply: @escaping @Sendable (Result<[CredentialReceipt], CredentialInput.Refusal>) -> Void
  ) {
    guard let channelCredentials = credentials.first(where: { $0.info.id == channel }) else {
      let text = Phrase("The server has no channel for it.", "服务器没有对应的推送通道。")
      reply(.failure(.refused(CredentialProblem(text))))
      return
    }
    channelCredentials.checkAndInstall(inputs, for: app, noting: nil, reply: reply)
  }
}

extension ChannelCredentials {
  /// Checks what was handed in against its form, then installs it.
  package func checkAndInstall(
    _ inputs: [CredentialInput], for app: App, noting entry: AuditRow?,
    reply: @escaping @Sendable (Result<[CredentialReceipt], CredentialInput.Refusal>) -> Void
  ) {
    let forms = forms
    for input in inputs {
      let form = forms.first { $0.name == input.form }
      let unknown = CredentialProblem(Phrase("There is no such form.", "没有该表单。"))
      if let problem = form.map({ $0.problem(in: input) }) ?? unknown {
        reply(.failure(.refused(problem)))
        return
      }
    }
    install(inputs, for: app, noting: entry, reply: reply)
  }
}
