import Dispatch
import Glibc
import PushBase
import PushChannels
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// A whole channel: a file to which notifications for Android devices are appended, `MSG_ID NUMBER` a line. What it refuses is
/// for devices with numbers from `capacity` on.
public final class FileChannel: Channel {
  /// What it is.
  public let info = ChannelInfo(
    id: ChannelID(rawValue: 200), name: "file", english: "File", chinese: "文件",
    platforms: PlatformSet(.android), parts: .notification)
  private unowned let router: Router
  private let store: Store
  private let path: String
  private let capacity: UInt32
  private let isStopped: Bool
  private let time: any TimeSource
  private let writer = DispatchQueue(label: "file channel")
  private let queues = Mutex<[AppID: ChannelQueue]>([:])

  /// Writes to a file, which is made; nothing as long as the channel lives if it `isStopped`.
  public init(
    _ router: Router, _ store: Store, path: String, capacity: UInt32 = .max, isStopped: Bool = false,
    time: any TimeSource = SystemTime()
  ) {
    self.router = router
    self.store = store
    self.path = path
    self.capacity = capacity
    self.isStopped = isStopped
    self.time = time
  }

  /// Notifications, to whoever has an Android device.
  public func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    guard content.parts(for: .android).contains(.notification) else { return [] }
    return [ChannelOffer(DeliveryLeg(info.id), to: .platforms(info.platforms), on: info.platforms)]
  }

  /// Takes up what an earlier run left.
  public func start(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void) {
    for app in router.apps.all { _ = queue(of: app) }
    done(.success(()))
  }

  /// Puts it into the app's queue.
  public func deliver(_ push: ChannelPush) { queue(of: push.app).deliver(push) }

  /// The work of once a second.
  public func tick() { for queue in queues.withLock({ Array($0.values) }) { queue.tick() } }

  /// Saves what is known.
  public func finish() {
    writer.sync {}
    for queue in queues.withLock({ Array($0.values) }) { queue.finish() }
  }

  private func queue(of app: App) -> ChannelQueue {
    let (queue, isNew) = queues.withLock { queues in
      if let known = queues[app.id] { return (known, false) }
      let new = ChannelQueue(
        of: info.id, app: app, store: store, deliveries: router.deliveries, time: time, log: .silent
      ) { [QueuedPart(targets: $0.targets, slot: nil, content: Line())] }
      queues[app.id] = new
      return (new, true)
    }
    if isNew {
      let target =
        isStopped
        ? nil
        : File { [weak self, weak queue] in
          if let self, let queue { write(queue) }
        }
      queue.set(target, isStopped: isStopped, for: .only)
      queue.credentialsAreSet()
    }
    return queue
  }

  private func write(_ queue: ChannelQueue) {
    writer.async { [self] in
      while case let deliveries = queue.take(.only, upTo: 100), !deliveries.isEmpty {
        var verdicts: [DeliveryVerdict] = []
        let file = fopen(path, "a")
        for delivery in deliveries {
          let number = delivery.delivery.row.number.rawValue
          verdicts.append(number < capacity ? .ended(ChannelEnd.delivered) : .refused("FileFull"))
          if let file, number < capacity { fputs("\(delivery.push.text) \(number)\n", file) }
        }
        if let file { fclose(file) }
        queue.landed(deliveries.map { ($0.tag.rawValue, true) }) { index, _ in verdicts[index] }
      }
    }
  }

  /// What a line is made of: the push's ID says all.
  private final class Line: Sendable {}

  /// Has lines written when there are some.
  private final class File: ServiceTarget {
    private let write: @Sendable () -> Void

    init(_ write: @escaping @Sendable () -> Void) { self.write = write }

    func takes(_ slot: APNsTokenSlot?) -> Bool { true }
    func wake() { write() }
    func recall(_ tags: [UInt64]) {}
  }
}
