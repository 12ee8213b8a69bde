import BorealisBase

/// Documents: what parses must be written so that it parses to the same.
@Sendable func fuzzJSON(_ bytes: [UInt8]) {
  let tight = try? parseJSON(bytes, limits: JSONLimits(maxDepth: 2, maxBytes: 256, maxMembers: 4))
  do throws(JSONError) {
    let value = try parseJSON(bytes)
    check(tight == nil || tight == value, "limits change what is accepted, never what is read")
    let written = JSONWriter.serialize(value)
    let again = try? parseJSON(written)
    check(again == value, "what was written reads as what was read")
    // Equality of strings passes over differences in normalization: bytes are compared too.
    check(again.map(JSONWriter.serialize) == written, "writing gives the same bytes again")
    visit(value)
  } catch {
    check(tight == nil, "tight limits accept nothing more")
    check((0...bytes.count).contains(error.offset), "an error lies in the document")
  }
}

/// Reads numbers and looks up keys all the way down.
private func visit(_ value: JSONValue) {
  switch value {
  case .null, .bool, .string: break
  case .number(let number):
    check(JSONNumber(text: number.text) == number, "a number's text spells it")
    if let whole = number.int64, number.text != "-0" {
      check(JSONNumber(whole) == number, "an integer has one spelling")
    }
    check(number.double?.isFinite != false, "a number is finite")
  case .array(let elements):
    for element in elements { visit(element) }
  case .object(let object):
    for member in object.members.prefix(16) {
      check(object[member.key] == member.value, "a member is found by its key")
    }
    for member in object.members { visit(member.value) }
  }
}
