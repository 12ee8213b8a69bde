import BorealisBase
import COpenSSL
import Synchronization

/// The keys that seal session tickets: the client stores the state of a resumable session, the server
/// keeps none. A key seals for twelve hours and opens for twelve more; then it is gone, and with it the
/// secrets of the sessions it sealed.
final class TicketKeys: Sendable {
  private struct Key {
    let name = SystemRandom.bytes(16)
    let aes = SystemRandom.bytes(32)
    let mac = SystemRandom.bytes(32)
    let madeAt: UInt64
  }

  private static let lifetime: UInt64 = 12 * 3600 * 1_000_000_000
  private let time: any TimeSource
  private let keys = Mutex<[Key]>([])

  init(time: any TimeSource = SystemTime()) { self.time = time }

  /// Returns to OpenSSL's ticket callback: 1 continue, 2 continue and send a new ticket, 0 unknown key, -1
  /// failure.
  func prepare(
    name: UnsafeMutablePointer<UInt8>, iv: UnsafeMutablePointer<UInt8>, cipher: OpaquePointer?,
    mac: OpaquePointer?, encrypting: Bool
  ) -> Int32 {
    let now = time.monotonic()
    let found = keys.withLock { keys -> (key: Key, isCurrent: Bool)? in
      keys.removeAll { now &- $0.madeAt >= 2 * Self.lifetime }
      if encrypting {
        if keys.last.map({ now &- $0.madeAt >= Self.lifetime }) ?? true { keys.append(Key(madeAt: now)) }
        return keys.last.map { ($0, true) }
      }
      guard
        let index = keys.firstIndex(where: {
          $0.name.elementsEqual(UnsafeBufferPointer(start: name, count: 16))
        })
      else { return nil }
      return (keys[index], now &- keys[index].madeAt < Self.lifetime)
    }
    guard let found else { return 0 }
    if encrypting {
      name.update(from: found.key.name, count: 16)
      iv.update(from: SystemRandom.bytes(16), count: 16)
    }
    guard co_ticket_ciphers(cipher, mac, found.key.aes, found.key.mac, iv, encrypting ? 1 : 0) == 1 else {
      return -1
    }
    // TLS 1.3 clients use a ticket once, so a resumed session always asks for another.
    return encrypting || found.isCurrent ? 1 : 2
  }
}
