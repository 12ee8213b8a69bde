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

  static func devices(_ number: Int) -> Phrase { counted(number, Words.deviceCountOne, Words.deviceCount) }

  static func targets(_ number: Int) -> Phrase { counted(number, Words.targetCountOne, Words.targetCount) }

  static func counted(_ number: Int, _ one: Phrase, _ several: Phrase) -> Phrase {
    (number == 1 ? one : several).with(grouped(number))
  }
}
