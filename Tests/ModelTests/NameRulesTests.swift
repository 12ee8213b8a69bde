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
    (String(repeating: "深", count: 13), .ok), (String(repeating: "深", count: 14), .tooLong),
    ("123e4567_e89b_12d3_a456_426614174000", .ok),
    ("123e4567-e89b-12d3-a456-426614174000", .illegalCharacter),
    ("usr_123e4567_e89b_12d3_a456_426614174000", .ok),
    ("user_123e4567_e89b_12d3_a456_426614174000", .tooLong),
  ])
  func names(_ name: String, _ expected: NameCheck) {
    #expect(NameRules.check(name) == expected)
  }

  @Test func hyphenOnlyWhenAllowed() {
    #expect(NameRules.check("123e4567-e89b-12d3-a456-426614174000", allowHyphen: true) == .ok)
    #expect(NameRules.check("a/b", allowHyphen: true) == .illegalCharacter)
  }

  @Test(arguments: [
    (NameCheck.ok, 0, 0), (.empty, 6001, 6001), (.tooLong, 6004, 6006), (.illegalCharacter, 6003, 6005),
  ])
  func codes(_ check: NameCheck, _ alias: Int32, _ tag: Int32) {
    #expect(check.aliasCode.rawValue == alias)
    #expect(check.tagCode.rawValue == tag)
    #expect(check.deviceError(field: "alias", "a/b", false)?.code == (check == .ok ? nil : 7002))
    #expect(check.deviceError(field: "alias", "a/b", false)?.message.hasPrefix("alias is invalid: ") ?? true)
  }

  @Test(arguments: [
    ("", "empty"), ("a/b", "'a/b' has the character '/' (U+002F)"), ("a\u{7}b", "the character U+0007"),
    ("a b", "the character U+0020"), ("123e4567-e89b", "'-' (U+002D)"), ("😀", "'😀' (U+1F600)"),
    (String(repeating: "深", count: 14), "42 bytes in UTF-8, at most 40"),
  ])
  func complaintsNameTheCharacter(_ name: String, _ words: String) {
    let complaint = NameRules.check(name).complaint(of: name, false) ?? ""
    #expect(complaint.contains(words), "\(complaint)")
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
