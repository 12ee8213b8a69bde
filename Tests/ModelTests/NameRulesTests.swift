import Model
import Testing

@Suite struct NameRulesTests {
  @Test(arguments: [
    ("a", NameCheck.ok), ("Z9_", .ok), ("@!#$&*+=.|", .ok), ("￥", .ok), ("深圳", .ok), ("\u{20000}", .ok),
    ("", .empty), ("a-b", .illegalCharacter), ("a b", .illegalCharacter), ("a/b", .illegalCharacter),
    ("50%", .illegalCharacter), ("é", .illegalCharacter), ("ひ", .illegalCharacter), ("¥", .illegalCharacter),
    ("\u{F900}", .illegalCharacter), ("a\n", .illegalCharacter), ("e\u{301}", .illegalCharacter),
    ("\u{0}", .illegalCharacter), ("`", .illegalCharacter), ("[", .illegalCharacter),
    (String(repeating: "x", count: 40), .ok), (String(repeating: "x", count: 41), .tooLong),
    (String(repeating: "深", count: 40), .ok), (String(repeating: "深", count: 41), .tooLong),
    ("123e4567_e89b_12d3_a456_426614174000", .ok),
    ("123e4567-e89b-12d3-a456-426614174000", .illegalCharacter),
    ("usr_123e4567_e89b_12d3_a456_426614174000", .ok),
    ("user_123e4567_e89b_12d3_a456_426614174000", .tooLong),
  ])
  func names(_ name: String, _ expected: NameCheck) {
    #expect(NameRules.check(name, as: .alias) == expected)
  }

  @Test func hyphenOnlyWhenAllowed() {
    #expect(NameRules.check("123e4567-e89b-12d3-a456-426614174000", as: .alias, allowHyphen: true) == .ok)
    #expect(NameRules.check("a/b", as: .alias, allowHyphen: true) == .illegalCharacter)
  }

  @Test(arguments: [
    (NameCheck.ok, 0, 0), (.empty, 6001, 6001), (.tooLong, 6004, 6006), (.illegalCharacter, 6003, 6005),
  ])
  func codes(_ check: NameCheck, _ alias: Int32, _ tag: Int32) {
    #expect(check.aliasCode.rawValue == alias)
    #expect(check.tagCode.rawValue == tag)
    let error = check.deviceError(field: "alias", "a/b", as: .alias, allowHyphen: false)
    #expect(error?.code == (check == .ok ? nil : 7002))
    #expect(error?.message.hasPrefix("alias is invalid: ") ?? true)
  }

  @Test(arguments: [
    ("", "empty"), ("a/b", "'a/b' has the character '/' (U+002F)"), ("a\u{7}b", "the character U+0007"),
    ("a b", "the character U+0020"), ("123e4567-e89b", "'-' (U+002D)"), ("😀", "'😀' (U+1F600)"),
    (String(repeating: "深", count: 41), "41 characters; at most 40 are"),
  ])
  func complaintsNameTheCharacter(_ name: String, _ words: String) {
    let check = NameRules.check(name, as: .alias)
    let complaint = check.complaint(of: name, as: .alias, allowHyphen: false) ?? ""
    #expect(complaint.contains(words), "\(complaint)")
  }

  @Test(arguments: [
    ("a b", "'a b' has the character U+0020; blanks and invisible characters are not allowed"),
    ("a\u{7}b", "the character U+0007"), ("", "a name is empty"),
    (
      String(repeating: "x", count: 41),
      "has 41 characters; at most 32, or 40 bytes in UTF-8, are allowed"
    ),
  ])
  func complaintsAboutTags(_ name: String, _ words: String) {
    let check = NameRules.check(name, as: .tag)
    let complaint = check.complaint(of: name, as: .tag, allowHyphen: false) ?? ""
    #expect(complaint.contains(words), "\(complaint)")
  }

  /// What either vendor allows.
  @Test(arguments: [
    ("city:上海", NameCheck.illegalCharacter, NameCheck.ok), ("a/b", .illegalCharacter, .ok),
    ("a-b", .illegalCharacter, .ok), ("50%", .illegalCharacter, .ok), ("😀", .illegalCharacter, .ok),
    (String(repeating: "深", count: 32), .ok, .ok), (String(repeating: "深", count: 33), .ok, .tooLong),
    (String(repeating: "深", count: 40), .ok, .tooLong),
    (String(repeating: "深", count: 41), .tooLong, .tooLong),
    (String(repeating: "x", count: 40), .ok, .ok), (String(repeating: "x", count: 41), .tooLong, .tooLong),
    (String(repeating: "/", count: 33), .illegalCharacter, .ok), ("\u{2B73A}", .ok, .ok),
    ("a b", .illegalCharacter, .illegalCharacter), ("a\u{200B}", .illegalCharacter, .illegalCharacter),
    ("", .empty, .empty),
  ])
  func `Names of both vendors are good`(name: String, alias: NameCheck, tag: NameCheck) {
    #expect(NameRules.check(name, as: .alias) == alias)
    #expect(NameRules.check(name, as: .tag) == tag)
    // What an import accepts, the device may send again.
    if NameRules.checkGetuiTag(name) == .ok { #expect(tag == .ok) }
    if NameRules.checkGetuiAlias(name) == .ok { #expect(alias == .ok) }
  }

  @Test(arguments: [
    ("13800138000", ClientCode.ok), ("+86-138-0013-8000", .ok), ("1", .ok), ("+", .ok),
    ("12345678901234567890", .ok), ("123456789012345678901", .mobileTooLong), ("", .mobileIllegal),
    ("-1", .mobileIllegal), ("1+1", .mobileIllegal), ("12 34", .mobileIllegal), ("１２", .mobileIllegal),
  ])
  func mobiles(_ text: String, _ expected: ClientCode) {
    #expect(NameRules.mobileCode(text) == expected)
    #expect(NameRules.isMobile(text) == (expected == .ok))
  }
}
