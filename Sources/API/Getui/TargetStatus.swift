import BorealisBase
import Core
import Model

/// The statuses of devices in the answer to a push.
struct TargetStatus: Sendable {
  let app: App
  /// The devices that the names of the request have, by name.
  private let devices: [ExactName: [RegistrationNumber]]
  /// What happens with the push; nil for a request that makes none, such as a revoke.
  private let reach: PushReach?
  /// CIDs that the push leaves out.
  private let ignored: Set<String>
  private let kind: TargetName

  /// Finds the devices of names, and what a push does for them.
  init(
    _ names: [String], by kind: TargetName, of request: AcceptRequest?, ignored: Set<String> = [],
    in app: App, _ acceptance: Acceptance
  ) {
    var devices: [ExactName: [RegistrationNumber]] = [:]
    switch kind {
    case .cid:
      for name in names { devices[ExactName(name)] = app.registration(name).map { [$0] } ?? [] }
    case .alias:
      for name in names { devices[ExactName(name)] = app.directory.registrations(alias: name) }
    }
    (self.app, self.devices, self.kind, self.ignored) = (app, devices, kind, ignored)
    reach = request.map { PushReach(of: $0, to: devices.flatMap(\.value), in: app, acceptance) }
  }

  /// The devices whose CIDs the request does not name.
  var unnamed: [RegistrationNumber] { kind == .alias ? devices.flatMap(\.value) : [] }

  /// Writes `{cid:status}` for the devices of names. A CID is named as the request named it; unknown ones are
  /// left out.
  func write(_ names: [String], _ cids: CIDs, to writer: inout JSONWriter) {
    writer.beginObject()
    for name in names {
      for number in devices[ExactName(name)] ?? [] {
        guard let cid = kind == .cid ? name : cids[number] else { continue }
        writer.member(cid, ignored.contains(name) ? "successed_ignore" : word(number))
      }
    }
    writer.endObject()
  }

  private func word(_ number: RegistrationNumber) -> String {
    switch reach?[number] {
    case .connected: "successed_online"
    case .away: "successed_offline"
    case .none?: "successed_ignore"
    case nil: app.isReachable(number) ? "successed_online" : "successed_offline"
    }
  }
}
