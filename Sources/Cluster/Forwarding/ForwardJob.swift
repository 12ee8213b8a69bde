import BorealisBase
import HTTP

/// A request on its way to the home and its answer on the way back. Belongs to a loop's thread.
final class ForwardJob {
  /// Who waits for the outcome.
  enum Asker {
    /// A client.
    case client(HTTPExchange)
    /// A server that must know whether a large body may come.
    case screening(HTTPInquiry)
  }

  let forwarded: ForwardedRequest
  /// The app that it names.
  private(set) var app: AppKey?
  /// Whether it was looked which app that is: nobody asks where one home has all apps.
  private var isAppKnown: Bool
  let asker: Asker
  /// When it has waited long enough, by the loop's clock.
  let deadline: UInt64
  /// Whether it was sent once.
  var wasSent = false
  /// The memory that it holds while it waits.
  var waiting: HTTPMemory.Share?
  /// The memory that its answer holds as it comes in.
  var answer: HTTPMemory.Share?

  /// `app` is nil if nobody has asked, and holds nil if the request names none.
  init(_ forwarded: ForwardedRequest, of app: AppKey??, for asker: Asker, deadline: UInt64) {
    (self.forwarded, self.asker, self.deadline) = (forwarded, asker, deadline)
    (self.app, isAppKnown) = (app ?? nil, app != nil)
  }

  /// Looks which app it names, unless that was done.
  func findApp(_ find: (HTTPRequest) -> AppKey?) {
    guard !isAppKnown else { return }
    (app, isAppKnown) = (find(forwarded.request), true)
  }

  /// What the home is sent.
  var encoded: (head: [UInt8], body: [UInt8]) {
    var named = forwarded
    named.app = app
    return named.encoded
  }

  /// Whether it may be sent once more although a home may have got it.
  var isSafeToRepeat: Bool {
    if case .screening = asker { true } else { false }
  }

  /// Whether the client is authenticated, as far as this node knows.
  var isKnown: Bool {
    if case .client(let exchange) = asker { exchange.isKnown } else { false }
  }

  /// Memory that it takes, roughly.
  var cost: Int {
    var sum = 512 + forwarded.request.target.utf8.count + forwarded.request.body.capacity
    for field in forwarded.request.headers.fields {
      sum += 96 + field.name.utf8.count + field.value.utf8.count
    }
    return sum
  }

  /// Passes the home's answer on.
  func finish(_ answer: HomeAnswer) -> Bool {
    switch (asker, answer) {
    case (.client(let exchange), .served(let response)): exchange.respond(response)
    case (.screening(let inquiry), .served(let response)): inquiry.answer(.refused(response))
    case (.screening(let inquiry), .admitted(let bodyBytes, let isKnown)):
      inquiry.answer(.admitted(bodyBytes: bodyBytes, isKnown: isKnown))
    case (.client, .admitted), (_, .notHome): return false
    }
    return true
  }

  /// Ends it without an answer of a home.
  func refuse(_ response: HTTPResponse) {
    switch asker {
    case .client(let exchange): exchange.respond(response)
    case .screening(let inquiry): inquiry.answer(.refused(response))
    }
  }

  /// Gives it to handlers of this process.
  func serve(_ handlers: RequestHandlers) {
    let (request, isSecure) = (forwarded.request, forwarded.isSecure)
    switch asker {
    case .client(let exchange): handlers.handle(request, exchange, isSecure)
    case .screening(let inquiry):
      inquiry.answer(handlers.screen(request, forwarded.requestID, forwarded.client, isSecure))
    }
  }
}
