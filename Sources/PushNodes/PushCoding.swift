import PushBase
import PushDomain
import PushRouter

/// A push as nodes tell it: what its devices need of it, without what other channels get.
enum PushCoding {
  /// Bytes for some targets, whose notification another channel may carry; nil if there are too many.
  static func encode(_ push: StoredPush, for targets: NumberSet, atMost limit: Int) -> [UInt8]? {
    let elsewhere = push.elsewhere.map { $0.intersection(targets) }
    return encode(push, elsewhere: elsewhere.flatMap { $0.isEmpty ? nil : $0 }, atMost: limit)
  }

  private static func encode(_ push: StoredPush, elsewhere: NumberSet?, atMost limit: Int) -> [UInt8]? {
    let content = PushContent(variants: push.content.variants, overrides: push.content.overrides).encode()
    let numbers = elsewhere?.serialized() ?? []
    guard content.count + numbers.count + 5 <= limit else { return nil }
    var writer = ByteWriter(capacity: content.count + numbers.count + 5)
    writer.write(push.strategy.number)
    writer.write(UInt32(numbers.count))
    writer.write(bytes: numbers)
    writer.write(bytes: content)
    return writer.bytes
  }

  /// Reads a push; nil if the bytes are none.
  static func decode(_ bytes: [UInt8]) -> StoredPush? {
    var reader = ByteReader(bytes)
    guard let number = reader.read(UInt8.self), let strategy = Strategy(number: number),
      let count = reader.read(UInt32.self), let numbers = reader.read(count: Int(count)),
      let rest = reader.read(count: reader.remaining), let content = PushContent(decoding: rest)
    else { return nil }
    guard !numbers.isEmpty else { return StoredPush(content: content, strategy: strategy) }
    guard let elsewhere = NumberSet(serialized: numbers) else { return nil }
    return StoredPush(content: content, strategy: strategy, elsewhere: elsewhere)
  }
}
