import BorealisBase
import Core
import Model
import Storage

/// What there is to do with a new app. Each step ticks itself; when those that every app needs are done, the
/// rest of the list closes, and when all are, it is gone.
struct FirstSteps: Sendable {
  private struct Step: Sendable {
    let name, text: Phrase
    let isDone: Bool
    /// Not every app needs it.
    var isOptional = false
    /// Where it is done, and who may.
    let path: String
    let role: Role
    var code: String?
  }

  let call: PageCall
  let app: App
  let facts: PushHistories.FirstSteps
  let channels: PluggedChannels

  private var steps: [Step] {
    [
      Step(
        name: Words.stepDevice, text: Words.stepDeviceText, isDone: app.directory.registrationCount > 0,
        path: "virtual", role: .viewer),
      Step(
        name: Words.stepPush, text: Words.stepPushText, isDone: facts.wasDelivered, path: "push",
        role: .sender),
      Step(
        name: Words.stepServer, text: Words.stepServerText, isDone: facts.wasCalled, path: "push",
        role: .owner, code: sample),
    ] + channelSteps + [
      Step(
        name: Words.stepCallbacks, text: Words.stepCallbacksText, isDone: facts.hasCallbacks,
        isOptional: true, path: "settings/callbacks", role: .admin)
    ]
  }

  /// A step for each kind of phone: which of several channels an app needs depends on the makers of its
  /// users' phones, and one is a beginning.
  private var channelSteps: [Step] {
    var kinds: [(platforms: PlatformSet, channels: [any ChannelCredentials])] = []
    for channel in channels.credentials {
      if let known = kinds.firstIndex(where: { $0.platforms == channel.info.platforms }) {
        kinds[known].channels.append(channel)
      } else {
        kinds.append((channel.info.platforms, [channel]))
      }
    }
    return kinds.map { kind in
      let isDone = kind.channels.contains { channel in
        // A credential that the service refuses is not set up.
        channels.status(of: channel.info.id, for: app).contains { $0.hasCredential && $0.problem == nil }
      }
      if kind.channels.count == 1, let channel = kind.channels.first {
        return Step(
          name: channel.texts.step, text: channel.texts.stepText, isDone: isDone, isOptional: true,
          path: "settings/credentials/\(channel.info.name)", role: .admin)
      }
      let platforms = Platform.allCases.filter { kind.platforms.contains($0) }.map(\.label)
      let names = kind.channels.map { Words.by($0.info) }
      return Step(
        name: Words.stepChannels.with(platforms.joined(separator: call(Words.comma))),
        text: Words.stepChannelsText.with(each: Words.list(names)), isDone: isDone, isOptional: true,
        path: "settings/credentials", role: .admin)
    }
  }

  /// It matches no device, in case somebody runs it unchanged.
  private var sample: String {
    let body =
      #"{"platform":"all","audience":{"registration_id":["REGISTRATION_ID"]},"notification":{"alert":"Hello"}}"#
    return PushSamples(address: call.origin, key: app.key.text, body: body).curl
  }

  var html: HTML {
    let steps = steps
    let done = steps.filter(\.isDone).count
    guard done < steps.count else { return .none }
    let isStarted = steps.allSatisfy { $0.isDone || $0.isOptional }
    return """
      <section class="card"><details class="first"\(if: !isStarted, " open")>
      <summary><h2>\(call(Words.firstSteps))</h2> <span class="quiet">\(call(Words.stepsDone.with("\(done)", "\(steps.count)")))</span></summary>
      <ol class="steps">\(steps, { item($0) })</ol></details></section>
      """
  }

  private func item(_ step: Step) -> HTML {
    let link: HTML = """
      <a href="/console/apps/\(app.key.text)/\(step.path)">\(call(step.name))</a>
      """
    let isLinked = !step.isDone && step.code == nil && call.role ?? .viewer >= step.role
    let name: HTML = isLinked ? link : "\(call(step.name))"
    return """
      <li\(if: step.isDone, " class=\"ok\"")><span class="sign" aria-hidden="true">\(step.isDone ? "✓" : "")</span>
      <div><p class="point"><strong>\(name)</strong>
      \(if: step.isDone, "<span class=\"word\">\(call(Words.stepDone))</span>")
      \(if: step.isOptional, "<span class=\"pill\">\(call(Words.stepOptional))</span>")</p>
      \(if: !step.isDone, "<p class=\"quiet\">\(call(step.text))</p>")
      \(step.isDone ? nil : step.code, { code($0) })</div></li>

      """
  }

  private func code(_ text: String) -> HTML {
    "<pre><code>\(text)</code></pre><p>\(call.copyButton(text))</p>"
  }
}
