/// The outcome of an operation, or the cause of an ERROR: JPush's client codes and, from 9001 on, our own.
/// Values that this version does not know survive decoding.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
  /// The number on the wire.
  public let rawValue: UInt16

  /// Wraps a number, known or not.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  private init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// Done.
  public static let ok = ResultCode(0)
  /// No app has this key.
  public static let appKeyUnknown = ResultCode(1005)
  /// The app key is illegal.
  public static let appKeyIllegal = ResultCode(1008)
  /// The app has no such platform, or the client is too old.
  public static let platformMissing = ResultCode(1009)
  /// No such registration, or a wrong secret.
  public static let notRegistered = ResultCode(1011)
  /// Nothing was set.
  public static let nothingSet = ResultCode(6001)
  /// No answer came in time. Only clients use it, towards their app.
  public static let timeout = ResultCode(6002)
  /// The alias has illegal characters or is empty.
  public static let aliasIllegal = ResultCode(6003)
  /// The alias is longer than 40 characters.
  public static let aliasTooLong = ResultCode(6004)
  /// A tag has illegal characters or is empty.
  public static let tagIllegal = ResultCode(6005)
  /// A tag is longer than 32 characters, and than 40 bytes.
  public static let tagTooLong = ResultCode(6006)
  /// More than 1000 tags in one operation.
  public static let tooManyTags = ResultCode(6007)
  /// The tags of one operation are too long in total.
  public static let tagsTooLong = ResultCode(6008)
  /// A failure without a code of its own.
  public static let unknown = ResultCode(6009)
  /// Operations come too fast.
  public static let tooFrequent = ResultCode(6011)
  /// The app has stopped the push service. Only clients use it, towards their app.
  public static let stopped = ResultCode(6012)
  /// The network or the server is busy: send again.
  public static let busy = ResultCode(6014)
  /// The device is on the blacklist.
  public static let blacklisted = ResultCode(6015)
  /// The registration is no longer valid.
  public static let userInvalid = ResultCode(6016)
  /// The request is invalid.
  public static let requestInvalid = ResultCode(6017)
  /// The device would have more than 1000 tags.
  public static let deviceTagsFull = ResultCode(6018)
  /// The server failed.
  public static let serverError = ResultCode(6024)
  /// Ten devices have this alias already.
  public static let aliasFull = ResultCode(6027)
  /// The requested key does not exist, or not yet.
  public static let keyMissing = ResultCode(6040)
  /// The app has as many tags as its devices may give it.
  public static let appTagsFull = ResultCode(6043)
  /// The device has made as many new tags as it may in a day.
  public static let newTagsUsedUp = ResultCode(6044)
  /// The bytes were no frame, or the frame was not allowed at this point.
  public static let protocolError = ResultCode(9001)
  /// Client and server have no protocol version in common.
  public static let noCommonVersion = ResultCode(9002)
  /// LOGIN was not complete in time.
  public static let loginTimeout = ResultCode(9003)
  /// The server takes no connection now, e.g. because it has too many.
  public static let unavailable = ResultCode(9004)
}
