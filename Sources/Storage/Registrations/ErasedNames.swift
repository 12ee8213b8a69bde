import BorealisBase
import Model

/// Who is meant by a person: everybody with an alias of an app, or one registration.
package enum DataSubject: Sendable, Equatable {
  case alias(String)
  case registration(RegistrationID)
}

/// What an erasure looks for.
package struct ErasedNames: Sendable, Equatable {
  /// Aliases that nobody else has.
  package var aliases: [String] = []
  /// Registration IDs, those of replaced registrations and former IDs included.
  package var ids: [String] = []
  /// The tags of the registrations; others may have them too.
  package var tags: [UInt32: String] = [:]
  /// The values of facts of the registrations; others may have them too.
  package var facts: [UInt32] = []
  /// The numbers of the registrations.
  package var numbers: [RegistrationNumber] = []

  /// Nothing.
  package init() {}

  /// JSON.
  var encoded: [UInt8] {
    func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
    func numbers(_ numbers: [UInt32]) -> JSONValue {
      .array(numbers.map { .number(JSONNumber(Int64($0))) })
    }
    let tags = tags.sorted { $0.key < $1.key }
    return JSONWriter.serialize([
      "aliases": strings(aliases), "ids": strings(ids), "tags": numbers(tags.map(\.key)),
      "tag_names": strings(tags.map(\.value)), "facts": numbers(facts),
      "numbers": numbers(self.numbers.map(\.rawValue)),
    ])
  }

  init(_ bytes: [UInt8]) {
    guard let json = try? parseJSON(bytes) else { return }
    func strings(_ key: String) -> [String] { (json[key]?.array ?? []).compactMap(\.string) }
    func numbers(_ key: String) -> [UInt32] {
      (json[key]?.array ?? []).compactMap { $0.int64.flatMap { UInt32(exactly: $0) } }
    }
    (aliases, ids, facts) = (strings("aliases"), strings("ids"), numbers("facts"))
    self.numbers = numbers("numbers").map { RegistrationNumber($0) }
    tags = Dictionary(zip(numbers("tags"), strings("tag_names"))) { first, _ in first }
  }
}

/// An erasure.
package struct ErasureRow: Sendable, Equatable {
  package let id: Int64
  package let app: AppID
  package let askedAt: Timestamp
  /// What is looked through.
  package let step: UInt8
  /// Behind which row of that the next look begins.
  package let position: Int64
  /// What is looked for; empty once no other row has it.
  package let names: ErasedNames
  /// When nothing was left.
  package let doneAt: Timestamp?
}

/// What an erasure needs to know of a push.
package struct ErasablePush: Sendable {
  package let id: MessageID
  package let createdAt: Timestamp
  package let isInTime: Bool
  /// The only registration that it is for.
  package let target: RegistrationNumber?
  /// The registrations, in the router's encoding; nil if they are more than are erased.
  package let targets: [UInt8]?
  /// The push object, if its audience has names in it.
  package let object: [UInt8]?
}

/// A text that may have a name in it, and its row.
package struct ErasableText: Sendable {
  package let id: Int64
  package let createdAt: Timestamp
  package let text: [UInt8]
}
