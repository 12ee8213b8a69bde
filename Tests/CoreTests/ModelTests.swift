import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

/// What should happen, kept as plainly as possible.
private struct Model {
  struct Push {
    let id: MessageID
    /// Indexes of registrations, fixed when it was accepted.
    let targets: Set<Int>
    /// Unix seconds.
    let expires: UInt32
    var isWithdrawn = false
  }

  struct Registration {
    var device: Int
    var isReplaced = false
    var alias: String?
    var tags: Set<String> = []
    var acknowledged: Set<MessageID> = []
  }

  var registrations: [Registration] = []
  var pushes: [Push] = []

  func audience(_ terms: AudienceFilter, ids: [Int]?) -> Set<Int> {
    Set(
      registrations.indices.filter { index in
        let one = registrations[index]
        return !one.isReplaced && (ids?.contains(index) ?? true)
          && (terms.tags.isEmpty || !one.tags.isDisjoint(with: terms.tags))
          && one.tags.isSuperset(of: terms.tagsAnd) && one.tags.isDisjoint(with: terms.tagsNot)
          && (terms.aliases.isEmpty || one.alias.map { terms.aliases.contains($0) } == true)
      })
  }

  /// What a registration should have waiting.
  func pending(_ index: Int, at now: UInt32) -> [MessageID] {
    guard !registrations[index].isReplaced else { return [] }
    return pushes.filter {
      $0.targets.contains(index) && !$0.isWithdrawn && now < $0.expires
        && !registrations[index].acknowledged.contains($0.id)
    }.map(\.id)
  }
}

/// The device's side: what it shows, from frames that come as our own channel sends them.
private struct Client {
  var device: TestDevice
  var location: Location?
  var sentThrough = MessageID(0)
  var shown: [MessageID] = []

  mutating func receive(_ id: MessageID) {
    sentThrough = max(sentThrough, id)
    if !shown.contains(id) { shown.append(id) }
  }
}

@Suite struct ModelTests {
  private static let tags = ["red", "green", "blue"]
  private static let aliases = ["ann", "bob"]

  /// Random registrations, names, pushes, recalls, acknowledgements, disconnections, crashes and expiries
  /// agree with the model at every step: each device shows each push that was for it once, in the order of
  /// the IDs, and nothing else. In half of the runs the body of each write runs twice.
  @Test(arguments: 0..<12) func agreesWithTheModel(seed: Int) async throws {
    var random = SeededRandom(seed: UInt64(seed) &* 7919)
    let world = try await TestWorld(rehearses: !seed.isMultiple(of: 2))
    var model = Model()
    var clients: [Client] = []
    // Some runs have audiences beyond what is listed, most have small ones.
    for device in 0..<(seed.isMultiple(of: 4) ? 80 : 6) {
      clients.append(Client(device: try await world.register(fingerprint: mark(device))))
      model.registrations.append(Model.Registration(device: device))
    }
    for _ in 0..<150 {
      try await step(world, &model, &clients, &random)
      deliver(world, &clients)
      compare(world, model, clients)
    }
    try await world.tick()
    let waiting = Set(model.registrations.indices.flatMap { model.pending($0, at: world.clock.seconds) })
    #expect(Set(try await world.storedPending()) == waiting, "nothing is left over in the database")
  }

  private func mark(_ device: Int) -> [UInt8] { Array("device\(device)".utf8) }

  /// One random event.
  private func step(
    _ world: TestWorld, _ model: inout Model, _ clients: inout [Client], _ random: inout SeededRandom
  ) async throws {
    let index = Int.random(in: clients.indices, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<4: try await reinstall(index, world, &model, &clients)
    case 4..<20: await rename(index, world, &model, clients, &random)
    case 20..<45: try await push(world, &model, clients, &random)
    case 45..<50:
      guard let push = model.pushes.indices.randomElement(using: &random) else { return }
      let count = try await world.recall(model.pushes[push].id).get()
      if let waiting = waitingFor(model.pushes[push], model, world) { #expect(count == waiting) }
      model.pushes[push].isWithdrawn = true
    case 50..<68: connect(index, world, &clients)
    case 68..<75: disconnect(index, world, &clients)
    case 75..<90: acknowledge(index, world, &model, clients, &random)
    case 90..<95:
      world.clock.advance(seconds: Int64.random(in: 1...40, using: &random))
      try await world.tick()
    case 95..<98: try await world.tick()
    default: try await restart(world, &model, &clients, &random)
    }
  }

  /// How many still wait for a push; nil where a sweep may not have come to it, or a set may name who was
  /// replaced.
  private func waitingFor(_ push: Model.Push, _ model: Model, _ world: TestWorld) -> Int? {
    if push.isWithdrawn { return 0 }
    guard world.clock.seconds < push.expires,
      !push.targets.contains(where: { model.registrations[$0].isReplaced })
    else { return nil }
    return push.targets.count { !model.registrations[$0].acknowledged.contains(push.id) }
  }

  private func reinstall(
    _ index: Int, _ world: TestWorld, _ model: inout Model, _ clients: inout [Client]
  ) async throws {
    let device = model.registrations[index].device
    guard !model.registrations[index].isReplaced else { return }
    model.registrations[index].isReplaced = true
    clients[index].location = nil
    clients.append(Client(device: try await world.register(fingerprint: mark(device))))
    model.registrations.append(Model.Registration(device: device))
  }

  private func rename(
    _ index: Int, _ world: TestWorld, _ model: inout Model, _ clients: [Client],
    _ random: inout SeededRandom
  ) async {
    let tags = Set(Self.tags.filter { _ in Bool.random(using: &random) })
    let alias = Bool.random(using: &random) ? Self.aliases.randomElement(using: &random) : nil
    let change = DeviceChange(tags: .set(Array(tags)), alias: alias.map { .set($0) } ?? .clear)
    let holders = model.registrations.indices.filter {
      !model.registrations[$0].isReplaced && model.registrations[$0].alias == alias && $0 != index
    }
    let result = await world.change(change, of: clients[index].device)
    if model.registrations[index].isReplaced {
      #expect(isFailed(result, .unknownRegistration))
    } else if alias != nil, holders.count >= 10 {
      #expect(isFailed(result, .aliasFull))
    } else {
      #expect(isDone(result))
      model.registrations[index].tags = tags
      model.registrations[index].alias = alias
    }
  }

  private func push(
    _ world: TestWorld, _ model: inout Model, _ clients: [Client], _ random: inout SeededRandom
  ) async throws {
    func some(_ names: [String]) -> [String] {
      Int.random(in: 0..<3, using: &random) == 0 ? names.filter { _ in Bool.random(using: &random) } : []
    }
    var terms = AudienceFilter()
    (terms.tags, terms.tagsAnd, terms.tagsNot) = (some(Self.tags), some(Self.tags), some(Self.tags))
    terms.aliases = some(Self.aliases)
    let ids =
      Int.random(in: 0..<3, using: &random) == 0
      ? (0..<3).compactMap { _ in clients.indices.randomElement(using: &random) } : nil
    if let ids { terms.registrationIDs = ids.map { clients[$0].device.id.text } }
    var request = AcceptRequest.test(timeToLive: Int.random(in: 1...90, using: &random))
    request.push.audience = terms.isEmpty ? .all : .filter(terms)
    let targets = model.audience(terms, ids: ids)
    let overridden = model.pushes.last { !$0.isWithdrawn }
    if overridden != nil, Int.random(in: 0..<8, using: &random) == 0 {
      request.push.options.overrideMessageID = overridden?.id
    }
    switch await world.accept(request) {
    case .failure(let error):
      #expect(error == .noTarget && targets.isEmpty)
    case .success(let accepted):
      #expect(accepted.targets == targets.count && !targets.isEmpty)
      if let old = request.push.options.overrideMessageID,
        let index = model.pushes.firstIndex(where: { $0.id == old })
      {
        model.pushes[index].isWithdrawn = true
      }
      let expires = world.clock.seconds + UInt32(request.push.options.timeToLive)
      model.pushes.append(Model.Push(id: accepted.id, targets: targets, expires: expires))
    }
  }

  private func connect(_ index: Int, _ world: TestWorld, _ clients: inout [Client]) {
    let location = world.login(clients[index].device)
    guard location.loop == 0 else { return }
    clients[index].location = location
    clients[index].sentThrough = MessageID(0)
    catchUp(index, world, &clients)
  }

  private func disconnect(_ index: Int, _ world: TestWorld, _ clients: inout [Client]) {
    guard let location = clients[index].location else { return }
    clients[index].location = nil
    world.app.directory.disconnect(clients[index].device.number, from: location, at: world.clock.seconds)
  }

  private func acknowledge(
    _ index: Int, _ world: TestWorld, _ model: inout Model, _ clients: [Client],
    _ random: inout SeededRandom
  ) {
    guard clients[index].location != nil else { return }
    let ids = clients[index].shown.filter { _ in Bool.random(using: &random) }
    world.router.deliveries.acknowledge(
      ids.shuffled(using: &random), by: clients[index].device.number, in: world.app)
    model.registrations[index].acknowledged.formUnion(ids)
  }

  /// After a crash the device says again what it had acknowledged, when it is sent again.
  private func restart(
    _ world: TestWorld, _ model: inout Model, _ clients: inout [Client], _ random: inout SeededRandom
  ) async throws {
    let isOrderly = Bool.random(using: &random)
    try await world.restart(isOrderly: isOrderly)
    for index in clients.indices {
      clients[index].location = nil
      guard !isOrderly else { continue }
      let back = world.pending(clients[index].device).filter {
        model.registrations[index].acknowledged.contains($0)
      }
      #expect(back.allSatisfy { clients[index].shown.contains($0) })
      world.router.deliveries.acknowledge(back, by: clients[index].device.number, in: world.app)
    }
  }

  /// Brings what the router gave to the channel to the devices, as our own channel does.
  private func deliver(_ world: TestWorld, _ clients: inout [Client]) {
    for event in world.channel.drain() {
      switch event {
      case .single(let id, let number, let location):
        for index in clients.indices
        where clients[index].device.number == number && clients[index].location == location {
          if clients[index].sentThrough < id { clients[index].receive(id) }
        }
      case .group(let id, let numbers):
        let numbers = Set(numbers)
        for index in clients.indices
        where clients[index].location != nil && numbers.contains(clients[index].device.number) {
          if clients[index].sentThrough < id { clients[index].receive(id) }
        }
      case .recall, .stored, .disconnect, .forget, .factsWanted: break
      }
    }
  }

  private func catchUp(_ index: Int, _ world: TestWorld, _ clients: inout [Client]) {
    while true {
      let batch = world.app.directory.pending(
        for: clients[index].device.number, after: clients[index].sentThrough, at: world.clock.seconds,
        limit: 2
      ).ids
      guard !batch.isEmpty else { return }
      for id in batch { clients[index].receive(id) }
    }
  }

  private func compare(_ world: TestWorld, _ model: Model, _ clients: [Client]) {
    for index in clients.indices {
      let expected = model.pending(index, at: world.clock.seconds)
      #expect(world.pending(clients[index].device) == expected)
      #expect(clients[index].shown == clients[index].shown.sorted(), "in the order of the IDs")
      let meant = Set(model.pushes.filter { $0.targets.contains(index) }.map(\.id))
      #expect(meant.isSuperset(of: clients[index].shown), "nothing that was for somebody else")
      if clients[index].location != nil {
        #expect(Set(expected).isSubset(of: clients[index].shown), "a connected device has all of it")
      }
    }
    #expect(world.app.directory.registrationCount == model.registrations.count { !$0.isReplaced })
    #expect(world.app.directory.onlineCount == clients.count { $0.location != nil })
  }
}
