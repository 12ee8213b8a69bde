import BorealisBase
import Model

/// Says of a push that has no target which condition nobody meets.
struct EmptyAudience {
  private let push: PushRequest
  private let directory: AppDirectory

  init(_ push: PushRequest, in app: App) { (self.push, directory) = (push, app.directory) }

  /// 1011 with the number of devices that each part of the audience matches.
  var error: APIError { .noTarget.with(detail: text) }

  private var text: String {
    let registered = directory.resolve(.all, platforms: .all)?.count ?? 0
    let names = Platform.allCases.filter { push.platforms.contains($0) }.map(\.name).joined(separator: ", ")
    let nobody = "not on \(names), for which the push has something"
    let others = "blocked, imported and not adopted yet, or excluded by options"
    switch push.audience {
    case _ where registered == 0: return "no device of the app is registered"
    case .testDevices: return "no test device of the app matches"
    case .file: return "the file names none of the app's \(devices(registered)) on \(names)"
    case .all:
      let some = directory.resolve(.all, platforms: push.platforms)?.count ?? 0
      return "the app has \(devices(registered)), but \(some == 0 ? nobody : others)"
    case .filter(let filter) where filter.segment != nil:
      return
        "none of the app's \(devices(registered)) on \(names) is in the segment and meets the other conditions"
    case .filter(let filter):
      let matched = count(filter, on: .all)
      if matched > 0 {
        let why = count(filter, on: push.platforms) == 0 ? nobody : others
        return "\(devices(matched)) would match, but \(why)"
      }
      let each = filter.conditions.map { "\($0.key): \(count($0.filter, on: .all))" }.joined(separator: ", ")
      return "the app has \(devices(registered)), none of which matches (\(each))"
    }
  }

  private func count(_ filter: AudienceFilter, on platforms: PlatformSet) -> Int {
    directory.resolve(filter, platforms: platforms).count
  }

  private func devices(_ count: Int) -> String { count == 1 ? "1 device" : "\(count) devices" }
}

extension AudienceFilter {
  /// Each condition alone.
  fileprivate var conditions: [(key: String, filter: AudienceFilter)] {
    [
      ("tag", AudienceFilter(tags: tags)), ("tag_and", AudienceFilter(tagsAnd: tagsAnd)),
      ("tag_not", AudienceFilter(tagsNot: tagsNot)), ("alias", AudienceFilter(aliases: aliases)),
      ("registration_id", AudienceFilter(registrationIDs: registrationIDs)),
      ("live_activity_id", AudienceFilter(liveActivityID: liveActivityID)),
    ].filter { !$0.1.isEmpty }
  }
}
