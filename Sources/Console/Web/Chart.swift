/// A picture of numbers over time, drawn on the server. The picture itself has no letters, so that it can be
/// stretched to any width; what is written stands around it in the page's own size.
struct Chart: Sendable {
  /// One number for each period, nil for none.
  struct Series: Sendable {
    let name: String
    let values: [Double?]
  }

  enum Form: Sendable {
    /// Bars on top of each other.
    case bars
    /// Steps, the first series filled.
    case steps
  }

  /// Names the chart in the page.
  let id: String
  let title: String
  /// What is shown and what it comes to: read to those who do not see it.
  let text: String
  let form: Form
  let scale: Scale
  let series: [Series]
  /// What it came to in the periods before these, drawn as a dashed line.
  var before: Series?
  /// What each period is called, in full and below the picture.
  let periods: [String]
  let marks: [String]
  /// How a value is written.
  let format: @Sendable (Double) -> String

  /// Marks below the picture.
  static let markCount = 5

  /// The height of the picture in its own units, and the width of a period.
  private static let height = 100.0
  private static let width = 10.0

  var html: HTML {
    """
    <figure class="card chart">
    <figcaption><div class="row"><h2>\(title)</h2>\(legend)</div><p class="quiet">\(text)</p></figcaption>
    <div class="plot">
    <div class="scale" aria-hidden="true">\(scale.ticks.reversed(), { "<span>\(format($0))</span>" })</div>
    <svg role="img" aria-labelledby="\(id)-title \(id)-text" viewBox="0 0 \(periods.count * 10) 100" preserveAspectRatio="none">
    <title id="\(id)-title">\(title)</title><desc id="\(id)-text">\(text)</desc>
    \(scale.ticks.indices, { grid($0) })
    \(drawing)
    \(periods.indices, { slot($0) })
    </svg>
    <div class="marks" aria-hidden="true">\(marks, { "<span>\($0)</span>" })</div>
    </div>
    </figure>
    """
  }

  private var legend: HTML {
    let names: HTML =
      series.count > 1
      ? "\(series.indices, { "<span class=\"key series-\($0 % 3)\">\(series[$0].name)</span> " })" : .none
    let earlier: HTML =
      hasBefore ? "\(before, { "<span class=\"key before\">\($0.name)</span>" })" : .none
    return names == earlier ? .none : "<p class=\"legend\">\(names)\(earlier)</p>"
  }

  private func grid(_ index: Int) -> HTML {
    let y = Self.height * Double(index) / Double(max(1, scale.ticks.count - 1))
    return "<path class=\"grid\" d=\"M0 \(Self.text(y))H\(periods.count * 10)\"/>"
  }

  /// What a pointer is told of a period.
  private func slot(_ index: Int) -> HTML {
    let sum = form == .bars ? series.reduce(0) { $0 + ($1.values[index] ?? 0) } : 0
    let values = series.map { one in
      let value = one.values[index]
      let share = series.count > 1 ? Counted.share(Int(value ?? 0), of: Int(sum)) : nil
      return "\(one.name) \(value.map(format) ?? "–")\(share.map { " (\($0))" } ?? "")"
    }
    let earlier = before.flatMap { one in one.values[index].map { "\(one.name) \(format($0))" } }
    return """
      <g class="slot"><title>\(periods[index]): \((values + [earlier].compactMap(\.self)).joined(separator: ", "))</title>\
      <rect x="\(index * 10)"/></g>

      """
  }

  private var drawing: HTML {
    let drawing: HTML =
      switch form {
      case .bars: "\(series.indices, { bars($0) })"
      case .steps: "\(series.indices.reversed(), { steps($0) })"
      }
    guard hasBefore, let before else { return drawing }
    return "\(drawing)<path class=\"line before\" d=\"\(path(of: before).line)\"/>"
  }

  private var hasBefore: Bool { before?.values.contains { $0 != nil } == true }

  /// One path for all bars of a series.
  private func bars(_ number: Int) -> HTML {
    var path = ""
    for (index, value) in series[number].values.enumerated() {
      guard let value, value > 0 else { continue }
      let below = series[..<number].reduce(0) { $0 + ($1.values[index] ?? 0) }
      let (top, bottom) = (y(below + value), y(below))
      path +=
        "M\(Self.text(Double(index) * Self.width + 1)) \(Self.text(bottom))V\(Self.text(top))h8V\(Self.text(bottom))Z"
    }
    return "<path class=\"bar series-\(number % 3)\" d=\"\(path)\"/>"
  }

  private func steps(_ number: Int) -> HTML {
    let (line, area) = path(of: series[number])
    let filled: HTML = number == 0 ? "<path class=\"area series-0\" d=\"\(area)\"/>" : .none
    return "\(filled)<path class=\"line series-\(number)\" d=\"\(line)\"/>"
  }

  /// The line over the values, and the area below it.
  private func path(of series: Series) -> (line: String, area: String) {
    var (line, area) = ("", "")
    var isDown = true
    for (index, value) in series.values.enumerated() {
      guard let value else {
        isDown = true
        continue
      }
      let (x, y) = (Self.text(Double(index) * Self.width), Self.text(y(value)))
      line += "\(isDown ? "M\(x) " : "V")\(y)h10"
      area += "M\(x) 100V\(y)h10V100Z"
      isDown = false
    }
    return (line, area)
  }

  private func y(_ value: Double) -> Double { Self.height * (1 - scale.share(value)) }

  /// At most one decimal: the picture is a few hundred points high.
  private static func text(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(abs(tenths % 10))"
  }
}

extension Chart {
  /// From which value to which a picture goes, and what is written beside it: from the bottom up, at equal
  /// distances.
  struct Scale: Sendable, Equatable {
    let ticks: [Double]
    private let isLogarithmic: Bool

    /// From 0 to a round number not below `top`.
    init(counting top: Double) {
      // With less than four of anything, halves would stand beside the picture.
      let wanted = max(4, top)
      var step = 1.0
      while step * 10 < wanted { step *= 10 }
      let end = [1, 2, 4, 6, 8, 10].map { $0 * step }.first { $0 >= wanted } ?? wanted
      ticks = [0, end / 2, end]
      isLogarithmic = false
    }

    /// Powers of ten around some positive values.
    init(powersAround values: [Double]) {
      var (low, high) = (1.0, 10.0)
      for value in values {
        while high < value, high < 1e12 { high *= 10 }
      }
      while values.allSatisfy({ $0 >= low * 10 }), low * 100 <= high { low *= 10 }
      var ticks = [low]
      while let last = ticks.last, last < high { ticks.append(last * 10) }
      self.ticks = ticks
      isLogarithmic = true
    }

    /// How high a value stands: 0 at the bottom to 1.
    func share(_ value: Double) -> Double {
      guard let low = ticks.first, let high = ticks.last, high > low else { return 0 }
      let share =
        isLogarithmic
        ? Self.powers(of: value / low) / Self.powers(of: high / low) : (value - low) / (high - low)
      return min(max(share, 0), 1)
    }

    /// The logarithm to the base of 10, but for a straight line between two powers of 2: right to a
    /// hundredth.
    private static func powers(of value: Double) -> Double {
      guard value > 1 else { return 0 }
      return (Double(value.exponent) + value.significand - 1) * 0.301_03
    }
  }
}
