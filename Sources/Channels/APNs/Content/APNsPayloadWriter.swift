import BorealisBase

/// Writes a payload and records the positions of its holes.
struct APNsPayloadWriter {
  private var json = JSONWriter()
  private var holes: [APNsTemplate.Hole] = []

  /// Starts the payload's object.
  init() { json.beginObject() }

  mutating func beginObject(_ key: String) {
    json.key(key)
    json.beginObject()
  }

  mutating func endObject() { json.endObject() }

  mutating func member(_ key: String, _ value: JSONValue) {
    json.key(key)
    json.value(value)
  }

  /// A member whose number is filled in later.
  mutating func hole(_ key: String, _ value: APNsTemplate.Value) {
    json.key(key)
    holes.append(APNsTemplate.Hole(at: json.bytes.count, for: value))
    json.raw([])
  }

  /// Ends the payload's object. Not nil as long as no value has two holes.
  mutating func finish() -> APNsTemplate? {
    json.endObject()
    return APNsTemplate(text: json.bytes, holes: holes)
  }
}
