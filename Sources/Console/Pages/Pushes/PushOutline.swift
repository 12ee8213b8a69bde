import BorealisBase
import Core
import Model
import Storage

/// What is about to be sent, in words and as a phone shows it.
struct PushOutline: Sendable {
  let call: PageCall
  let request: PushRequest
  /// The push object, if it can be read.
  let object: JSONValue?
  let app: App
  /// Pushes to everybody that the app has sent today, if that is limited.
  var broadcasts: Int?

  private var excerpt: PushExcerpt { PushExcerpt(request.content.encode()) }

  /// Content, audience, and time to live.
  var table: HTML {
    """
    \(warning)
    <dl class="outline">\(rows, { "<dt>\(call($0.0))</dt><dd>\($0.1)</dd>\n" })</dl>
    """
  }

  var preview: HTML {
    PhonePreview.html(
      call, app.name, title: excerpt.title, text: excerpt.text,
      isMessage: !request.traits.contains(.notification), isMirror: false)
  }

  private var rows: [(Phrase, String)] {
    var rows: [(Phrase, String)] = [(Words.kind, PushNames.kinds(request.traits, call))]
    if let test = request.abTest {
      let name = call.abTests.first { $0.id == test.id }?.name ?? String(test.id)
      rows.append((Words.abTest, name))
      for (place, texts) in test.design.texts.enumerated() {
        rows.append((ABTestWords.content(place), texts.line))
      }
    } else {
      if !excerpt.title.isEmpty { rows.append((Words.title, excerpt.title)) }
      if !excerpt.text.isEmpty { rows.append((Words.text, excerpt.text)) }
    }
    if excerpt.isEncrypted { rows.append((Words.text, call(Words.encrypted))) }
    rows.append(
      (Words.audience, AudienceText(request.audience, call.segments, call.abTests).full(call.language)))
    rows.append((Words.platforms, platforms))
    rows += besides
    rows.append((Words.keptFor, call(Self.time(request.options.timeToLive))))
    if let seconds = request.options.fallbackAfter {
      let text = Counted.counted(seconds, Words.fallsBackAfterOne, Words.fallsBackAfter)
      rows.append((Words.fallsBack, call(text)))
    }
    if let canary = request.options.canary { rows.append((Words.canary, call(CanaryWords.plan(canary)))) }
    if let old = request.options.overrideMessageID { rows.append((Words.replaces, old.text)) }
    return rows
  }

  private var platforms: String {
    Platform.allCases.filter { request.platforms.contains($0) }.map { call($0.phrase) }
      .joined(separator: call(Words.comma))
  }

  /// Its parts besides the text, without what the form fills in by itself.
  private var besides: [(Phrase, String)] {
    guard let object else { return [] }
    let (extras, usual) = (PushExtras(of: object), PushExtras())
    var rows = extras.pairs.map { (Phrase(verbatim: $0.name), $0.value) }
    func add(_ name: Phrase, _ text: String, unless usual: String = "") {
      if text != usual, !text.isEmpty { rows.append((name, text)) }
    }
    add(Words.image, extras.image)
    add(Words.link, extras.link)
    if !extras.inApp.isEmpty { add(Words.inAppMessage, call(Words.yes)) }
    if request.platforms.contains(.ios) {
      add(Words.iosBadge, extras.badge, unless: usual.badge)
      add(Words.iosSound, extras.sound, unless: usual.sound)
      add(Words.iosThread, extras.thread)
    }
    add(Words.androidChannel, extras.channel)
    add(Words.quickAppPage, extras.page, unless: usual.page)
    add(Words.spreadOver, extras.spread)
    return rows
  }

  private static func time(_ seconds: Int) -> Phrase {
    if seconds == 0 { return Words.onlyOnline }
    if seconds % 3600 == 0 {
      return Counted.counted(seconds / 3600, Words.hourCountOne, Words.hourCount)
    }
    return Counted.counted((seconds + 59) / 60, Words.minuteCountOne, Words.minuteCount)
  }

  /// For what should not happen by mistake.
  private var warning: HTML {
    guard case .all = request.audience else {
      let unknown = KnownNames(request.audience.filter ?? AudienceFilter(), in: app).unknown
      guard !unknown.isEmpty else { return .none }
      return "<p class=\"notice warn\">\(call(Words.notKnownNames.with(KnownNames.list(unknown))))</p>"
    }
    let devices = app.directory.resolve(request.audience, platforms: request.platforms)?.count ?? 0
    let number = Counted.devices(devices)
    let name = Phrase(verbatim: app.name)
    let all =
      request.platforms == .all
      ? Words.allDevicesOf.with(each: number, name)
      : Words.allDevicesOn.with(each: number, name, Phrase(verbatim: platforms))
    var today: HTML = .none
    if let broadcasts, let limit = app.plan.broadcasts {
      let text = Words.broadcastsLeft.with(Counted.grouped(broadcasts + 1), Counted.grouped(limit))
      today = "<span>\(call(text))</span>"
    }
    return "<p class=\"notice warn\"><strong>\(call(all))</strong> \(today)</p>"
  }
}

/// Which of the names of an audience the app knows.
struct KnownNames: Sendable, Equatable {
  let total: Int
  let unknown: [String]

  /// What was typed.
  init(_ form: PushForm, in app: App) {
    let names = PushForm.list(form.names)
    switch form.audience {
    case .everybody, .segment: self.init(in: app)
    case .registration: self.init(devices: names, in: app)
    case .alias: self.init(aliases: names, in: app)
    case .tag:
      self.init(tags: names + PushForm.list(form.allTags) + PushForm.list(form.noTags), in: app)
    }
  }

  init(_ filter: AudienceFilter, in app: App) {
    self.init(
      devices: filter.registrationIDs, aliases: filter.aliases,
      tags: filter.tags + filter.tagsAnd + filter.tagsNot, in: app)
  }

  private init(devices: [String] = [], aliases: [String] = [], tags: [String] = [], in app: App) {
    total = devices.count + aliases.count + tags.count
    unknown =
      devices.filter { RegistrationID($0).flatMap { app.directory.find($0) } == nil }
      + aliases.filter { app.directory.registrations(alias: $0).isEmpty }
      + tags.filter { !Self.isTag($0, of: app) }
  }

  private static func isTag(_ name: String, of app: App) -> Bool {
    !app.directory.resolve(AudienceFilter(tags: [name])).isEmpty
  }

  /// Some of them, in a sentence.
  static func list(_ names: [String]) -> String {
    let shown = names.prefix(5).joined(separator: ", ")
    return names.count > 5 ? "\(shown), …" : shown
  }

  /// What to say beside the number of devices; nil if all names are known.
  var phrase: Phrase? {
    guard !unknown.isEmpty else { return nil }
    return Words.unknownNames.with(
      Counted.grouped(total - unknown.count), Counted.grouped(total), Self.list(unknown))
  }
}

/// A phone with a notification, or what an app gets without one.
enum PhonePreview {
  /// With `isMirror` the script keeps it like the fields of the form.
  static func html(
    _ call: PageCall, _ app: String, title: String, text: String, isMessage: Bool, isMirror: Bool
  ) -> HTML {
    func mirror(_ name: String) -> HTML { isMirror ? " data-mirror=\"\(name)\"" : .none }
    let banner: HTML = """
      <div class="banner"><span class="who">\(app)</span><span class="when">\(call(Words.now))</span>
      <strong\(mirror("title"))>\(title)</strong>
      <span class="says"\(mirror("text"))>\(text)</span></div>
      """
    let message: HTML = """
      <div class="silent"><p>\(call(Words.nothingIsShown))</p><pre><code\(mirror("text"))>\(text)</code></pre></div>
      """
    return """
      <aside class="phone" aria-label="\(call(Words.preview))">
      \(if: isMirror || !isMessage, banner)
      \(if: isMirror || isMessage, message)
      </aside>
      """
  }
}

extension Platform {
  /// As people write it, in the reader's language.
  var phrase: Phrase { self == .quickapp ? Words.quickApp : Phrase(properName, properName) }

  /// As people write it.
  var properName: String {
    switch self {
    case .ios: "iOS"
    case .android: "Android"
    case .hmos: "HarmonyOS"
    case .quickapp: "Quick App"
    }
  }
}

extension PushPreview {
  /// The class, what is cut, and what is left of today's quota.
  func phrase(in zone: (any Zone)?) -> Phrase {
    let name =
      switch preview.messageClass {
      case .service: Words.classService
      case .marketing: Words.classMarketing
      case nil: Words.classRegistered
      }
    var parts = [preview.words.isEmpty ? name : Words.classNamed.with(each: name, Phrase(verbatim: list))]
    for cut in preview.cuts {
      let field = cut.field == "title" ? Words.title : Words.text
      parts.append(Words.isCut.with(each: field, Phrase(verbatim: Counted.grouped(cut.characters))))
    }
    if preview.refusal != nil { parts.append(Words.tooLargeForChannel) }
    parts += preview.notes.map { Words.classNamed.with(each: $0.text, Phrase(verbatim: $0.source)) }
    if let quota, let zone { parts += [Self.phrase(quota, in: zone)].compactMap { $0 } }
    return parts.dropFirst().reduce(parts[0]) { Words.andThen.with(each: $0, $1) }
  }

  private var list: String { preview.words.joined(separator: ", ") }

  private static func phrase(_ quota: ChannelQuota, in zone: any Zone) -> Phrase? {
    let since = Phrase.moment(quota.knownAt, in: zone)
    if quota.isUsedUp { return Words.quotaUsedUp.with(each: since) }
    guard let left = quota.left, let total = quota.total else { return nil }
    return Words.quotaLeft.with(
      each: Phrase(verbatim: Counted.grouped(Int(clamping: left))),
      Phrase(verbatim: Counted.grouped(Int(clamping: total))), since)
  }
}
