import BorealisBase
import Core
import Model
import Storage

/// The outcome of a push, for people.
struct Trace: Sendable {
  let call: PageCall
  let push: FoundPush
  let report: PushReport
  /// The server's channels.
  let channels: PluggedChannels

  static func isOpen(_ report: PushReport) -> Bool { !report.targets.pending.isEmpty }

  var html: HTML {
    let state = Self.state(report)
    return """
      <div class="row"><h2>\(call(Words.result))</h2>\(call.state(state.mark, state.phrase))
      \(why)</div>
      \(withdrawal)
      \(PushTimeline(call: call, report: report, channels: channels).html)
      \(funnel)
      \(unreached)
      \(ways)
      \(ends)
      \(failures)
      """
  }

  /// The whole push in a word, as the history has it, with its mark.
  static func state(_ report: PushReport) -> (phrase: Phrase, mark: StateMark) {
    let (targets, total) = (report.targets, report.targets.all.count)
    if isOpen(report) { return (Words.stateOpen, OutcomeStatus.open.mark) }
    if report.status.isWithdrawn, let stopped = report.withdrawal?.status {
      return (stopped.phrase, stopped.mark)
    }
    switch total {
    case targets.received.count: return (Words.stateDelivered, OutcomeStatus.delivered.mark)
    case targets.onlyAccepted.count: return (Words.stateAccepted, .accepted)
    case targets.expired.count: return (Words.stateExpired, OutcomeStatus.expired.mark)
    case targets.recalled.count: return (Words.stateRecalled, OutcomeStatus.recalled.mark)
    case targets.failedCount: return (Words.stateFailed, OutcomeStatus.dropped.mark)
    default: return (Words.complete, .over)
    }
  }

  /// Of one target there is only one device to ask about.
  private var why: HTML {
    let numbers = report.targets.all.members(limit: 2)
    guard numbers.count == 1, let id = push.app.directory.identity(numbers[0])?.id.text else { return .none }
    return """
      <a class="end" href="\(push.path)/why?registration_id=\(id)">\(call(Words.whyShort))</a>
      """
  }

  private var withdrawal: HTML {
    guard report.withdrawal?.status == .recalled else { return .none }
    let count = report.targets.recalled.count
    let tooLate =
      report.targets.onlyAccepted.isEmpty ? Words.recalledTooLate : Words.recalledTooLateAccepted
    let text = count == 0 ? tooLate : Words.recalledFrom.with(each: Counted.devices(count))
    return "<p class=\"notice\">\(call(text))</p>"
  }

  // MARK: The funnel

  private var funnel: HTML {
    let targets = report.targets
    let all = report.funnels.reduce(PushFunnel()) { $0.union($1.funnel) }
    let (received, onlyAccepted) = (targets.received.count, targets.onlyAccepted.count)
    // Of what is accepted and not confirmed nobody knows whether it was delivered: neither nothing nor a
    // share of all.
    let isUnknown = received == 0 && onlyAccepted > 0
    let accepted = onlyAccepted > 0 ? [(Words.channelAccepted, Optional(received + onlyAccepted))] : []
    let steps: [(Phrase, Int?)] =
      [(Words.targets, targets.all.count), (Words.handedOver, all.sent.count)] + accepted + [
        (Words.delivered, isUnknown ? nil : received), (Words.shown, targets.shown.count),
        (Words.tapped, targets.tapped.count),
      ]
    return """
      <ol class="funnel">\(steps, { Self.bar(call($0.0), $0.1, of: targets.all.count) })</ol>
      """
  }

  /// `count` is nil if nobody knows it.
  private static func bar(_ name: String, _ count: Int?, of total: Int) -> HTML {
    let unknown: HTML = "<li><span>\(name)</span><span></span><strong>–</strong><span></span></li>\n"
    guard let count else { return unknown }
    return """
      <li><span>\(name)</span><progress max="\(max(total, 1))" value="\(count)">\(count)</progress>\
      <strong>\(Counted.grouped(count))</strong><span class="quiet">\(Counted.share(count, of: total) ?? "")</span></li>

      """
  }

  /// Phones that only a channel reaches while their app is closed, and for which the app has no credential.
  private var unreached: HTML { "\(channels.credentials, { unreached($0) })" }

  private func unreached(_ channel: any ChannelCredentials) -> HTML {
    guard let texts = channel.texts.unreached, channel.info.platforms == PlatformSet(.ios),
      report.iosParts.contains(.notification),
      !channels.status(of: channel.info.id, for: push.app).contains(where: \.hasCredential)
    else { return .none }
    let count = report.targets.pending.intersectionCount(report.targets.ios)
    guard count > 0 else { return .none }
    let text = count == 1 ? texts.one : texts.several
    let phones = Counted.counted(count, Words.iPhoneOne, Words.iPhones)
    let link: HTML =
      call.role ?? .viewer >= .admin
      ? "<a href=\"\(channel.path(of: push.app))\">\(call(Words.by(channel.info)))</a>" : .none
    return "<p class=\"notice warn\">\(call(text.with(each: phones))) \(link)</p>"
  }

  // MARK: By channel

  private static let heads = [
    Words.meantFor, Words.handedOver, Words.channelAccepted, Words.delivered, Words.shown, Words.tapped,
    Words.refusedCount,
  ]

  private var ways: HTML {
    let forecast = push.forecast(channels)
    let used = Set(report.funnels.filter { !$0.funnel.isEmpty }.map(\.channel))
    let rows = used.union(forecast?.channels ?? []).sorted().map { channel in
      (info: channels.info(channel), funnel: report.funnel(of: channel), targets: report.targets.on(channel))
    }
    guard !rows.isEmpty else { return .none }
    let heads = (forecast == nil ? [] : [Words.forecast]) + Self.heads
    let note = rows.filter { !$0.info.abilities.contains(.confirmsArrival) }.map { row -> HTML in
      let text = row.info.abilities.contains(.sendsReceipts) ? Words.receiptNote : Words.acceptedNote
      return "<p class=\"hint\">\(call(text.with(each: Words.by(row.info))))</p>"
    }
    return """
      <table class="numbers"><thead><tr><th>\(call(Words.way))</th>\(heads, { "<th class=\"number\">\(call($0))</th>" })</tr></thead>
      <tbody>\(rows, { way($0.info, $0.funnel, $0.targets, forecast) })\(inApp(forecast))</tbody></table>\(note, { $0 })
      \(refusals(rows.map { ($0.info, $0.targets.refused) }))
      """
  }

  /// What channels' services refused, also for targets that wait elsewhere or have it.
  private func refusals(_ channels: [(ChannelInfo, [String: NumberSet])]) -> HTML {
    let reasons = channels.flatMap { info, refused in
      refused.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map {
        (info, $0.key, $0.value.count)
      }
    }
    guard !reasons.isEmpty else { return .none }
    return """
      <h3>\(call(Words.refusedBecause))</h3>
      <ul class="plain reasons">\(reasons, { reason($0.1, $0.2, of: call(Words.by($0.0))) })</ul>
      """
  }

  private func way(
    _ info: ChannelInfo, _ funnel: PushFunnel, _ targets: ChannelTargets, _ forecast: PushForecast?
  ) -> HTML {
    // Between the server and a device nobody accepts: the device confirms.
    let accepted = info.abilities.contains(.confirmsArrival) ? nil : targets.accepted.count
    // Of what a service accepted nobody knows whether it was delivered, unless somebody says so.
    let isUnknown = funnel.received.count == 0 && accepted ?? 0 > 0
    let refused = targets.refused.values.reduce(into: NumberSet()) { $0.formUnion($1) }
    let counts: [Int?] = [
      funnel.target.count, funnel.sent.count, accepted, isUnknown ? nil : funnel.received.count,
      funnel.shown.count, funnel.tapped.count, refused.count,
    ]
    let expected: [(Phrase, Int?)] = forecast.map { [(Words.forecast, $0.devices(on: info.id))] } ?? []
    return row(Words.by(info), expected, counts)
  }

  /// What the app shows in its own pages: a part of what goes over the direct connection.
  private func inApp(_ forecast: PushForecast?) -> HTML {
    let funnel = report.inApp
    guard !funnel.isEmpty else { return .none }
    let counts: [Int?] = [
      funnel.target.count, funnel.sent.count, nil, funnel.received.count, funnel.shown.count,
      funnel.tapped.count, nil,
    ]
    return row(Words.inAppMessage, forecast == nil ? [] : [(Words.forecast, nil)], counts)
  }

  private func row(_ name: Phrase, _ expected: [(Phrase, Int?)], _ counts: [Int?]) -> HTML {
    """
    <tr><th scope="row">\(call(name))</th>\
    \(expected + zip(Self.heads, counts), { "<td class=\"number\" data-label=\"\(call($0.0))\">\($0.1.map { Counted.grouped($0) } ?? "–")</td>" })</tr>

    """
  }

  // MARK: Targets by state

  /// Each target is in one of these: their sum is the number of targets.
  private var ends: HTML {
    let targets = report.targets
    let all: [(name: Phrase, mark: String, count: Int)] = [
      (Words.delivered, "done", targets.received.count),
      (Words.channelAccepted, "accepted", targets.onlyAccepted.count),
      (Words.pending, "open", targets.pending.count),
      (Words.sumExpired, "over", targets.expired.count),
      (Words.sumRecalled, "back", targets.recalled.count), (Words.failed, "failed", targets.failedCount),
    ]
    let total = targets.all.count
    var offset = 0
    // Most apps see no target of which a channel says no more.
    let parts = all.filter { $0.mark != "accepted" || $0.count > 0 }
    let pieces = parts.map { part -> HTML in
      defer { offset += part.count }
      return "<rect class=\"\(part.mark)\" x=\"\(offset)\" y=\"0\" width=\"\(part.count)\" height=\"1\"/>"
    }
    return """
      <h3>\(call(Words.eachTarget))</h3>
      <svg class="share" viewBox="0 0 \(max(total, 1)) 1" preserveAspectRatio="none" aria-hidden="true">\(pieces, { $0 })</svg>
      <p class="sum">\(parts, { Self.sum(call($0.name), $0.mark, $0.count) })<span>= \(call(Counted.targets(total)))</span></p>
      """
  }

  private static func sum(_ name: String, _ mark: String, _ count: Int) -> HTML {
    "<span class=\"key \(mark)\">\(name) <strong>\(Counted.grouped(count))</strong></span> "
  }

  private var failures: HTML {
    let reasons = report.targets.failed.mapValues(\.count).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    guard !reasons.isEmpty else { return .none }
    return """
      <h3>\(call(Words.failedBecause))</h3>
      <ul class="plain reasons">\(reasons, { reason($0.key, $0.value) })</ul>
      """
  }

  private func reason(_ reason: String, _ count: Int, of channel: String? = nil) -> HTML {
    let text: HTML =
      FailureWords.phrase(reason, channels).map { "<span>\(call($0))</span>" }
      ?? .none
    let who: HTML = channel.map { "\($0)\(call(Words.colon))" } ?? .none
    return "<li>\(who)<strong>\(Counted.grouped(count))</strong> <code>\(reason)</code> \(text)</li>"
  }
}

/// Why a push did not reach a device, in short, in the server's own words. Services have others
/// (`ServiceChannel.meaning`).
enum FailureWords {
  private static let phrases: [String: Phrase] = [
    "QueueFull": Words.lossQueueFull, "Replaced": Words.lossReplaced, "NoChannel": Words.lossNoChannel,
    "Unknown": Words.lossUnknown, "NoToken": Words.lossNoToken, "NoCredential": Words.lossNoCredential,
    "Connected": Words.lossConnected,
  ]

  /// What receipts say is the same for all services.
  static func phrase(_ reason: String, _ channels: PluggedChannels) -> Phrase? {
    phrases[reason] ?? ReceiptReason(rawValue: reason)?.meaning.cause.text ?? channels.meaning(of: reason)
  }
}
