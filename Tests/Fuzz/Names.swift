import Model

/// Names of aliases and tags, a line each, and mobile numbers.
@Sendable func fuzzNames(_ bytes: [UInt8]) {
  let names = String(decoding: bytes, as: UTF8.self).utf8.split(separator: 10).map { String($0) ?? "" }
  for name in names {
    let plain = NameRules.check(name, as: .alias)
    let lenient = NameRules.check(name, as: .alias, allowHyphen: true)
    check(plain == lenient || plain == .illegalCharacter && lenient == .ok, "only the hyphen is in question")
    check((plain == .ok) == (plain.complaint == nil), "what is not good has a complaint")
    if lenient == .ok {
      check((1...40).contains(name.unicodeScalars.count), "a good name keeps its limits")
      check(name.utf8.allSatisfy { $0 > 32 && $0 != 127 }, "a good name holds no control character")
    }
    let tag = NameRules.check(name, as: .tag)
    check(plain != .ok || tag == .ok || tag == .tooLong, "a tag may have all characters of an alias")
    check(tag == .ok || NameRules.checkGetuiTag(name) != .ok, "a tag of Getui is good")
    check(NameRules.isMobile(name) == (NameRules.mobileCode(name) == .ok), "a number is judged alike")
  }
  let good = names.filter { NameRules.check($0, as: .alias, allowHyphen: true) == .ok }
  for (left, right) in zip(good, good.dropFirst()) where left == right {
    check(left.utf8.elementsEqual(right.utf8), "names that are equal are equal in bytes")
  }
}
