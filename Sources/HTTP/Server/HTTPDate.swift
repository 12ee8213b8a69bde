import BorealisBase

/// The form of time in HTTP fields (IMF-fixdate, RFC 9110 section 5.6.7).
enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// `Sun, 06 Nov 1994 08:49:37 GMT`. Times before 1970 count as 1970.
  static func text(seconds: Int64) -> String {
    let seconds = max(0, seconds)
    // The log's form of the time has the calendar already: 2026-01-31T09:15:00.123Z.
    let parts = Log.iso8601(seconds.multipliedReportingOverflow(by: 1000).partialValue)
      .split { "-T.".contains($0) }
    guard parts.count == 5, let month = Int(parts[1]), (1...12).contains(month) else { return "" }
    let weekday = days[Int(seconds / 86_400 % 7)]
    return "\(weekday), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]) GMT"
  }
}
