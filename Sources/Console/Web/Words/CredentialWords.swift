import BorealisBase
import Core
import Model

/// What pages say of credentials, whatever channel they are for.
enum CredentialWords {
  /// When a credential ends, and in how many days.
  static func end(_ call: PageCall, _ end: Timestamp?) -> HTML {
    guard let end else { return HTML(escaping: call(Words.endsNever)) }
    let mark = end <= call.now.adding(seconds: CredentialNotice.seconds) ? "bad" : "quiet"
    return "\(call.moment(end)) <span class=\"\(mark)\">\(call(.ending(end, at: call.now)))</span>"
  }

  /// The state in a word.
  static func state(_ call: PageCall, _ credential: StoredCredential) -> HTML {
    let hasEnded = credential.expiresAt.map { $0 <= call.now } ?? false
    return switch credential.state {
    case .paused: call.state(.failed, Words.statePaused)
    case _ where hasEnded: call.state(.failed, Words.stateEnded)
    case .standby: call.state(.over, Words.stateFallback)
    case .inUse: call.state(.done, Words.stateInUse)
    }
  }
}

/// How one of a channel's services stands for an app, for people.
struct ChannelState: Sendable {
  private let status: ChannelStatus
  /// The service; nil for a channel that has only one.
  private let name: Phrase?
  /// How it is said that there is no credential.
  private let none: Phrase

  /// Of all services of a channel; empty if nothing is known of them.
  static func all(of info: ChannelInfo, in channels: PluggedChannels, for app: App) -> [ChannelState] {
    let none = channels.credentials(named: info.name)?.texts.none ?? Words.noCredential
    return channels.status(of: info.id, for: app).map { status in
      let service = info.services.first { $0.name == status.service }
      return ChannelState(
        status: status, name: service.map { Phrase($0.english, $0.chinese) }, none: none)
    }
  }

  var hasCredential: Bool { status.hasCredential }

  private var mark: StateMark {
    guard hasCredential else { return .over }
    if status.problem != nil { return .failed }
    return switch status.health {
    case .unused: .over
    case .connected, .idle: .done
    case .unreachable: .failed
    }
  }

  /// What is the matter, in a few words.
  private func phrase(_ call: PageCall) -> Phrase {
    guard hasCredential else { return none }
    return status.problem ?? status.health.phrase(in: call.zone)
  }

  /// "Sandbox: Connected since …", behind a dot.
  func html(_ call: PageCall) -> HTML {
    mark.html((name.map { "\(call($0))\(call(Words.colon))" } ?? "") + call(phrase(call)))
  }
}
