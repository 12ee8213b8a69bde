import BorealisBase
import Core
import Model

/// What would become of a push, by channel.
struct ForecastTable: Sendable {
  let call: PageCall
  let forecast: PushForecast
  let channels: PluggedChannels
  /// The sentence above the table, with places for the number of devices that it goes to and that of all.
  let text: Phrase

  /// How many devices it goes to, the table, and why not to all.
  var html: HTML {
    let text = self.text.with(Counted.grouped(forecast.reached), Counted.grouped(forecast.audience))
    let rest = forecast.nothing.reduce(0) { $0 + $1.devices }
    return """
      <p class="quiet">\(call(text))</p>
      <table class="numbers forecast"><thead><tr><th>\(call(Words.way))</th><th class="number">\(call(Words.forecastDevices))</th>\(effects, { "<th class=\"number\">\(call($0.phrase))</th>" })</tr></thead>
      <tbody>\(forecast.rows, { row($0) })\(if: rest > 0, nothing(rest))</tbody></table>
      \(if: forecast.hasNotificationsOverConnection, "<p class=\"hint\">\(call(Words.forecastSound))</p>")
      """
  }

  /// Those that some device has, and always both that senders look for.
  private var effects: [PushForecast.Effect] {
    PushForecast.Effect.allCases.filter { effect in
      effect == .loud || effect == .silent || forecast.rows.contains { $0[effect] > 0 }
    }
  }

  private func row(_ row: PushForecast.Row) -> HTML {
    let counts = [(Words.forecastDevices, row.devices)] + effects.map { ($0.phrase, row[$0]) }
    return """
      <tr><th scope="row">\(call(row.phrase(channels)))</th>\(counts, { number(call($0.0), $0.1) })</tr>
      \(explanation(row.reasons.map(line)))
      """
  }

  /// Devices that get nothing.
  private func nothing(_ count: Int) -> HTML {
    """
    <tr><th scope="row">\(call(Words.forecastNothing))</th>\(number(call(Words.forecastDevices), count))\(effects, { _ in "<td></td>" })</tr>
    \(explanation(forecast.nothing.map(line)))
    """
  }

  private func number(_ label: String, _ count: Int) -> HTML {
    "<td class=\"number\" data-label=\"\(label)\">\(Counted.grouped(count))</td>"
  }

  private func line(_ reason: PushForecast.Reason) -> String {
    call(
      Words.forecastReason.with(each: Phrase(verbatim: Counted.grouped(reason.devices)), reason.cause.text))
  }

  private func explanation(_ lines: [String]) -> HTML {
    guard !lines.isEmpty else { return .none }
    return """
      <tr class="because"><td colspan="\(effects.count + 2)"><ul class="plain">\(lines, { "<li>\($0)</li>" })</ul></td></tr>

      """
  }
}

extension PushForecast {
  /// Whether some devices get a notification over the direct connection, where the app decides on the sound.
  fileprivate var hasNotificationsOverConnection: Bool {
    rows.contains { $0.leg.channel == .passthrough && $0[.loud] > 0 }
  }

  /// To how many devices a channel was to bring it.
  func devices(on channel: ChannelID) -> Int {
    rows.reduce(0) { $1.leg.channel == channel && $1.isCertain ? $0 + $1.devices : $0 }
  }

  /// The channels that were to bring it to some.
  var channels: Set<ChannelID> { Set(rows.lazy.filter(\.isCertain).map(\.leg.channel)) }
}

extension PushForecast.Row {
  /// Whether it is known that this channel is to bring it.
  fileprivate var isCertain: Bool { moment == .now || moment == .later }

  fileprivate func phrase(_ channels: PluggedChannels) -> Phrase {
    let name = Words.by(channels.info(leg.channel))
    if !leg.isMain { return Words.forecastCalls.with(each: name) }
    return switch moment {
    case .now: leg.channel == .passthrough ? Words.forecastConnected.with(each: name) : name
    case .later: Words.forecastLater.with(each: name)
    case .unacknowledged: Words.forecastUnacknowledged.with(each: name)
    case .held: Words.forecastHeld
    }
  }
}

extension PushForecast.Effect {
  fileprivate var phrase: Phrase {
    switch self {
    case .loud: Words.forecastLoud
    case .silent: Words.forecastSilent
    case .registered: Words.forecastRegistered
    case .hidden: Words.forecastHidden
    case .waiting: Words.forecastWaiting
    }
  }
}
