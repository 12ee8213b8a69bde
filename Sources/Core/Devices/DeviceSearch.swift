import BorealisBase
import Model
import Storage

/// Something that an identifier names, and the app that has it.
package enum IdentifierPlace: Sendable {
  case push(MessageID, AppID)
  case registration(RegistrationID, AppID)
  /// An alias of at least one device.
  case alias(AppID)

  /// The app.
  package var app: AppID {
    switch self {
    case .push(_, let app), .registration(_, let app), .alias(let app): app
    }
  }
}

/// The result of a device search.
package struct DeviceSearch: Sendable {
  /// What the text turned out to be.
  package enum Kind: Sendable, Equatable {
    /// A registration ID.
    case registrationID
    /// An alias.
    case alias
    /// A push token, written as its channel writes it.
    case token
    /// A tag.
    case tag
  }

  /// What the text turned out to be; nil if it is nothing that the app knows.
  package let kind: Kind?
  /// Devices, ascending; of a tag no more than requested.
  package let numbers: [RegistrationNumber]
  /// How many there are.
  package let count: Int
  /// The registration that the text names, if it was replaced.
  package let gone: GoneRegistration?

  init(
    _ kind: Kind? = nil, _ numbers: [RegistrationNumber] = [], count: Int? = nil,
    gone: GoneRegistration? = nil
  ) {
    self.kind = kind
    self.numbers = numbers
    self.count = count ?? numbers.count
    self.gone = gone
  }
}

extension Diagnostics {
  /// Devices of an app with this registration ID, alias, push token or tag, the first of these that fits. Of
  /// a tag at most `limit`. `found` may be called on this thread or on a reader's.
  package func search(
    _ text: String, in app: App, limit: Int,
    found: @escaping @Sendable (Result<DeviceSearch, DeviceFailure>) -> Void
  ) {
    let id = RegistrationID(text)
    if let number = id.flatMap({ app.directory.find($0) }) {
      found(.success(DeviceSearch(.registrationID, [number])))
      return
    }
    let byAlias = app.directory.registrations(alias: text)
    guard byAlias.isEmpty else {
      found(.success(DeviceSearch(.alias, byAlias)))
      return
    }
    let tagged = Self.devices(tag: text, in: app, limit: limit)
    let tokens = tokens(text)
    guard id != nil || !tokens.isEmpty else {
      found(.success(tagged))
      return
    }
    store.read { transaction throws(StorageError) -> DeviceSearch in
      for token in tokens {
        if let number = try transaction.tokens.holder(ofToken: token, app: app.id),
          app.directory.identity(number) != nil
        {
          return DeviceSearch(.token, [number])
        }
      }
      if let id, let gone = try transaction.registrations.gone(id, app: app.id) {
        return DeviceSearch(.registrationID, [], gone: gone)
      }
      return tagged
    } completion: {
      found($0.mapError { _ in .unavailable })
    }
  }

  /// What a text is the msg_id, the registration ID or the alias of in some apps, by the database alone: the
  /// apps may have their homes on other nodes.
  package func places(
    of text: String, in apps: [AppID]
  ) async -> Result<[IdentifierPlace], StorageError> {
    let message = MessageID(decimal: Array(text.utf8))
    let id = RegistrationID(text)
    return await store.read { transaction throws(StorageError) in
      var places: [IdentifierPlace] = []
      if let message, let app = try transaction.pushes.app(of: message), apps.contains(app) {
        places.append(.push(message, app))
      }
      for app in apps {
        if let id, try transaction.imports.find(id, app: app) != nil {
          places.append(.registration(id, app))
        } else if try transaction.registrations.count(app: app, alias: text) > 0 {
          places.append(.alias(app))
        }
      }
      return places
    }
  }

  private static func devices(tag: String, in app: App, limit: Int) -> DeviceSearch {
    let members = app.directory.resolve(AudienceFilter(tags: [tag])).numbers
    guard !members.isEmpty else { return DeviceSearch() }
    return DeviceSearch(.tag, members.members(limit: limit), count: members.count)
  }

  /// What a text may be as a token of a channel. No service's have been shorter than this for years.
  private func tokens(_ text: String) -> Set<[UInt8]> {
    guard text.utf8.count >= 32 else { return [] }
    return Set(channels.infos.flatMap(\.tokens).compactMap { $0.bytes(text) })
  }
}
