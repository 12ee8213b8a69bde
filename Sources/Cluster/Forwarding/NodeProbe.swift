import BorealisBase
import BorealisNet
import HTTP

/// Asks the other nodes again and again whether they take requests of this one, over connections like those
/// for requests. Made on a loop's thread and never leaves it.
///
/// A connection is kept for some questions and then made anew: certificates and ports may have changed since.
package final class NodeProbe: LoopDriver {
  private final class Question {
    var connection: Connection
    let number: Int64
    let node: NodeAddress
    let openedAt: UInt64
    var token: ConnectionToken?
    var parser = HTTPResponseParser(
      limits: HTTPLimits(header: ForwardLimits.header, fields: ForwardLimits.fields, body: 1024))
    /// When it was asked, or began to connect; nil while it waits for the next question.
    var askedAt: UInt64?
    /// When the question went out.
    var sentAt: UInt64?

    init(_ connection: Connection, _ number: Int64, _ node: NodeAddress, now: UInt64) {
      (self.connection, self.number, self.node, openedAt, askedAt) = (connection, number, node, now, now)
    }
  }

  /// Nanoseconds that connecting and the answer may take together.
  private static let patience: UInt64 = 2_000_000_000
  /// Questions over one connection.
  private static let lifetime: UInt64 = 10

  private unowned let loop: EventLoop
  private let reach: NodeReach
  private var index: UInt8 = 0
  private var table = ReachTable()
  private var sockets = Slab<Question?>(blank: nil)
  private var questions: [Int64: Question] = [:]
  private var buffer = [UInt8](repeating: 0, count: 4096)
  private var scratch: [UInt8] = []
  private var failures: [Int64: Int] = [:]

  init(loop: EventLoop, reach: NodeReach) {
    (self.loop, self.reach) = (loop, reach)
    index = loop.add(self)
  }

  deinit { for question in questions.values { question.connection.cut() } }

  /// Asks those that are due.
  package func tick() {
    let (now, nodes) = (loop.now, reach.nodes)
    for question in Array(questions.values) where nodes[question.number] != question.node { end(question) }
    for question in Array(questions.values) {
      guard let asked = question.askedAt, now - asked >= Self.patience else { continue }
      fail(question, question.connection.stage == .open ? "no answer in time" : "no connection in time")
    }
    table.keep(nodes.keys, at: now)
    for number in table.popDue(at: now) {
      if let node = nodes[number] { ask(number, node) }
    }
    reach.note(table.reached(at: now), table.problems(at: now))
  }

  /// It has no mail.
  package func drainMail() {}

  /// Nothing is left for the end of a turn.
  package func endTurn() -> Bool { false }

  /// A socket is ready.
  package func ready(_ token: ConnectionToken, _ readiness: Readiness) {
    guard sockets.isCurrent(token.slot, token.generation), let question = sockets[token.slot] else { return }
    switch question.connection.stage {
    case .connecting, .handshaking: proceed(question)
    case .open, .shut:
      if question.connection.canSend(readiness) { flush(question) }
      if question.token != nil, question.connection.canRead(readiness) { receive(question) }
    case .closed: return
    }
    settle(question)
  }

  // MARK: Asking

  private func ask(_ number: Int64, _ node: NodeAddress) {
    if let question = questions[number] {
      guard question.askedAt == nil else { return }
      if loop.now - question.openedAt < Self.lifetime * table.interval { return greet(question) }
      end(question)
    }
    open(number, node)
  }

  private func open(_ number: Int64, _ node: NodeAddress) {
    let addresses = reach.addresses(of: node.host)
    guard !addresses.isEmpty else { return table.fail(number, "its name \(node.host) has no address") }
    let address = addresses[failures[number, default: 0] % addresses.count]
    let tls = reach.tls?.client
    guard tls != nil || IPNetwork.isLoopback(address) else {
      return table.fail(number, "without certificates of nodes only nodes on this machine are used")
    }
    do {
      var connection = try Connection(to: address, port: node.port)
      do {
        if let tls { try connection.secure(with: tls, peerName: node.name) }
      } catch {
        connection.cut()
        throw error
      }
      let question = Question(connection, number, node, now: loop.now)
      let (slot, generation) = sockets.insert(question)
      let token = ConnectionToken(driver: index, generation: generation, slot: slot)
      question.token = token
      questions[number] = question
      if !question.connection.watch(token, on: loop) {
        fail(question, "the system watches no more sockets")
      }
    } catch {
      failures[number, default: 0] += 1
      table.fail(number, "\(error)")
    }
  }

  private func proceed(_ question: Question) {
    switch question.connection.proceed() {
    case .inProgress: break
    case .open: greet(question)
    case .unreachable(let error): fail(question, error.description)
    case .failed(let reason): fail(question, reason)
    }
  }

  private func greet(_ question: Question) {
    question.askedAt = question.askedAt ?? loop.now
    question.sentAt = loop.now
    question.connection.append { $0 += ForwardedRequest.hello }
    flush(question)
    settle(question)
  }

  private func flush(_ question: Question) {
    if case .failed(let reason) = question.connection.flush(scratch: &scratch) { fail(question, reason) }
  }

  private func receive(_ question: Question) {
    for _ in 0..<4 {
      switch question.connection.read(into: &buffer) {
      case .bytes(let count): receive(count, question)
      case .nothing: return
      case .ended:
        return fail(question, "it closes the connection: it may not accept this node's certificate")
      case .failed(let reason): return fail(question, reason)
      }
      guard question.token != nil, question.connection.hasUnread else { return }
    }
  }

  private func receive(_ count: Int, _ question: Question) {
    guard let sent = question.sentAt else { return fail(question, "it sent an unexpected answer") }
    switch question.parser.consume(buffer.span.extracting(0..<count)).event {
    case .needMore: break
    case .response(let response, let keepAlive) where HomeAnswer.isGreeting(response):
      table.answer(of: question.number, after: loop.now - sent, at: loop.now)
      (question.askedAt, question.sentAt, failures[question.number]) = (nil, nil, nil)
      if !keepAlive { end(question) }
    case .response, .failure: fail(question, "it does not answer as a node of a cluster")
    }
  }

  // MARK: The end

  private func fail(_ question: Question, _ reason: String) {
    // One that was idle may just have ended: only a question can be in vain.
    if question.askedAt != nil {
      table.fail(question.number, reason)
      failures[question.number, default: 0] += 1
      reach.lookUp(question.node.host)
    }
    end(question)
  }

  private func end(_ question: Question) {
    guard let token = question.token else { return }
    question.token = nil
    questions[question.number] = nil
    sockets.remove(token.slot)
    question.connection.close(on: loop)
  }

  private func settle(_ question: Question) {
    guard let token = question.token else { return }
    question.connection.settle(token, on: loop)
  }
}
