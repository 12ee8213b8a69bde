// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Dispatch
import Foundation
import Security

// The declarations of Apple's Network framework that the library uses. NWConnection works over sockets.

public enum NWError: Error, Equatable, Sendable {
  case posix(Int32)
  case tls(OSStatus)
  case dns(Int32)

  public var localizedDescription: String {
    switch self {
    case .posix(let number): String(cString: strerror(number))
    case .tls: "TLS: refused"
    case .dns(let number): String(cString: gai_strerror(number))
    }
  }
}

public enum NWEndpoint {
  public struct Host: Sendable {
    let name: String

    public init(_ string: String) { name = string }
  }

  public struct Port: Sendable, ExpressibleByIntegerLiteral {
    public let rawValue: UInt16

    public init(integerLiteral value: UInt16) { rawValue = value }
  }
}

public final class NWProtocolTCP {
  public final class Options: @unchecked Sendable {
    public var noDelay = false

    public init() {}
  }
}

public final class NWProtocolTLS {
  public final class Options: @unchecked Sendable {
    public let securityProtocolOptions = sec_protocol_options_t()

    public init() {}
  }
}

public final class NWParameters: @unchecked Sendable {
  let tls: NWProtocolTLS.Options?

  public init(tls: NWProtocolTLS.Options?, tcp: NWProtocolTCP.Options = NWProtocolTCP.Options()) {
    self.tls = tls
  }
}

public struct NWPath: Sendable {
  public enum Status: Sendable {
    case satisfied
    case unsatisfied
    case requiresConnection
  }

  public let status: Status
}

public final class NWPathMonitor: @unchecked Sendable {
  public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?

  public init() {}

  public func start(queue: DispatchQueue) {
    let handler = pathUpdateHandler
    queue.async { handler?(NWPath(status: .satisfied)) }
  }

  public func cancel() {}
}

public final class NWConnection: Sendable {
  public enum State: Equatable, Sendable {
    case setup
    case waiting(NWError)
    case preparing
    case ready
    case failed(NWError)
    case cancelled
  }

  public final class ContentContext: Sendable {
    public static let defaultMessage = ContentContext(isFinal: false)
    public static let finalMessage = ContentContext(isFinal: true)

    let isFinal: Bool

    private init(isFinal: Bool) { self.isFinal = isFinal }
  }

  public enum SendCompletion: Sendable {
    case contentProcessed(@Sendable (NWError?) -> Void)
    case idempotent
  }

  private let stream: Stream

  public init(host: NWEndpoint.Host, port: NWEndpoint.Port, using parameters: NWParameters) {
    stream = Stream(host: host.name, port: port.rawValue, tls: parameters.tls?.securityProtocolOptions)
  }

  deinit { stream.cancel() }

  public var stateUpdateHandler: (@Sendable (State) -> Void)? {
    get { stream.handler }
    set { stream.handler = newValue }
  }

  public func start(queue: DispatchQueue) { stream.start(queue) }

  public func receive(
    minimumIncompleteLength: Int, maximumLength: Int,
    completion: @escaping @Sendable (Data?, ContentContext?, Bool, NWError?) -> Void
  ) {
    precondition(minimumIncompleteLength == 1, "the library asks for no more")
    stream.receive(maximumLength) { completion($0, .defaultMessage, $1, $2) }
  }

  public func send(
    content: Data?, contentContext: ContentContext = .defaultMessage, isComplete: Bool = true,
    completion: SendCompletion
  ) {
    stream.send(content ?? Data(), isFinal: contentContext.isFinal) { error in
      if case .contentProcessed(let done) = completion { done(error) }
    }
  }

  public func cancel() { stream.cancel() }

  public func forceCancel() { stream.cancel() }
}
