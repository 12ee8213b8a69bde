import PushBase
import PushDomain

/// What an app has set up for callbacks, as it is stored.
public struct CallbackSettingRow: Sendable, Equatable {
  /// The app.
  public var app: AppID
  /// The URL of callbacks; nil if only pushes with their own URL have callbacks.
  public var url: String?
  /// The event types.
  public var types: CallbackTypes
  /// How callbacks to that address look.
  public var format: CallbackFormat
  /// The secret, sealed.
  public var secret: [UInt8]
  /// The previous secret, sealed, and until when it signs too.
  public var old: (secret: [UInt8], until: Timestamp)?
  /// When anything of it was changed.
  public var changedAt: Timestamp

  /// All fields.
  public init(
    app: AppID, url: String?, types: CallbackTypes, format: CallbackFormat = .borealis, secret: [UInt8],
    old: (secret: [UInt8], until: Timestamp)? = nil, changedAt: Timestamp
  ) {
    self.app = app
    self.url = url
    self.types = types
    self.format = format
    self.secret = secret
    self.old = old
    self.changedAt = changedAt
  }

  /// Compares all fields.
  public static func == (left: Self, right: Self) -> Bool {
    left.app == right.app && left.url == right.url && left.types == right.types
      && left.format == right.format && left.secret == right.secret
      && left.old?.secret == right.old?.secret && left.old?.until == right.old?.until
      && left.changedAt == right.changedAt
  }
}

/// The callback settings of a push.
public struct PushCallbackRow: Sendable, Equatable {
  /// The push.
  public var id: MessageID
  /// Where to; nil for the app's own address.
  public var url: String?
  /// The event types.
  public var types: CallbackTypes
  /// The push's label.
  public var sendno: Int64
  /// What is echoed: a JSON object in UTF-8, empty for nothing.
  public var params: [UInt8]

  /// All fields.
  public init(id: MessageID, url: String?, types: CallbackTypes, sendno: Int64, params: [UInt8]) {
    self.id = id
    self.url = url
    self.types = types
    self.sendno = sendno
    self.params = params
  }
}

/// Events for many registrations, written step by step.
public struct CallbackBulkRow: Sendable, Equatable {
  /// Its number.
  public var id: Int64
  /// The push.
  public var push: MessageID
  /// Its app.
  public var app: AppID
  /// When it happened.
  public var at: Timestamp
  /// The event types.
  public var types: CallbackTypes
  /// By which way, if that is known.
  public var channel: ChannelID?
  /// The registrations, in the router's encoding; nil for all that will not get the push.
  public var targets: [UInt8]?
  /// The first registration without an event yet.
  public var next: RegistrationNumber

  /// All fields but those that the database gives.
  public init(
    push: MessageID, app: AppID, at: Timestamp, types: CallbackTypes, channel: ChannelID? = nil,
    targets: [UInt8]? = nil
  ) {
    self.init(
      id: 0, push: push, app: app, at: at, types: types, channel: channel, targets: targets,
      next: RegistrationNumber(0))
  }

  init(
    id: Int64, push: MessageID, app: AppID, at: Timestamp, types: CallbackTypes, channel: ChannelID?,
    targets: [UInt8]?, next: RegistrationNumber
  ) {
    self.id = id
    self.push = push
    self.app = app
    self.at = at
    self.types = types
    self.channel = channel
    self.targets = targets
    self.next = next
  }
}

/// The state of a batch. The raw values are stored in the database.
public enum CallbackState: UInt8, Sendable, CaseIterable {
  /// It is still to be sent, or sent again.
  case pending = 0
  /// The app server has taken it.
  case done = 1
  /// It was tried for too long.
  case failed = 2
}

/// A batch of events for one address, as it is stored.
public struct CallbackBatchRow: Sendable, Equatable {
  /// Its number, never used again.
  public var id: Int64
  /// The app whose events these are.
  public var app: AppID
  /// Scheme, host and port of the address; empty for the app's own.
  public var origin: String
  /// The address; nil for the app's own.
  public var url: String?
  /// How many events.
  public var events: Int
  /// When they happened.
  public var createdAt: Timestamp
  /// When it is given up.
  public var endsAt: Timestamp
  /// Its state.
  public var state: CallbackState
  /// How often it was sent.
  public var attempts: Int
  /// When it is sent next, if it is pending.
  public var nextAt: Timestamp
  /// The latest answer's status, 0 for none.
  public var status: Int
  /// Why the latest attempt failed.
  public var error: String?
  /// When it was taken or given up.
  public var doneAt: Timestamp?
  /// What is sent; empty in lists.
  public var body: [UInt8]
}

/// A destination of an app that waits for batches.
public struct CallbackDestination: Hashable, Sendable {
  /// The app.
  public let app: AppID
  /// Scheme, host and port; empty for the app's own address.
  public let origin: String

  /// Both fields.
  public init(app: AppID, origin: String) {
    self.app = app
    self.origin = origin
  }
}

/// An app for which batches wait.
public struct CallbackSender: Hashable, Sendable {
  /// The app.
  public let app: AppID
  /// Its account; nil for an app that is gone.
  public let account: AccountID?

  /// Both fields.
  public init(app: AppID, account: AccountID?) {
    self.app = app
    self.account = account
  }
}

/// What came of sending a batch once.
public struct CallbackAttemptRow: Sendable, Equatable {
  /// When it was over.
  public var at: Timestamp
  /// How long it took.
  public var milliseconds: Int64
  /// The answer's status, 0 for none.
  public var status: Int
  /// Why it failed, nil for a success.
  public var error: String?

  /// All fields.
  public init(at: Timestamp, milliseconds: Int64, status: Int, error: String?) {
    self.at = at
    self.milliseconds = milliseconds
    self.status = status
    self.error = error
  }
}
