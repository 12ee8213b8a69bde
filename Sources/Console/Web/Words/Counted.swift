import BorealisBase

/// Numbers with what they count.
enum Counted {
  /// Such as 6,000,000; English and Chinese group alike.
  static func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return number < 0 ? "-\(text)" : text
  }

  /// A share of a whole, such as 98.2%; nil of nothing. What is not all is never called 100%, and what is
  /// more than nothing never 0%.
  static func share(_ part: Int, of whole: Int) -> String? {
    guard whole > 0, part >= 0 else { return nil }
    if part == 0 || part >= whole { return part == 0 ? "0%" : "100%" }
    let tenths = min(max(Int((Double(part) * 1000 / Double(whole)).rounded()), 1), 999)
    return tenths % 10 == 0 ? "\(tenths / 10)%" : "\(tenths / 10).\(tenths % 10)%"
  }

  /// A size, such as 812 MB: three digits or more, in powers of 1000.
  static func bytes(_ number: Int64) -> String {
    var (value, unit) = (Double(max(number, 0)), 0)
    let units = ["B", "kB", "MB", "GB", "TB"]
    while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
    let digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
    let scale = [1, 10, 100][digits]
    let scaled = Int((value * Double(scale)).rounded())
    let whole = grouped(scaled / scale)
    guard digits > 0 else { return "\(whole) \(units[unit])" }
    let rest = String(scaled % scale)
    return "\(whole).\(String(repeating: "0", count: digits - rest.count))\(rest) \(units[unit])"
  }

  static func devices(_ number: Int) -> Phrase { counted(number, Words.deviceCountOne, Words.deviceCount) }

  static func targets(_ number: Int) -> Phrase { counted(number, Words.targetCountOne, Words.targetCount) }

  static func counted(_ number: Int, _ one: Phrase, _ several: Phrase) -> Phrase {
    (number == 1 ? one : several).with(grouped(number))
  }
}
