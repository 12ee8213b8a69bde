import BorealisBase

/// The members of a handwritten JSON object: wrong types and unknown names are errors.
struct ControlFields {
  private let object: JSONObject

  /// Wraps an object that may have these members and no others.
  init(_ value: JSONValue, known: [String]) throws(ControlFault) {
    guard let object = value.object else { throw ControlFault("expected a JSON object") }
    for member in object.members where !known.contains(member.key) {
      throw ControlFault("unknown member \"\(member.key)\"; known are \(known.joined(separator: ", "))")
    }
    self.object = object
  }

  func has(_ name: String) -> Bool { object[name] != nil }

  func number(_ name: String, in range: ClosedRange<Int64>) throws(ControlFault) -> Int64? {
    guard let value = object[name], !value.isNull else { return nil }
    guard let number = value.int64, range.contains(number) else {
      throw ControlFault("\(name): expected a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func flag(_ name: String) throws(ControlFault) -> Bool? {
    guard let value = object[name], !value.isNull else { return nil }
    guard let flag = value.bool else { throw ControlFault("\(name): expected true or false") }
    return flag
  }

  func text(_ name: String) throws(ControlFault) -> String? {
    guard let value = object[name], !value.isNull else { return nil }
    guard let text = value.string else { throw ControlFault("\(name): expected a string") }
    return text
  }

  /// One of the words of an enumeration.
  func word<Word: RawRepresentable & CaseIterable>(
    _ name: String, _ type: Word.Type = Word.self
  ) throws(ControlFault) -> Word? where Word.RawValue == String {
    guard let text = try text(name) else { return nil }
    guard let word = Word(rawValue: text) else {
      let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw ControlFault("\(name): expected one of \(words)")
    }
    return word
  }

  /// A device token in hexadecimal digits.
  func deviceToken(_ name: String) throws(ControlFault) -> SimulatedDeviceToken? {
    guard let text = try text(name) else { return nil }
    guard let token = SimulatedDeviceToken(text.utf8, anyLength: true) else {
      throw ControlFault("\(name): expected a device token, 64 to 200 hexadecimal digits")
    }
    return token
  }

  func list(_ name: String) throws(ControlFault) -> [JSONValue]? {
    guard let value = object[name], !value.isNull else { return nil }
    guard let list = value.array else { throw ControlFault("\(name): expected a list") }
    return list
  }
}
