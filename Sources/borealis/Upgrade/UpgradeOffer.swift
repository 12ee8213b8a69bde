import BorealisBase
import BorealisNet
import DeviceGateway

/// What a server tells the process that is to take its place, before that may begin.
struct UpgradeOffer {
  /// How sessions are written (`DeviceServer.passed`) and what frames mean. A process that knows another
  /// form than the server does not take its place: raised with each change, and as soon as a version writes
  /// something into the database when it starts that the one before cannot read, though the schema is the
  /// same.
  static let form = 1

  /// That of the server.
  let form: Int
  let version: String
  /// Event loops, each of which has a listening socket for each address.
  let loops: Int
  /// The addresses, `HOST:PORT` by the name of their setting.
  let addresses: [(name: String, address: String)]
  /// Whether the socket for commands comes with it.
  let acceptsCommands: Bool

  init(loops: Int, addresses: [(name: String, address: String)], acceptsCommands: Bool) {
    (form, version) = (Self.form, Program.version)
    (self.loops, self.addresses, self.acceptsCommands) = (loops, addresses, acceptsCommands)
  }

  /// Nil for what is not an offer.
  init?(_ bytes: [UInt8]) {
    guard let object = (try? parseJSON(bytes))?.object, let form = object["form"]?.int64,
      let version = object["version"]?.string, let loops = object["loops"]?.int64,
      let addresses = object["addresses"]?.object, let commands = object["commands"]?.bool
    else { return nil }
    (self.form, self.version) = (Int(clamping: form), version)
    (self.loops, acceptsCommands) = (Int(clamping: loops), commands)
    self.addresses = addresses.members.compactMap { member in
      member.value.string.map { (member.key, $0) }
    }
  }

  var bytes: [UInt8] {
    var places = JSONObject()
    for (name, address) in addresses { places.set(name, .string(address)) }
    var object = JSONObject()
    object.set("form", .number(JSONNumber(Int64(form))))
    object.set("version", .string(version))
    object.set("loops", .number(JSONNumber(Int64(loops))))
    object.set("addresses", .object(places))
    object.set("commands", .bool(acceptsCommands))
    return JSONWriter.serialize(.object(object))
  }

  /// Why a server with these settings cannot take the place; nil if it can.
  func obstacle(_ settings: ServeSettings) -> String? {
    guard form == Self.form else {
      return
        "version \(version) passes its connections on in form \(form), version \(Program.version) in form \(Self.form): restart the server"
    }
    guard settings.cluster == nil, settings.folder.holdsDatabase else {
      return "only a server alone, with its database in a file, can be upgraded without a restart"
    }
    guard settings.loops == loops else {
      return "--loops is \(settings.loops), and was \(loops): restart the server"
    }
    let wanted = settings.addresses
    guard wanted.map(\.name) == addresses.map(\.name),
      zip(wanted, addresses).allSatisfy({ Self.fits($0.address, $1.address) })
    else { return "the addresses have changed: restart the server" }
    return nil
  }

  /// Whether an address of the settings is one that was bound.
  private static func fits(_ wanted: HostPort, _ bound: String) -> Bool {
    guard let bound = HostPort(bound) else { return false }
    return wanted.host == bound.host && (wanted.port == 0 || wanted.port == bound.port)
  }
}

/// What passes from a loop of a server to the loop of the same index in the new process.
struct PassedLoop: Sendable {
  var devices: [PassedDevice] = []
  /// Sockets of HTTP connections between requests.
  var requests: [Int32] = []

  /// Bytes of sessions from which on a frame is full.
  private static let frameBytes = 1 << 20

  /// Overwrites the keys of devices that are left.
  mutating func wipe() { for index in devices.indices { devices[index].session.wipe() } }

  /// Removes and returns what the next frame carries; nil if nothing is left. Keys are in the frame alone
  /// then.
  mutating func popFrame(
    of loop: Int
  ) -> (kind: UpgradeLink.Kind, content: [UInt8], descriptors: [Int32])? {
    guard !devices.isEmpty else {
      guard !requests.isEmpty else { return nil }
      let sockets = Array(requests.suffix(UpgradeLink.mostDescriptors))
      requests.removeLast(sockets.count)
      var writer = ByteWriter()
      writer.write(UInt16(clamping: loop))
      return (.requests, writer.bytes, sockets)
    }
    // With room for exactly what is written: moved, it would leave a copy behind.
    var (count, size) = (0, MemoryLayout<UInt16>.size)
    while count < min(devices.count, UpgradeLink.mostDescriptors), size < Self.frameBytes {
      count += 1
      size += MemoryLayout<UInt32>.size + devices[devices.count - count].session.count
    }
    var writer = ByteWriter(capacity: size)
    writer.write(UInt16(clamping: loop))
    var descriptors: [Int32] = []
    while descriptors.count < count, var device = devices.popLast() {
      descriptors.append(device.descriptor)
      writer.write(UInt32(device.session.count))
      writer.write(bytes: device.session)
      device.session.wipe()
    }
    return (.devices, writer.bytes, descriptors)
  }

  /// Adds what a frame carries to the loops that it is for; false if it makes no sense.
  static func add(_ frame: UpgradeLink.Frame, to loops: inout [PassedLoop]) -> Bool {
    var reader = ByteReader(frame.content)
    guard let loop = reader.read(UInt16.self).map({ Int($0) }), loop < loops.count else { return false }
    guard frame.kind == .devices else {
      loops[loop].requests += frame.descriptors
      return reader.remaining == 0
    }
    for descriptor in frame.descriptors {
      guard let size = reader.read(UInt32.self), let session = reader.read(count: Int(size)) else {
        return false
      }
      loops[loop].devices.append(PassedDevice(descriptor: descriptor, session: session))
    }
    return reader.remaining == 0
  }
}
