import BorealisBase
import Channels
import Core
import Dispatch
import Glibc
import Model
import Storage
import Synchronization

/// A whole channel: a file to which notifications for Android devices are appended, `MSG_ID TOKEN` a line. A
/// device's token is the word that stands for it in the file. The file has room for `capacity` lines, and
/// knows no token that begins with `gone`. If it `acceptsCredentials`, an app says which file, with a secret:
/// nothing is written without that. They are kept in memory.
package final class FileChannel: QueuedChannel {
  /// What it is.
  package let info = ChannelInfo(
    id: ChannelID(rawValue: 200), name: "file", english: "File", chinese: "文件",
    platforms: PlatformSet(.android), parts: .notification,
    tokens: [TokenKind(1, name: "word", form: .text, maximumBytes: 32)])
  private unowned let router: Router
  private let store: Store
  private let path: String
  private let capacity: Int
  private let isStopped: Bool
  private let acceptsCredentials: Bool
  private let fallsBack: Bool
  private let calls: Bool
  private let time: any TimeSource
  private let writer = DispatchQueue(label: "file channel")
  private let written = Mutex(0)
  /// Whether it takes over nothing for now.
  private let isFull = Mutex(false)
  private let queues = Mutex<[AppID: ChannelQueue]>([:])
  private let files = Mutex<[AppID: [FileCredential]]>([:])

  /// Writes to a file, which is made; nothing as long as the channel lives if it `isStopped`. With
  /// `fallsBack` the direct connection brings what the file refuses, as far as the way of a push says so. If
  /// it `calls`, each push has a second line for each device, on a leg of its own.
  package init(
    _ router: Router, _ store: Store, path: String, capacity: Int = .max, isStopped: Bool = false,
    acceptsCredentials: Bool = false, fallsBack: Bool = false, calls: Bool = false,
    time: any TimeSource = SystemTime()
  ) {
    self.router = router
    self.store = store
    self.path = path
    self.capacity = capacity
    self.isStopped = isStopped
    self.acceptsCredentials = acceptsCredentials
    self.fallsBack = fallsBack
    self.calls = calls
    self.time = time
  }

  /// Notifications, to whoever has told a word.
  package func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    guard content.parts(for: .android).contains(.notification) else { return [] }
    let legs = calls ? [DeliveryLeg.main, Self.call] : [DeliveryLeg.main]
    return legs.map { ChannelOffer(DeliveryLeg(info.id, $0), to: word, on: info.platforms) }
  }

  /// The number of the leg of calls.
  private static let call: UInt8 = 2

  /// Has it take over nothing for now, or again.
  package func fill(_ isFull: Bool) { self.isFull.withLock { $0 = isFull } }

  /// Whether there is room.
  package func mayTakeOver(in app: App) -> Bool {
    !isFull.withLock { $0 } && queue(of: app).mayTakeOver
  }

  /// The word.
  package func slot(for content: PushContent) -> TokenSlot? {
    content.parts(for: .android).contains(.notification) ? word : nil
  }

  private var word: TokenSlot { TokenSlot(info.id, kind: 1) }

  /// Takes up what an earlier run left.
  package func start(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void) {
    for app in router.apps.all { _ = queue(of: app) }
    done(.success(()))
  }

  /// Has the words read again.
  package func tokensChanged(of numbers: [RegistrationNumber], in app: App) {
    queue(of: app).tokensChanged(of: numbers)
  }

  /// The work of once a second.
  package func tick() { for queue in openQueues { queue.tick() } }

  /// Saves what is known.
  package func finish() {
    writer.sync {}
    for queue in openQueues { queue.finish() }
  }

  /// Whether anything is being read, written or stored.
  package var isWorking: Bool { openQueues.contains { $0.isWorking } }

  /// The queues that were made.
  package var openQueues: [ChannelQueue] { queues.withLock { Array($0.values) } }

  /// The queue of an app.
  package func queue(of app: App) -> ChannelQueue {
    let (queue, isNew) = queues.withLock { queues in
      if let known = queues[app.id] { return (known, false) }
      let new = ChannelQueue(
        of: info.id, app: app, store: store, deliveries: router.deliveries, time: time, log: .silent
      ) { [word, fallsBack] push in
        let parts = push.push.content.parts(for: .android)
        let goesBack = fallsBack && Routing.fallsBackToOwn(push.push.strategy, on: .android, parts)
        return [DeliveryLeg.main, Self.call].compactMap { leg in
          push.targets(leg: leg).map { targets in
            QueuedPart(
              leg: leg, targets: targets, slot: word, fallsBack: goesBack && leg == DeliveryLeg.main,
              content: QueuedContent(Line()))
          }
        }
      }
      queues[app.id] = new
      return (new, true)
    }
    if isNew { update(queue) }
    return queue
  }

  /// Lets a queue write if there is a file for it.
  private func update(_ queue: ChannelQueue) {
    let isPaused = acceptsCredentials && file(of: queue.app.id)?.isPaused == true
    let isMissing = acceptsCredentials && file(of: queue.app.id) == nil
    let target =
      isStopped || isPaused || isMissing
      ? nil
      : File { [weak self, weak queue] in
        if let self, let queue { write(queue) }
      }
    queue.set(target, isStopped: isStopped || isPaused, for: .only)
    queue.credentialsAreSet()
  }

  private func write(_ queue: ChannelQueue) {
    writer.async { [self] in
      while case let deliveries = queue.popOutgoing(.only, upTo: 100), !deliveries.isEmpty {
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
        unlessReportedAfter: outgoing.delivery.row.tokenAt)
      return .refused("FileGone")
    }
    guard written.withLock({ $0 }) < capacity, let file = fopen(file(of: app.id)?.path ?? path, "a") else {
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

    func accepts(_ slot: TokenSlot) -> Bool { true }
    func wake() { write() }
    func recall(_ tags: [UInt64]) {}
  }
}

// MARK: - Its credentials

/// What an app has handed in.
private struct FileCredential: Sendable {
  let number: Int
  let path: String
  let secret: String
  let expiresAt: Timestamp?
  let addedAt: Timestamp
  var isPaused = false
}

extension FileChannel: ChannelCredentials {
  /// A file and its secret.
  package var credentials: (any ChannelCredentials)? { acceptsCredentials ? self : nil }

  /// What pages say of it.
  package var texts: CredentialTexts {
    CredentialTexts(
      step: Phrase("Name a file", "指定文件"),
      stepText: Phrase("Notifications are then written to it.", "通知将写入该文件。"), none: Phrase("no file", "未指定文件")
    )
  }

  /// One, with all there is to fill in.
  package var forms: [CredentialForm] {
    [
      CredentialForm(
        "file", title: Phrase("Name the file", "指定文件"), text: Phrase("One line a notification.", "每条通知一行。"),
        fields: [
          CredentialField("path", Phrase("Path", "路径"), hint: Phrase("Begins with a slash.", "以斜杠开头。")),
          CredentialField("secret", Phrase("Secret", "密钥"), .secret),
          CredentialField("days", Phrase("Days until it ends", "有效天数"), isRequired: false),
        ])
    ]
  }

  /// All, the oldest first.
  package func stored(of apps: [AppID]) async -> Result<[StoredCredential], StorageError> {
    let known = files.withLock { $0 }
    return .success(
      apps.flatMap { app in
        (known[app] ?? []).map { file in
          var stored = StoredCredential(
            id: String(file.number), app: app, name: Phrase("File", "文件"),
            subject: .init(Phrase("Path", "路径"), file.path), state: file.isPaused ? .paused : .inUse,
            expiresAt: file.expiresAt, addedAt: file.addedAt)
          stored.isReplaced = file.number != known[app]?.last?.number
          stored.actions = [.check, file.isPaused ? .resume : .pause, .remove]
          stored.values = ["path": file.path]
          stored.form = "file"
          return stored
        }
      })
  }

  /// Keeps a file of which everything is right; it replaces the one that is named.
  package func install(
    _ inputs: [CredentialInput], for app: App, noting entry: AuditRow?,
    reply: @escaping @Sendable (Result<[CredentialReceipt], CredentialInput.Refusal>) -> Void
  ) {
    guard let input = inputs.first, let path = input.text("path"), path.hasPrefix("/") else {
      let phrase = Phrase("The path does not begin with a slash.", "路径须以斜杠开头。")
      return reply(.failure(.refused(CredentialProblem(phrase, at: "path"))))
    }
    guard path != "/dev/full" else {
      return reply(.failure(.refused(CredentialProblem(Phrase("This file is full.", "该文件已满。")))))
    }
    let now = time.now()
    let days = input.text("days").flatMap { Int64($0) }
    store.write { transaction throws(StorageError) in
      guard var entry else { return }
      entry.target = "file \(path)"
      try transaction.audit.add(entry)
    } completion: { [self] result in
      guard case .success = result else { return reply(.failure(.unavailable)) }
      files.withLock { files in
        let number = (files.values.joined().map(\.number).max() ?? 0) + 1
        files[app.id, default: []].removeAll { String($0.number) == input.replaces }
        files[app.id, default: []].append(
          FileCredential(
            number: number, path: path, secret: input.secret("secret") ?? "",
            expiresAt: days.map { now.adding(seconds: $0 * 86_400) }, addedAt: now))
      }
      update(queue(of: app))
      let receipt = CredentialReceipt(Phrase("Notifications go to {}.", "通知写入 {}。").with(path))
      reply(.success([receipt]))
    }
  }

  /// Whether it can be written.
  package func answer(to receipt: CredentialReceipt, for app: App) async -> CredentialAnswer {
    answer(file(of: app.id))
  }

  /// The same of one that is there.
  package func check(_ id: String, of app: App) async -> CredentialAnswer? {
    files.withLock { $0[app.id]?.first { String($0.number) == id } }.map(answer)
  }

  private func answer(_ credential: FileCredential?) -> CredentialAnswer {
    guard let credential, let file = fopen(credential.path, "a") else {
      return CredentialAnswer(Phrase("The file cannot be opened.", "文件无法打开。"), isBad: true)
    }
    fclose(file)
    return CredentialAnswer(Phrase("The file can be written.", "文件可以写入。"), isBad: false)
  }

  /// Takes it away, or stops it for a while.
  package func change(
    _ id: String, of app: App, _ change: CredentialChange, noting entry: AuditRow
  ) async -> Result<Bool, StorageError> {
    let path = files.withLock { files in
      guard let place = files[app.id]?.firstIndex(where: { String($0.number) == id }) else { return "" }
      let path = files[app.id]?[place].path ?? ""
      switch change {
      case .remove: files[app.id]?.remove(at: place)
      case .pause: files[app.id]?[place].isPaused = true
      case .resume: files[app.id]?[place].isPaused = false
      }
      return path
    }
    guard !path.isEmpty else { return .success(false) }
    update(queue(of: app))
    return await store.write { transaction throws(StorageError) in
      var entry = entry
      entry.target = "file \(path)"
      try transaction.audit.add(entry)
      return true
    }
  }

  /// A secret that ends soon.
  package func alerts(of app: App) -> [ChannelAlert] {
    let now = time.now()
    guard let end = file(of: app.id)?.expiresAt, end <= now.adding(seconds: CredentialNotice.seconds) else {
      return []
    }
    let text = Phrase("The secret of the file {}.", "文件密钥{}。").with(each: .ending(end, at: now))
    return [ChannelAlert(.expiring, of: info, text)]
  }

  /// Whether the app has named a file.
  package func status(of app: App) -> [ChannelStatus] {
    acceptsCredentials ? [ChannelStatus(info.id, hasCredential: file(of: app.id) != nil)] : []
  }

  /// The newest.
  fileprivate func file(of app: AppID) -> FileCredential? { files.withLock { $0[app]?.last } }
}
