/// The first byte of a frame after its length. Types below 0x80 come from clients, except PONG; the others
/// from servers.
public struct FrameType: RawRepresentable, Hashable, Sendable {
  /// The byte on the wire.
  public let rawValue: UInt8

  /// Wraps a byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  private init(_ rawValue: UInt8) { self.rawValue = rawValue }

  /// Client: heartbeat.
  public static let ping = FrameType(0x01)
  /// Server: response to a heartbeat.
  public static let pong = FrameType(0x02)
  /// Client: the versions that it supports.
  public static let hello = FrameType(0x10)
  /// Client: requests a registration.
  public static let register = FrameType(0x11)
  /// Client: starts a session.
  public static let login = FrameType(0x12)
  /// Client: has processed pushes.
  public static let acknowledge = FrameType(0x20)
  /// Client: has processed pushes, with how long ago they arrived. Since version 3.
  public static let acknowledgeWithAges = FrameType(0x22)
  /// Client: pushes were shown or tapped.
  public static let receipt = FrameType(0x21)
  /// Client: binds an alias.
  public static let setAlias = FrameType(0x30)
  /// Client: releases its alias.
  public static let deleteAlias = FrameType(0x31)
  /// Client: gets its alias.
  public static let getAlias = FrameType(0x32)
  /// Client: replaces all its tags.
  public static let setTags = FrameType(0x33)
  /// Client: adds tags.
  public static let addTags = FrameType(0x34)
  /// Client: removes tags.
  public static let deleteTags = FrameType(0x35)
  /// Client: removes all its tags.
  public static let cleanTags = FrameType(0x36)
  /// Client: gets its tags.
  public static let getTags = FrameType(0x37)
  /// Client: checks whether it has a tag.
  public static let checkTag = FrameType(0x38)
  /// Client: reports its badge number.
  public static let setBadge = FrameType(0x39)
  /// Client: reports its APNs token.
  public static let setToken = FrameType(0x3A)
  /// Client: went to the foreground or background.
  public static let appState = FrameType(0x3B)
  /// Client: ends the session.
  public static let logout = FrameType(0x3C)
  /// Client: reports a token for VoIP pushes or Live Activities. Since version 2.
  public static let setOtherToken = FrameType(0x3D)
  /// Client: sets the public key of its device. Since version 4.
  public static let setKey = FrameType(0x3E)
  /// Client: gets a key that it shares with other devices. Since version 4.
  public static let getKey = FrameType(0x3F)
  /// Client: reports a token of any channel. Since version 5.
  public static let setChannelToken = FrameType(0x40)
  /// Client: reports facts about the device. Since version 6.
  public static let setFacts = FrameType(0x41)
  /// Server: the version to speak.
  public static let helloOK = FrameType(0x90)
  /// Server: a new registration.
  public static let registerOK = FrameType(0x91)
  /// Server: the session has started.
  public static let loginOK = FrameType(0x92)
  /// Server: the facts that the app asks for. Since version 6.
  public static let factsWanted = FrameType(0x93)
  /// Server: a push.
  public static let push = FrameType(0xA0)
  /// Server: recalls a push.
  public static let recall = FrameType(0xA1)
  /// Server: the result of an operation.
  public static let result = FrameType(0xB0)
  /// Server: ends a session.
  public static let goAway = FrameType(0xE0)
  /// Server: refuses the connection.
  public static let error = FrameType(0xE1)
}
