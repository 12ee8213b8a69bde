import Dispatch
import Glibc
import PushBase
import PushChannels
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// A whole channel: a file to which notifications for Android devices are appended, `MSG_ID TOKEN` a line. A device's token is the
/// word that stands for it in the file. The file has room for `capacity` lines, and knows no token that begins with `gone`.
public final class FileChannel: Channel {
  /// What it is.
  public let info = ChannelInfo(
    id: ChannelID(rawValue: 200), name: "file", english: "File", chinese: "文件",
    platforms: PlatformSet(.android), parts: .notification,
    tokens: [TokenKind(1, name: "word", form: .text, maximumBytes: 32)])
  private unowned let router: Router
  private let store: Store
  private let path: String
  private let capacity: Int
  private let isStopped: Bool
  private let time: any TimeSource
  private let writer = DispatchQueue(label: "file channel")
  private let written = Mutex(0)
  private let queues = Mutex<[AppID: ChannelQueue]>([:])

  /// Writes to a file, which is made; nothing as long as the channel lives if it `isStopped`.
  public init(
    _ router: Router, _ store: Store, path: String, capacity: Int = .max, isStopped: Bool = false,
    time: any TimeSource = SystemTime()
  ) {
    self.router = router
    self.store = store
    self.path = path
    self.capacity = capacity
    self.isStopped = isStopped
    self.time = time
  }

  /// Notifications, to whoever has told a word.
  public func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    guard content.parts(for: .android).contains(.notification) else { return [] }
    return [ChannelOffer(DeliveryLeg(info.id), to: word, on: info.platforms)]
  }

  /// The word.
  public func slot(for content: PushContent) -> TokenSlot? {
    content.parts(for: .android).contains(.notification) ? word : nil
  }

  private var word: TokenSlot { TokenSlot(info.id, kind: 1) }

  /// Takes up what an earlier run left.
  public func start(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void) {
    for app in router.apps.all { _ = queue(of: app) }
    done(.success(()))
  }

  /// Puts it into the app's queue.
  public func deliver(_ push: ChannelPush) { queue(of: push.app).deliver(push) }

  /// Has the words read again.
  public func tokensChanged(of numbers: [RegistrationNumber], in app: App) {
    queue(of: app).tokensChanged(of: numbers)
  }

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
      ) { [word] in [QueuedPart(targets: $0.targets, slot: word, content: Line())] }
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
        let verdicts = deliveries.map { write($0, of: queue.app) }
        let results = zip(deliveries, verdicts).map { ($0.tag.rawValue, $1 == .ended(ChannelEnd.delivered)) }
        queue.complete(results) { index, _ in verdicts[index] }
      }
    }
  }

  /// Writes a line. On the writer's queue.
  private func write(_ outgoing: Outgoing, of app: App) -> DeliveryVerdict {
    let token = outgoing.delivery.token
    let word = String(decoding: token.bytes, as: UTF8.self)
    guard !word.hasPrefix("gone") else {
      router.registrations.retire(
        token, of: outgoing.delivery.row.number, in: app, .byService,
        unlessToldAfter: outgoing.delivery.row.tokenAt)
      return .refused("FileGone")
    }
    guard written.withLock({ $0 }) < capacity, let file = fopen(path, "a") else {
      return .refused("FileFull")
    }
    defer { fclose(file) }
    written.withLock { $0 += 1 }
    fputs("\(outgoing.push.text) \(word)\n", file)
    return .ended(ChannelEnd.delivered)
  }

  /// What a line is made of: the push's ID says all.
  private final class Line: Sendable {}

  /// Has lines written when there are some.
  private final class File: ServiceTarget {
    private let write: @Sendable () -> Void

    init(_ write: @escaping @Sendable () -> Void) { self.write = write }

    func takes(_ slot: TokenSlot) -> Bool { true }
    func wake() { write() }
    func recall(_ tags: [UInt64]) {}
  }
}
