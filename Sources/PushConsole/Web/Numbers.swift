extension Numbers {
  /// `6,000,000`; English and Chinese group alike.
  static func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var output = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { output += "," }
      output.append(digit)
    }
    return number < 0 ? "-\(output)" : output
  }
}
