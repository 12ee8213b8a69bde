import BorealisBase
import Core
import Model
import Storage

/// The page of one device.
struct DevicePage: Sendable {
  let call: PageCall
  let app: App
  let file: DeviceFile
  /// The channels that the server has.
  let channels: [ChannelInfo]

  private var id: String { file.row.registrationID.text }
  private var path: String { "/console/apps/\(app.key.text)" }

  var layout: Layout {
    let send: HTML =
      call.role ?? .viewer >= .sender
      ? "<a class=\"button\" href=\"\(path)/push?registration_id=\(id)\">\(call(Words.sendPush))</a>" : .none
    return Layout(
      id, tab: .devices,
      """
      \(DeviceFilterForm.searchField(call))
      <div class="row"><h1><code>\(id)</code></h1>\(call.copyButton(id))<span class="end">\(send)</span></div>
      <p class="standing"><span class="state \(file.status.isOnline ? "done" : "over")">\(status)</span></p>
      <div class="halves">
      <section class="card"><h2>\(call(Words.whyDevicePage))</h2>\(facts)</section>
      \(reportedFacts)
      \(shownChannels, { card($0) })
      <section class="card"><h2>\(call(Words.tags)) (\(file.tags.count))</h2>\(tags)</section>
      </div>
      <section class="card"><h2>\(call(Words.pushesOfDevice))</h2>\(pushes)</section>
      <section class="card"><h2>\(call(Words.events))</h2><ul class="events">\(events, { item($0) })</ul></section>
      \(deleteForm)
      """)
  }

  // MARK: What it is like now

  private var status: HTML {
    let status = file.status
    let word = status.isOnline ? Words.onlineSince : Words.offlineSince
    guard let since = status.since else {
      return "\(call(status.isOnline ? Words.online : Words.offline))"
    }
    let reason: HTML =
      status.isOnline || status.lastEnd == .unknown ? .none : " · \(call(status.lastEnd.phrase))"
    return "\(call(word)) \(call.moment(since))\(reason)"
  }

  private var facts: HTML {
    let row = file.row
    var rows: [(Phrase, HTML)] = [(Words.platform, "\(row.platform.label)")]
    if !row.appVersion.isEmpty, !app.facts.contains(.appVersion) {
      rows.append((Words.appVersion, "\(row.appVersion)"))
    }
    if file.status.isOnline {
      rows.append((Words.appIs, "\(call(file.status.isForeground ? Words.inFront : Words.inBackground))"))
      if file.status.lastEnd != .unknown {
        rows.append((Words.lastConnection, "\(call(file.status.lastEnd.phrase))"))
      }
    }
    rows.append((Words.waiting, "\(Counted.grouped(file.status.waiting))"))
    let alias: HTML = row.alias.map { "\($0) \(since(file.history.aliasAt)) \(removeAliasForm($0))" } ?? "–"
    rows.append((Words.alias, alias))
    if row.platform == .ios { rows.append((Words.badge, "\(row.badge)")) }
    if let mobile = row.mobile { rows.append((Words.mobileNumber, "\(mobile)")) }
    if file.isTestDevice { rows.append((Words.testDevice, "\(call(Words.yes))")) }
    rows.append((Words.registered, call.moment(row.createdAt)))
    return list(rows)
  }

  /// The facts that the app asks for.
  private var reportedFacts: HTML {
    let wanted = app.facts.facts
    guard !wanted.isEmpty else { return .none }
    let rows: [(Phrase, HTML)] = wanted.map { fact in
      (
        fact.phrase,
        file.facts[fact].map { "\(fact.text(of: $0, call))" }
          ?? "<span class=\"quiet\">\(call(Words.factNotReported))</span>"
      )
    }
    return "<section class=\"card\"><h2>\(call(Words.partFacts))</h2>\(list(rows))</section>"
  }

  private func list(_ rows: [(Phrase, HTML)]) -> HTML {
    """
    <dl>\(rows, { "<dt>\(call($0.0))</dt><dd>\($0.1)</dd>\n" })</dl>
    """
  }

  private func since(_ at: Timestamp?) -> HTML {
    "\(at, { "<span class=\"quiet\">\(call(Words.since)) \(call.moment($0))</span>" })"
  }

  private var tags: HTML {
    guard !file.tags.isEmpty else { return "<p class=\"quiet\">–</p>" }
    return """
      <ul class="plain tags">\(file.tags, { "<li><strong>\($0.name)</strong> \(since($0.at))</li>\n" })</ul>
      """
  }

  // MARK: Channels

  /// The channels of which there is something to tell: those for which the device has or had a token, and the
  /// only one of its platform.
  private var shownChannels: [ChannelInfo] {
    let possible = channels.filter { $0.platforms.contains(file.row.platform) && !$0.tokens.isEmpty }
    let known = possible.filter { info in file.tokens.contains { $0.token.slot.channel == info.id } }
    return known.isEmpty && possible.count == 1 ? possible : known
  }

  private func card(_ info: ChannelInfo) -> HTML {
    "<section class=\"card\"><h2>\(call(Phrase(info.english, info.chinese)))</h2>\(list(rows(info)))</section>"
  }

  /// The channel's ordinary token, if the device has or had one.
  private func ordinaryToken(_ info: ChannelInfo) -> TokenHistory? {
    info.tokens.first.flatMap { kind in
      file.tokens.first { $0.token.slot == TokenSlot(info.id, kind: kind.number) }
    }
  }

  private func rows(_ info: ChannelInfo) -> [(Phrase, HTML)] {
    let history = ordinaryToken(info)
    let end = history?.end ?? .none
    var rows: [(Phrase, HTML)] = []
    if let history, !history.token.bytes.isEmpty {
      rows.append(
        (Words.tokenWord, "<code>\(Self.short(history.token.bytes))</code> \(since(history.since))"))
      if let service = info.service(history.token.service) {
        rows.append((Words.environment, "\(call(Phrase(service.english, service.chinese)))"))
      }
      if let told = history.reportedAt { rows.append((Words.reportedAt, call.moment(told))) }
    } else {
      let why: HTML = "\(call(Words.noTokenWord))\(call(Words.colon))\(call(end.phrase(of: info)))"
      rows.append((Words.tokenWord, end == .none ? why : "\(why) \(since(history?.since))"))
    }
    if let (answer, push) = file.latestAnswer(of: info.id) {
      let word = answer == ChannelEnd.delivered ? call(Words.serviceTook) : answer
      rows.append(
        (
          Words.serviceSaid,
          "<a class=\"\(answer == ChannelEnd.delivered ? "good" : "bad")\" href=\"\(whyPath(push))\">\(word)</a>"
        ))
    }
    return rows
  }

  /// Enough of a token to recognise it, too little to use it.
  private static func short(_ token: [UInt8]) -> String {
    "\(Hex.encode(Array(token.prefix(4))))…\(Hex.encode(Array(token.suffix(2))))"
  }

  // MARK: Pushes

  private func whyPath(_ push: MessageID) -> String {
    "\(path)/pushes/\(push.text)/why?registration_id=\(id)"
  }

  private var pushes: HTML {
    guard !file.pushes.isEmpty else {
      return "<p class=\"quiet\">\(call(Words.noPushesOfDevice))</p>\(older)"
    }
    return """
      <table><thead><tr><th>\(call(Words.sentAt))</th><th>\(call(Words.content))</th><th>\(call(Words.result))</th><th>\(call(Words.whySteps))</th></tr></thead>
      <tbody>\(file.pushes, { push($0) })</tbody></table>
      \(older)
      """
  }

  /// How far back was looked, and the way on.
  private var older: HTML {
    guard let end = file.lookedBackTo else { return .none }
    return """
      <p class="row"><a class="button plain" href="?before=\(end.text)" rel="next">\(call(Words.older))</a>
      <span class="quiet">\(call(Words.lookedBack)) \(call.moment(end.time))</span></p>
      """
  }

  private func push(_ push: DeviceFile.Push) -> HTML {
    let diagnosis = push.diagnosis
    let cause: HTML =
      "\(diagnosis.firstFailure?.cause, { "<span class=\"quiet\">\(call($0.text))</span>" })"
    return """
      <tr><td>\(call.moment(push.createdAt))</td>
      <td><a href="\(path)/pushes/\(push.id.text)">\(PushExcerpt(push.content).line(call))</a></td>
      <td>\(call(diagnosis.conclusion.text)) \(cause)</td>
      <td><a href="\(whyPath(push.id))" aria-label="\(call(Words.whyTitle)) \(push.id.text)">\(call(Words.why))</a></td></tr>

      """
  }

  // MARK: Events

  private struct Event {
    let at: Timestamp
    let text: String
  }

  private func item(_ event: Event) -> HTML {
    """
    <li>\(call.moment(event.at)) <span>\(event.text)</span></li>

    """
  }

  /// Its events with their times, the newest first.
  private var events: [Event] {
    var all: [Event] = [Event(at: file.row.createdAt, text: call(Words.eventRegistered))]
    func add(_ at: Timestamp?, _ phrase: Phrase) {
      if let at { all.append(Event(at: at, text: call(phrase))) }
    }
    let (status, history) = (file.status, file.history)
    if status.isOnline {
      add(status.since, Words.eventLogin)
    } else if status.lastEnd != .unknown {
      add(status.since, Words.eventEnd.with(call(status.lastEnd.phrase)))
    }
    add(history.aliasAt, file.row.alias.map { Words.eventAlias.with($0) } ?? Words.eventNoAlias)
    for tag in file.tags { add(tag.at, Words.eventTag.with(tag.name)) }
    for tag in file.lostTags { add(tag.at, Words.eventTagLost.with(tag.name)) }
    for token in shownChannels.compactMap({ ordinaryToken($0) }) {
      add(token.since, token.end == .none ? Words.eventToken : Words.eventTokenLost)
    }
    for push in file.pushes {
      let line = PushExcerpt(push.content).line(call)
      for (point, phrase) in [(WhyPoint.connection, Words.eventTook), (.shown, Words.eventShown)] {
        guard let step = push.diagnosis.step(point), step.verdict == .ok else { continue }
        add(step.at, (step.cause == .tapped ? Words.eventTapped : phrase).with(line))
      }
    }
    return Array(all.sorted { $0.at > $1.at }.prefix(25))
  }
}
