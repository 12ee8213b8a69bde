import BorealisBase
import BorealisProtocol

/// HELLO: a node says who it is, to all nodes every two seconds, or to one that has just been heard of. Every
/// version can read it.
package struct NodeHello: MessageBody {
  /// The frame versions that it speaks.
  package let versions: ClosedRange<UInt8>
  /// Its name, which stays the same when it starts again.
  package let name: String
  /// Where other nodes reach its HTTP server: `host:port`.
  package let address: String
  /// The version of its program, for people.
  package let program: String
  /// How busy it is, in thousandths of its processors.
  package let load: UInt32
  /// Its devices are being sent to other nodes; it takes no new apps.
  package let isDraining: Bool
  /// It asks the receiver to say hello as well.
  package let wantsAnswer: Bool
  /// Where devices reach it, and no other node: `host:port`; empty if there is no such address.
  package let deviceAddress: String

  /// All fields; texts are cut after 255 bytes.
  package init(
    versions: ClosedRange<UInt8> = ClusterLimits.versions, name: String, address: String, program: String,
    load: UInt32 = 0, isDraining: Bool = false, wantsAnswer: Bool = false, deviceAddress: String = ""
  ) {
    self.versions = versions
    self.name = name
    self.address = address
    self.program = program
    self.load = load
    self.isDraining = isDraining
    self.wantsAnswer = wantsAnswer
    self.deviceAddress = deviceAddress
  }

  func write(into output: inout [UInt8]) {
    output.append(versions.lowerBound)
    output.append(versions.upperBound)
    output.append(text: name)
    output.append(text: address)
    output.append(text: program)
    output.appendVarint(UInt64(load))
    output.append(flag: isDraining)
    output.append(flag: wantsAnswer)
    output.append(text: deviceAddress)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    let (least, most): (UInt8, UInt8) = (try reader.integer(in: bytes), try reader.integer(in: bytes))
    guard least <= most else { throw .invalidValue }
    versions = least...most
    name = try reader.text(in: bytes)
    address = try reader.text(in: bytes)
    program = try reader.text(in: bytes)
    load = try reader.smallVarint(in: bytes)
    isDraining = try reader.flag(in: bytes)
    wantsAnswer = try reader.flag(in: bytes)
    // The version before does not say it.
    deviceAddress = reader.rest.isEmpty ? "" : try reader.text(in: bytes)
  }
}

/// How far the pushes of an app have come.
package struct AppPosition: Hashable, Sendable {
  package let app: AppID
  /// The epoch of its home.
  package let epoch: Epoch
  /// The newest push.
  package let id: MessageID

  package init(app: AppID, epoch: Epoch, id: MessageID) {
    self.app = app
    self.epoch = epoch
    self.id = id
  }

  fileprivate static func write(_ position: Self, _ output: inout [UInt8]) {
    output.appendVarint(UInt64(position.app.rawValue))
    output.appendVarint(position.epoch.rawValue)
    output.append(id: position.id)
  }

  fileprivate init(_ reader: inout BodyReader, _ bytes: Span<UInt8>) throws(FrameError) {
    app = AppID(try reader.smallVarint(in: bytes))
    epoch = Epoch(try reader.varint(in: bytes))
    id = try reader.id(in: bytes)
  }

  fileprivate static let bytes = 10
}

/// POSITION: what a node has sent to the receiver, every second. It finds a tail that was lost.
package struct LinkPosition: MessageBody {
  /// The sequence number of the newest frame.
  package let sequence: UInt64
  /// The newest timeline of PostgreSQL that the sender has seen; who hears a higher one than its own stops
  /// committing until it has connected anew.
  package let timeline: UInt32
  /// The newest pushes sent, of apps of which the receiver has not said to have applied them.
  package let apps: [AppPosition]

  package init(sequence: UInt64, timeline: UInt32, apps: [AppPosition]) {
    self.sequence = sequence
    self.timeline = timeline
    self.apps = apps
  }

  func write(into output: inout [UInt8]) {
    output.appendVarint(sequence)
    output.appendVarint(UInt64(timeline))
    output.append(list: apps, AppPosition.write)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    sequence = try reader.varint(in: bytes)
    timeline = try reader.smallVarint(in: bytes)
    apps = try reader.list(
      atMost: ClusterLimits.positionsPerMessage, bytesEach: AppPosition.bytes, in: bytes
    ) { reader throws(FrameError) in try AppPosition(&reader, bytes) }
  }
}

/// APPLIED: what a node has applied of what the receiver sent, every second and after each megabyte.
package struct LinkApplied: MessageBody {
  /// All frames up to this one have been applied or given up.
  package let sequence: UInt64
  /// The newest timeline of PostgreSQL that the sender has seen.
  package let timeline: UInt32
  /// The newest pushes applied, of apps whose position has changed or was asked for.
  package let apps: [AppPosition]

  package init(sequence: UInt64, timeline: UInt32, apps: [AppPosition]) {
    self.sequence = sequence
    self.timeline = timeline
    self.apps = apps
  }

  func write(into output: inout [UInt8]) {
    LinkPosition(sequence: sequence, timeline: timeline, apps: apps).write(into: &output)
  }

  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    let fields = try LinkPosition(from: &reader, in: bytes)
    self.init(sequence: fields.sequence, timeline: fields.timeline, apps: fields.apps)
  }
}
