import BorealisBase
import Model

/// What an app has set up for callbacks, as it is stored.
package struct CallbackSettingRow: Sendable, Equatable {
  package var app: AppID
  /// The URL of callbacks; nil if only pushes with their own URL have callbacks.
  package var url: String?
  /// The event types.
  package var types: CallbackTypes
  /// How callbacks to that address look.
  package var format: CallbackFormat
  /// The secret, sealed.
  package var secret: [UInt8]
  /// The previous secret, sealed, and until when it signs too.
  package var old: (secret: [UInt8], until: Timestamp)?
  /// When anything of it was changed.
  package var changedAt: Timestamp

  package init(
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
  package static func == (left: Self, right: Self) -> Bool {
    left.app == right.app && left.url == right.url && left.types == right.types
      && left.format == right.format && left.secret == right.secret
      && left.old?.secret == right.old?.secret && left.old?.until == right.old?.until
      && left.changedAt == right.changedAt
  }
}

/// The callback settings of a push.
package struct PushCallbackRow: Sendable, Equatable {
  /// The push.
  package var id: MessageID
  /// Where to; nil for the app's own address.
  package var url: String?
  /// The event types.
  package var types: CallbackTypes
  /// The push's label.
  package var sendno: Int64
  /// What is echoed: a JSON object in UTF-8, empty for nothing.
  package var params: [UInt8]

  package init(id: MessageID, url: String?, types: CallbackTypes, sendno: Int64, params: [UInt8]) {
    self.id = id
    self.url = url
    self.types = types
    self.sendno = sendno
    self.params = params
  }
}

/// Events for many registrations, written step by step.
package struct CallbackBulkRow: Sendable, Equatable {
  /// Its number.
  package var id: Int64
  package var push: MessageID
  package var app: AppID
  /// When it happened.
  package var at: Timestamp
  /// The event types.
  package var types: CallbackTypes
  /// By which way, if that is known.
  package var channel: ChannelID?
  /// The registrations, in the router's encoding; nil for all that will not get the push.
  package var targets: [UInt8]?
  /// The first registration without an event yet.
  package var next: RegistrationNumber

  /// All fields but those that the database gives.
  package init(
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
package enum CallbackState: UInt8, Sendable, CaseIterable {
  /// It is still to be sent, or sent again.
  case pending = 0
  /// The app server has taken it.
  case done = 1
  /// It was tried for too long.
  case failed = 2
}

/// A batch of events for one address, as it is stored.
package struct CallbackBatchRow: Sendable, Equatable {
  /// Its number, never used again.
  package var id: Int64
  /// The app whose events these are.
  package var app: AppID
  /// Scheme, host and port of the address; empty for the app's own.
  package var origin: String
  /// The address; nil for the app's own.
  package var url: String?
  /// How many events.
  package var events: Int
  /// When they happened.
  package var createdAt: Timestamp
  /// When it is given up.
  package var endsAt: Timestamp
  package var state: CallbackState
  /// How often it was sent.
  package var attempts: Int
  /// When it is sent next, if it is pending.
  package var nextAt: Timestamp
  /// The latest answer's status, 0 for none.
  package var status: Int
  /// Why the latest attempt failed.
  package var error: String?
  /// When it was taken or given up.
  package var doneAt: Timestamp?
  /// What is sent; empty in lists.
  package var body: [UInt8]
}

/// A destination of an app that waits for batches.
package struct CallbackDestination: Hashable, Sendable {
  package let app: AppID
  /// Scheme, host and port; empty for the app's own address.
  package let origin: String

  /// Both fields.
  package init(app: AppID, origin: String) {
    self.app = app
    self.origin = origin
  }
}

/// An app for which batches wait.
package struct CallbackSender: Hashable, Sendable {
  package let app: AppID
  /// Its account; nil for an app that is gone.
  package let account: AccountID?

  /// Both fields.
  package init(app: AppID, account: AccountID?) {
    self.app = app
    self.account = account
  }
}

/// What came of sending a batch once.
package struct CallbackAttemptRow: Sendable, Equatable {
  /// When it was over.
  package var at: Timestamp
  /// How long it took.
  package var milliseconds: Int64
  /// The answer's status, 0 for none.
  package var status: Int
  /// Why it failed, nil for a success.
  package var error: String?

  package init(at: Timestamp, milliseconds: Int64, status: Int, error: String?) {
    self.at = at
    self.milliseconds = milliseconds
    self.status = status
    self.error = error
  }
}
