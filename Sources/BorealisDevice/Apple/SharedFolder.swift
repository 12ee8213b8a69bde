import BorealisBase
import BorealisProtocol
import Foundation
import UserNotifications

/// What an app and its notification service extension exchange: a folder in the container of their App
/// Group. The app writes who the device is and the keys of encrypted contents; the extension leaves a note
/// for each notification that it has seen.
///
/// Nothing in it is locked or kept open, since the system ends apps that are suspended with a lock in a
/// shared container.
struct SharedFolder: Sendable {
  /// Notes that the app reads at a time, the newest.
  private static let mostNotes = 1024
  private static let reported = "reported-"
  private static let unreported = "shown-"

  /// Who the device is.
  struct Handover: Codable, Equatable {
    /// The server's HTTP address, such as `https://push.example.com`.
    var api: String
    var appKey: String
    var registrationID: String
    /// The registration's password, in hexadecimal digits.
    var secret: String
    /// The records of its keys.
    var keys: Data
  }

  private let folder: URL

  /// The folder of a group; nil if the app is not in the group.
  init?(group: String) {
    let manager = FileManager.default
    guard let container = manager.containerURL(forSecurityApplicationGroupIdentifier: group) else {
      return nil
    }
    folder = container.appendingPathComponent("Borealis", isDirectory: true)
  }

  private var handoverFile: URL { folder.appendingPathComponent("device.json") }

  /// What the app wrote; nil before its first start.
  var handover: Handover? {
    (try? Data(contentsOf: handoverFile)).flatMap { try? JSONDecoder().decode(Handover.self, from: $0) }
  }

  /// Writes who the device is, or that there is none.
  func write(_ handover: Handover?) {
    guard handover != self.handover else { return }
    guard let handover, let bytes = try? JSONEncoder().encode(handover) else {
      try? FileManager.default.removeItem(at: handoverFile)
      return
    }
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try? bytes.write(to: handoverFile, options: .atomic)
  }

  /// Leaves a note that a notification was shown, and whether the server knows it.
  func note(_ id: MessageID, isReported: Bool) {
    let name = (isReported ? Self.reported : Self.unreported) + "\(id.rawValue)"
    // The server and the app do without a note that cannot be left.
    try? Data().write(to: folder.appendingPathComponent(name))
  }

  /// Removes and returns the notes.
  func drainNotes() -> [(id: MessageID, isReported: Bool)] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    var notes: [MessageID: Bool] = [:]
    for name in names {
      for prefix in [Self.unreported, Self.reported] where name.hasPrefix(prefix) {
        try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        guard let id = MessageID(decimal: name.dropFirst(prefix.count).utf8) else { continue }
        notes[id] = notes[id] == true || prefix == Self.reported
      }
    }
    return notes.sorted { $0.key < $1.key }.suffix(Self.mostNotes).map { ($0.key, $0.value) }
  }
}

// MARK: - The app's side
extension Device {
  /// Writes for the extension who the device is and which keys it has.
  func share(in folder: SharedFolder, api: String) {
    guard let stored = state.snapshot(), let identity = stored.identity else { return folder.write(nil) }
    var keys: [UInt8] = []
    for case .key(let record) in stored.records { StateRecord.key(record).encode(device: 0, into: &keys) }
    folder.write(
      SharedFolder.Handover(
        api: api, appKey: state.appKey.text, registrationID: identity.registrationID.text,
        secret: Hex.encode(identity.secret.bytes), keys: Data(keys)))
  }

  /// Records what the extension has seen.
  func recordNotes(of folder: SharedFolder) {
    for note in folder.drainNotes() {
      let isNew = state.settle(note.id)
      if isNew, !note.isReported { reportShown(note.id) }
    }
  }
}

extension SharedFolder.Handover {
  /// The device's keys.
  var keyRing: DeviceKeyRing {
    let bytes = Array(keys)
    var at = 0
    var records: [KeyRecord] = []
    while let (_, record) = StateRecord.decode(bytes, at: &at) {
      if case .key(let key)? = record { records.append(key) }
    }
    return DeviceKeyRing(records)
  }
}
