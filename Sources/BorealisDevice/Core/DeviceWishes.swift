import BorealisProtocol

/// The alias and the tags that the app has set through this device, stored so that they can be set again when
/// the install gets a new registration, which starts without them.
public struct DeviceWishes: Hashable, Sendable {
  /// The alias; nil for none.
  public var alias: String?
  /// The tags.
  public var tags: Set<String>
  /// Whether the server has confirmed them for the current registration. If not, they are sent after the next
  /// login.
  public var areKnownToServer: Bool

  /// Makes the state; empty by default.
  public init(alias: String? = nil, tags: Set<String> = [], areKnownToServer: Bool = true) {
    self.alias = alias
    self.tags = tags
    self.areKnownToServer = areKnownToServer
  }

  /// Whether there is neither alias nor tag.
  public var isEmpty: Bool { alias == nil && tags.isEmpty }

  /// Applies an operation that succeeded.
  mutating func apply(_ operation: Operation) {
    switch operation {
    case .setAlias(let new): alias = new
    case .deleteAlias: alias = nil
    case .setTags(let new): tags = Set(new)
    case .addTags(let more): tags.formUnion(more)
    case .deleteTags(let fewer): tags.subtract(fewer)
    case .cleanTags: tags = []
    default: break
    }
  }

  /// The operations that bring a new registration to this state.
  var operations: [Operation] {
    var operations: [Operation] = []
    if let alias { operations.append(.setAlias(alias)) }
    if !tags.isEmpty { operations.append(.setTags(tags.sorted())) }
    return operations
  }
}
