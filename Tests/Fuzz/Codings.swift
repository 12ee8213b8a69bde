import BorealisBase

/// Base64, hexadecimal digits and the identifiers made of them: both ways must agree, and one value has one
/// text.
@Sendable func fuzzCodings(_ bytes: [UInt8]) {
  check(Base64.decode(Base64.encode(bytes).utf8) == bytes, "Base64 gives the bytes back")
  check(Hex.decode(Hex.encode(bytes)) == bytes, "hexadecimal digits give the bytes back")
  let text = String(decoding: bytes, as: UTF8.self)
  if let decoded = Base64.decode(bytes) {
    check(Base64.encode(decoded) == text, "bytes have one form in Base64")
  }
  if let decoded = Hex.decode(text) { check(Hex.encode(decoded) == text, "bytes have one form in digits") }
  if let key = AppKey(text) { check(key.text == text, "a key has one text") }
  if let id = RegistrationID(text) {
    check(RegistrationID(id.text) == id && text.lowercased().hasSuffix(id.text), "an ID has one text")
  }
  if let id = MessageID(decimal: bytes) {
    check(MessageID(decimal: Array(id.text.utf8)) == id, "a number's text reads as the number")
  }
  if let value = Hex.value(bytes) { check(Hex.digits(value, count: bytes.count) == text, "digits are kept") }
}
