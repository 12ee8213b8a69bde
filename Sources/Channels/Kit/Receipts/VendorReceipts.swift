import BorealisBase
import BorealisCrypto
import Core
import Model
import Storage
import Synchronization

/// Handles the receipts of a vendor's service. What it cannot believe has no effect and is counted:
/// Docs/decisions/0059 says what is believed of whom.
final class VendorReceipts<V: Vendor>: ChannelReceipts {
  /// A device and a push that a receipt is about.
  private struct Claim: Sendable {
    let push: MessageID
    let token: [UInt8]
    let receipt: PushReceipt
    let at: Timestamp?
  }

  private let vendor: V
  private let format: any ReceiptFormat
  private let parts: VendorParts
  private let table: VendorCredentials<V>
  private let owners: ReceiptOwners
  private let seen = SeenReceipts()
  private let latest = Mutex<[AppID: Timestamp]>([:])

  init(_ vendor: V, _ format: any ReceiptFormat, _ parts: VendorParts, _ table: VendorCredentials<V>) {
    self.vendor = vendor
    self.format = format
    self.parts = parts
    self.table = table
    owners = ReceiptOwners(vendor.info.id, parts)
  }

  /// When the latest receipt of an app came that was believed, since the server started.
  func latest(of app: AppID) -> Timestamp? { latest.withLock { $0[app] } }

  func app(of code: String) -> AppID? { table.receiver(code)?.app }

  func findOwner(of code: String, done: @escaping @Sendable (ReceiptOwner) -> Void) {
    owners.find(code, done: done)
  }

  func countUnknown() { count("unknown_address") }

  func handle(
    _ request: ReceiptRequest, at code: String, reply: @escaping @Sendable (ReceiptReply) -> Void
  ) {
    guard let receiver = table.receiver(code), let app = parts.router.apps.loaded(receiver.app) else {
      return reply(.refused(.unknown))
    }
    let now = parts.time.now()
    let signature = format.signature(of: request, with: receiver.key, at: now)
    // A request like this one has this key: of a signed one the nonce, else the body itself.
    let key: [UInt8]
    switch signature {
    case .forged:
      count("forged")
      return reply(.refused(.signature))
    case .stale:
      count("stale")
      return reply(.refused(.signature))
    case .good(let nonce):
      key = SHA256.digest(Array("\(code) \(nonce)".utf8))
      guard !seen.contains(key) else {
        count("replayed")
        return reply(.refused(.signature))
      }
    case .unsigned:
      key = SHA256.digest(Array(code.utf8) + [0] + request.body)
      guard !seen.contains(key) else {
        // The service may not have got the answer: it is told again that all is well.
        count("replayed")
        return reply(.accepted(format.answer))
      }
    }
    guard let items = format.read(request) else {
      count("malformed")
      return reply(.refused(.malformed))
    }
    let claims = claims(items, receiver.marks)
    note(claims, of: app, isSigned: signature != .unsigned) { [self] isStored in
      guard isStored else { return reply(.later) }
      seen.add(key)
      reply(.accepted(format.answer))
    }
  }

  /// What can be believed by its tag.
  private func claims(_ items: [ReceiptItem], _ marks: ReceiptMarks) -> [Claim] {
    let oldest = parts.router.deliveries.oldestWithReceipts
    var claims: [Claim] = []
    for item in items {
      let push: MessageID
      switch marks.read(item.tag, for: item.tokens) {
      case .own(let id): push = id
      case .forged:
        count("forged")
        continue
      case .foreign:
        count("foreign")
        continue
      }
      guard push >= oldest else {
        count("stale")
        continue
      }
      guard let receipt = item.receipt else {
        count("no_effect")
        continue
      }
      claims += item.tokens.map { Claim(push: push, token: $0, receipt: receipt, at: item.at) }
    }
    return claims
  }

  /// Notes what is about devices to which the push was sent.
  private func note(
    _ claims: [Claim], of app: App, isSigned: Bool, done: @escaping @Sendable (_ isStored: Bool) -> Void
  ) {
    guard !claims.isEmpty else { return done(true) }
    let slot = vendor.slot
    parts.store.read { [vendor] transaction throws(StorageError) in
      var sets: [MessageID: NumberSet] = [:]
      var found: [(Claim, RegistrationNumber)?] = []
      for claim in claims {
        let token = PushToken(slot, vendor.service(of: claim.token), claim.token)
        var targets = sets[claim.push]
        if targets == nil {
          let stored = try transaction.deliveries.sets(of: claim.push, on: slot.channel, app: app.id)
          targets = stored.reduce(into: NumberSet()) { all, bytes in
            if let set = NumberSet(serialized: bytes) { all.formUnion(set) }
          }
          sets[claim.push] = targets
        }
        let holders = try transaction.tokens.holders(of: token, app: app.id)
        found.append(holders.first { targets?.contains($0) == true }.map { (claim, $0) })
      }
      return found
    } completion: { [self] result in
      guard case .success(let found) = result else { return done(false) }
      for one in found {
        guard let (claim, number) = one else {
          // Another device has the token by now, or the push never went to it.
          count("not_sent")
          continue
        }
        apply(claim, number, app, isSigned: isSigned)
      }
      done(true)
    }
  }

  private func apply(_ claim: Claim, _ number: RegistrationNumber, _ app: App, isSigned: Bool) {
    let now = parts.time.now()
    latest.withLock { $0[app.id] = now }
    count(claim.receipt.name)
    // Clocks of services and devices are not this one's.
    let moment = min(max(claim.at ?? now, claim.push.time), now)
    parts.router.deliveries.note(claim.receipt, of: claim.push, by: number, in: app, since: moment)
    guard claim.receipt == .appRemoved || claim.receipt == .tokenReplaced else { return }
    // Whoever learned the address could take tokens away, so that an unsigned word alone does not: the
    // service's answer to the next push does.
    guard isSigned else { return count("token_kept") }
    parts.metrics.countRetired(of: vendor.info.name)
    parts.router.registrations.retire(
      PushToken(vendor.slot, vendor.service(of: claim.token), claim.token), of: number, in: app, .byService,
      unlessReportedAfter: claim.push.time)
  }

  private func count(_ result: String) { parts.metrics.countReceipt(result, of: vendor.info.name) }
}

extension PushReceipt {
  /// For the metric.
  fileprivate var name: String {
    switch self {
    case .shown, .inAppShown: "shown"
    case .tapped, .inAppTapped: "tapped"
    case .acknowledgedLate, .arrived: "arrived"
    case .appRemoved: "app_removed"
    case .tokenReplaced: "token_replaced"
    case .notificationsOff: "notifications_off"
    case .deviceInactive: "device_inactive"
    case .superseded: "superseded"
    case .deviceQuota: "device_quota"
    case .notInTime: "not_in_time"
    case .contentRefused: "content_refused"
    case .notArrived: "not_arrived"
    }
  }
}

/// The latest requests with receipts, by a key of 32 bytes: none counts twice. What came before the start is
/// not known; that receipts are sets makes them harmless.
final class SeenReceipts: Sendable {
  /// The most that are kept: about four megabytes.
  static let most = 32_768
  private let state = Mutex<(known: Set<[UInt8]>, order: FIFO<[UInt8]>)>(([], FIFO()))

  func contains(_ key: [UInt8]) -> Bool { state.withLock { $0.known.contains(key) } }

  func add(_ key: [UInt8]) {
    state.withLock { state in
      guard state.known.insert(key).inserted else { return }
      state.order.append(key)
      if state.known.count > Self.most, let oldest = state.order.popFirst() { state.known.remove(oldest) }
    }
  }
}
