import BorealisBase
import Core
import HTTP
import Model

/// What would become of a push if it were sent now, device by device in numbers.
struct ForecastController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [route(.push, "POST", "/v1/push/forecast") { $0.forecast($1) }]

  /// `POST /v1/push/forecast`: a push object as that of `POST /v3/push`. Nothing is sent or counted.
  private func forecast(_ call: GatewayCall) {
    guard let app = call.app, let json = call.body() else { return }
    let push: PushRequest
    do throws(APIError) {
      push = try PushRequest.parse(json, rules: gateway.pushRules(of: app))
    } catch {
      return call.fail(error)
    }
    let call = call.ignoring(push.ignored)
    let isChinese = call.query("lang") == "zh"
    router.acceptance.forecast(AcceptRequest(push), for: app) { [router] result in
      switch result {
      case .failure(let error): call.fail(error)
      case .success(let forecast):
        let previews = router.channels.previews(
          of: push.content, in: app, secondsToLive: push.options.timeToLive)
        var writer = JSONWriter(capacity: 2048)
        writer.beginObject()
        forecast.write(to: &writer, router.channels) { isChinese ? $0.chinese : $0.english }
        PushController.writeExtensions(previews, ignored: push.ignored, to: &writer)
        writer.endObject()
        call.answer(200, writer.bytes)
      }
    }
  }
}

extension PushForecast {
  fileprivate func write(
    to writer: inout JSONWriter, _ channels: PluggedChannels, _ language: (Phrase) -> String
  ) {
    writer.member("audience", audience)
    writer.member("reached", reached)
    writer.key("rows")
    writer.beginArray()
    for row in rows {
      writer.beginObject()
      writer.member("channel", channels.info(row.leg.channel).name)
      if !row.leg.isMain { writer.member("calls", true) }
      writer.member("when", row.moment.rawValue)
      writer.member("devices", row.devices)
      for effect in Effect.allCases { writer.member(effect.rawValue, row[effect]) }
      writer.key("reasons")
      row.reasons.write(to: &writer, language)
      writer.endObject()
    }
    writer.endArray()
    writer.key("nothing")
    nothing.write(to: &writer, language)
  }
}

extension [PushForecast.Reason] {
  fileprivate func write(to writer: inout JSONWriter, _ language: (Phrase) -> String) {
    writer.beginArray()
    for reason in self {
      writer.beginObject()
      writer.member("cause", reason.cause.rawValue)
      writer.member("devices", reason.devices)
      writer.member("text", language(reason.cause.text))
      writer.endObject()
    }
    writer.endArray()
  }
}
