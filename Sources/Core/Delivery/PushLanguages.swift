import BorealisBase
import Model

/// What a push says in other languages than its default, each once, and which of its targets get which.
package struct PushLanguages: Sendable {
  /// What it says in one language.
  package struct Text: Sendable {
    /// The language, as the push names it.
    package let language: String
    package internal(set) var content: PushContent
    /// Those of the push's audience who get it.
    package let targets: NumberSet

    /// All fields.
    package init(language: String, content: PushContent, targets: NumberSet) {
      (self.language, self.content, self.targets) = (language, content, targets)
    }
  }

  /// Nobody gets two, and somebody gets each.
  package private(set) var texts: [Text]

  /// Nil if nobody gets any.
  package init?(_ texts: [Text]) {
    guard !texts.isEmpty else { return nil }
    self.texts = texts
  }

  /// About the bytes that it takes.
  var bytes: Int {
    texts.reduce(0) { all, text in
      let variants = text.content.variants.reduce(0) { $0 + $1.notification.count + $1.message.count }
      let channels = text.content.forChannels.reduce(0) { $0 + $1.bytes.count }
      return all + 256 + variants + channels + text.targets.bytes
    }
  }

  /// What a registration gets; nil if that is in the default language.
  package func content(for number: RegistrationNumber) -> PushContent? {
    texts.first { $0.targets.contains(number) }?.content
  }

  /// Changes the content of each.
  mutating func change(_ body: (inout PushContent) -> Void) {
    for place in texts.indices { body(&texts[place].content) }
  }

  // MARK: In the database

  private static let version: UInt8 = 1

  /// The version, how many there are (one byte), then for each its language after its size (one byte), its
  /// content as `PushContent` encodes it and its targets as a Roaring set, both after their sizes in four
  /// bytes, most significant byte first.
  func encode() -> [UInt8] {
    var writer = ByteWriter(capacity: bytes)
    writer.write(Self.version)
    writer.write(UInt8(truncatingIfNeeded: texts.count))
    for text in texts {
      writer.write(UInt8(truncatingIfNeeded: text.language.utf8.count))
      writer.write(bytes: text.language.utf8)
      for part in [text.content.encode(), text.targets.serialized()] {
        writer.write(UInt32(truncatingIfNeeded: part.count))
        writer.write(bytes: part)
      }
    }
    return writer.bytes
  }

  /// Reads what `encode` wrote; nil for anything else.
  package init?(decoding bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard reader.read(UInt8.self) == Self.version, let count = reader.read(UInt8.self), count > 0 else {
      return nil
    }
    texts = []
    for _ in 0..<count {
      guard let size = reader.read(UInt8.self), let name = reader.read(count: Int(size)),
        let language = String(validating: name, as: UTF8.self),
        let contentSize = reader.read(UInt32.self),
        let content = reader.read(count: Int(contentSize)).flatMap({ PushContent(decoding: $0) }),
        let setSize = reader.read(UInt32.self),
        let targets = reader.read(count: Int(setSize)).flatMap({ NumberSet(serialized: $0) })
      else { return nil }
      texts.append(Text(language: language, content: content, targets: targets))
    }
    guard reader.remaining == 0 else { return nil }
  }
}

extension PushRequest {
  /// Fixes who of an audience gets it in which language, by what the devices have reported. If all get it in
  /// the same one, that is its content.
  mutating func fixLanguages(for audience: Recipients, in directory: AppDirectory) -> PushLanguages? {
    guard !translations.isEmpty else { return nil }
    let sets = directory.readers(of: translations.map(\.language), among: audience)
    let texts = zip(translations, sets).filter { !$1.isEmpty }.map {
      PushLanguages.Text(language: $0.language.text, content: $0.content, targets: $1)
    }
    translations = []
    if texts.count == 1, texts[0].targets.count == audience.count {
      content = texts[0].content
      return nil
    }
    return PushLanguages(texts)
  }
}
