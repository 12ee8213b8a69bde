import BorealisBase
import BorealisProtocol

/// The name of a cluster: part of its subjects and of every frame, so that two clusters on one bus do not
/// mix.
package struct ClusterName: Hashable, Sendable {
  /// 1 to 32 lower-case letters, digits, `-` and `_`.
  package let text: String
  /// What is in frames: nodes of two databases do not hear each other even if their clusters have one name.
  package private(set) var mark: String

  /// Nil if the text is not a name: it has to fit into a subject of NATS.
  package init?(_ text: String) {
    guard (1...ClusterLimits.maxName).contains(text.utf8.count) else { return nil }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        continue
      default: return nil
      }
    }
    (self.text, mark) = (text, text)
  }

  /// The same name for the nodes of one database alone, which has an ID of at most 24 bytes; nil if that is
  /// longer.
  package func inDatabase(_ id: String) -> ClusterName? {
    guard id.utf8.count <= ClusterLimits.maxDatabase else { return nil }
    var name = self
    name.mark = "\(text) \(id)"
    return name
  }
}

/// One registration of a node in the database, never reused: a node that starts again, or that was fenced,
/// has a new one.
package struct Incarnation: Hashable, Comparable, Sendable {
  /// The database's number, from 1.
  package let rawValue: UInt64

  /// Wraps a number.
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// No node: frames to all are addressed to it.
  package static let none = Incarnation(0)

  /// Orders by age.
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Grows with each assignment of an app to a home. What comes from an older epoch has no effect.
package struct Epoch: Hashable, Comparable, Sendable {
  /// The number, from 1; 0 where no app is meant.
  package let rawValue: UInt64

  /// Wraps a number.
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// The epoch of what belongs to no app.
  package static let none = Epoch(0)

  /// Orders by age.
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension AppID {
  /// Stands for what belongs to no app; it has a home, too.
  package static let none = AppID(0)
}

/// A session of a device as all nodes name it.
package struct Handle: Hashable, Sendable {
  /// The gateway that owns the connection.
  package let incarnation: Incarnation
  /// Index of the event loop there.
  package let loop: UInt16
  /// The connection's slot on that loop.
  package let slot: UInt32
  /// The slot's generation, which distinguishes a connection from its successors.
  package let generation: UInt32

  package init(incarnation: Incarnation, loop: UInt16, slot: UInt32, generation: UInt32) {
    self.incarnation = incarnation
    self.loop = loop
    self.slot = slot
    self.generation = generation
  }
}
