import BorealisBase
import BorealisNet

/// The way of a request through a proxy.
struct ProxyRoute: Sendable {
  let proxy: OutgoingProxy
  /// The address to ask the proxy for, with brackets if it needs them; nil for the host by its name.
  let target: String?
}

/// Finds the way of requests through a proxy. A host that a guard is to check is looked up here, on threads
/// of their own, so that the proxy is asked for the very address that was checked.
final class ProxyRoutes: Sendable {
  /// Names wait for others that share their thread, so that one that hangs holds up few.
  private let resolvers = (0..<4).map { _ in NameResolver() }
  private let proxy: OutgoingProxy
  private let allows: (@Sendable (IPAddress) -> Bool)?

  /// Nil without a proxy.
  init?(_ options: HTTPTransport.Options) {
    guard let proxy = options.proxy else { return nil }
    (self.proxy, allows) = (proxy, options.allows)
  }

  /// Calls `done` with the way to the host of a URL, nil for a connection of its own, or with the answer to a
  /// request that cannot be sent; at once or on another thread.
  func find(_ url: String, done: @escaping @Sendable (Result<ProxyRoute?, Refusal>) -> Void) {
    guard let scheme = url.firstRange(of: "://"),
      let authority = URLAuthority(url[scheme.upperBound...].prefix { !"/?#".contains($0) })
    else { return done(.failure(Refusal(answer: HTTPAnswer(error: "the address is malformed")))) }
    let host = authority.host.filter { $0 != "[" && $0 != "]" }
    guard proxy.serves(host) else { return done(.success(nil)) }
    guard let allows else { return done(.success(ProxyRoute(proxy: proxy, target: nil))) }
    @Sendable func choose(_ addresses: [String]) {
      let known = addresses.compactMap { IPAddress($0) }
      if let address = known.first(where: allows) {
        let target = address.isV4 ? address.text : "[\(address.text)]"
        return done(.success(ProxyRoute(proxy: proxy, target: target)))
      }
      var answer = HTTPAnswer(
        error: known.isEmpty ? "the name cannot be looked up" : "the address is not allowed")
      answer.refused = known.first
      done(.failure(Refusal(answer: answer)))
    }
    if IPAddress(host) != nil { return choose([host]) }
    let place = host.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff } % resolvers.count
    resolvers[place].resolve(host) { choose($0) }
  }

  /// Why a request is not sent.
  struct Refusal: Error, Sendable {
    let answer: HTTPAnswer
  }
}
