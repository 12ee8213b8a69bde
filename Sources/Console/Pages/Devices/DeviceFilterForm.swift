import BorealisBase
import Core
import HTTP
import Model

/// The filter of the list of devices, as in the page's URL.
struct DeviceFilterForm: Sendable, Equatable {
  /// A registration ID, an alias, a tag or a token.
  var text = ""
  var platform = ""
  /// The name of a channel, with that of a service behind a colon if it has several.
  var token = ""
  var connection = ""
  var segment = ""
  /// Where the page before ended.
  var after: DevicePlace?

  init(text: String) { self.text = text }

  init(_ target: HTTPTarget) {
    text = target["q"] ?? ""
    platform = target["platform"] ?? ""
    token = target["token"] ?? ""
    connection = target["connection"] ?? ""
    segment = target["segment"] ?? ""
    after = target["after"].flatMap { DevicePlace($0) }
  }

  private static let connections: [(value: String, phrase: Phrase, isOnline: Bool)] = [
    ("online", Words.online, true), ("offline", Words.offline, false),
  ]

  /// Whether nothing but the text is asked for.
  var isTextAlone: Bool { [platform, token, connection, segment].allSatisfy(\.isEmpty) }

  /// Whether there is any filter.
  var isEmpty: Bool { text.isEmpty && isTextAlone }

  /// What is asked for without the text. What is not known is ignored, as a filter that was not set.
  func filter(_ channels: [ChannelInfo]) -> DeviceFilter {
    var filter = DeviceFilter()
    if let platform = Platform.allCases.first(where: { $0.name == platform }) {
      filter.platforms = PlatformSet(platform)
    }
    if let chosen = Self.tokens(channels).first(where: { $0.value == token }) {
      (filter.channel, filter.services) = (chosen.channel.id, chosen.services)
    }
    filter.isOnline = Self.connections.first { $0.value == connection }?.isOnline
    filter.segment = Int64(segment)
    return filter
  }

  /// The tokens to choose from: of each channel that has any, and of each of its services if there are
  /// several.
  private static func tokens(
    _ channels: [ChannelInfo]
  ) -> [(value: String, channel: ChannelInfo, service: ChannelService?, services: ServiceSet)] {
    channels.filter { !$0.tokens.isEmpty }.flatMap { info in
      [(info.name, info, nil, .all)]
        + info.services.map { service in
          (
            "\(info.name):\(service.name)", info, service,
            ServiceSet(info.service(named: service.name) ?? .none)
          )
        }
    }
  }

  /// The query of an address that asks for the same, from another place on.
  func query(after place: DevicePlace?) -> String {
    AddressText.query([
      ("q", text), ("platform", platform), ("token", token), ("connection", connection),
      ("segment", segment), ("after", place?.text ?? ""),
    ])
  }

  func html(_ call: PageCall, _ channels: [ChannelInfo]) -> HTML {
    let path = "/console/apps/\(call.app?.key.text ?? "")/devices"
    func choice(_ label: Phrase, _ name: String, _ options: [(String, String)], _ chosen: String) -> HTML {
      let all = [("", call(Words.anything))] + options
      return
        "<div>\(Forms.choice(call(label), name, all.map { (value: $0.0, text: $0.1) }, chosen: chosen))</div>\n"
    }
    let tokens = Self.tokens(channels).map { ($0.value, Self.name($0.channel, $0.service, call)) }
    let segments = call.segments.map { (String($0.id), $0.name) }
    let reset: HTML =
      isEmpty && after == nil
      ? .none : "<a class=\"button plain\" href=\"\(path)\">\(call(Words.resetFilter))</a>"
    return """
      <form class="card filters" method="get" action="\(path)">
      <div class="wide">\(Forms.field(call(Words.findAnyDevice), "q", type: "search", value: text, isRequired: false))</div>
      \(choice(Words.platform, "platform", Platform.allCases.map { ($0.name, call($0.phrase)) }, platform))
      \(choice(Words.tokenWord, "token", tokens, token))
      \(choice(Words.connection, "connection", Self.connections.map { ($0.value, call($0.phrase)) }, connection))
      \(if: !segments.isEmpty, choice(Words.segment, "segment", segments, segment))
      <div class="wide row"><button>\(call(Words.find))</button>\(reset)</div>
      </form>
      """
  }

  /// The channel's name, with that of the service behind it in brackets.
  static func name(_ channel: ChannelInfo, _ service: ChannelService?, _ call: PageCall) -> String {
    let name = call(Phrase(channel.english, channel.chinese))
    guard let service else { return name }
    return call(
      Words.tokenOfService.with(each: Phrase(verbatim: name), Phrase(service.english, service.chinese)))
  }

  /// The search field alone, on pages of one device.
  static func searchField(_ call: PageCall) -> HTML {
    """
    <form class="card row" method="get" action="/console/apps/\(call.app?.key.text ?? "")/devices">
    <label for="q">\(call(Words.findAnyDevice))</label>
    <input id="q" name="q" type="search">
    <button>\(call(Words.find))</button>
    </form>
    """
  }
}
