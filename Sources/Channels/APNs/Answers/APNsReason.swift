/// Why Apple refused a request: the words of the answer's `reason`, spelled as Apple does. What isn't here is
/// new, and is judged by its status (see `APNsOutcome`).
package enum APNsReason: String, CaseIterable, Sendable {
  // Pushes to devices.
  /// The collapse ID has more than 64 bytes.
  case badCollapseId = "BadCollapseId"
  /// The token is malformed, or belongs to The other APNs environment.
  case badDeviceToken = "BadDeviceToken"
  /// The expiration is not a time, or one that the channel does not take.
  case badExpirationDate = "BadExpirationDate"
  /// The `apns-id` is not a UUID.
  case badMessageId = "BadMessageId"
  /// The priority does not exist or does not go with the push type.
  case badPriority = "BadPriority"
  /// The topic is malformed.
  case badTopic = "BadTopic"
  /// The token belongs to another app, or is of another kind.
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  /// A header came twice.
  case duplicateHeaders = "DuplicateHeaders"
  /// The connection was idle for too long.
  case idleTimeout = "IdleTimeout"
  /// The push type does not exist or does not go with the topic.
  case invalidPushType = "InvalidPushType"
  /// The path has no token.
  case missingDeviceToken = "MissingDeviceToken"
  /// The topic is missing.
  case missingTopic = "MissingTopic"
  /// The request has no body.
  case payloadEmpty = "PayloadEmpty"
  /// The credential may not push to this topic.
  case topicDisallowed = "TopicDisallowed"
  /// The certificate is invalid or was revoked.
  case badCertificate = "BadCertificate"
  /// The certificate is for the other environment.
  case badCertificateEnvironment = "BadCertificateEnvironment"
  /// The provider token is older than an hour.
  case expiredProviderToken = "ExpiredProviderToken"
  /// The action is not allowed.
  case forbidden = "Forbidden"
  /// The provider token is wrong, or its key was revoked.
  case invalidProviderToken = "InvalidProviderToken"
  /// There is neither a certificate nor a provider token.
  case missingProviderToken = "MissingProviderToken"
  /// The provider token's key is not related to that of the connection's first push.
  case unrelatedKeyIdInToken = "UnrelatedKeyIdInToken"
  /// The key is for the other environment.
  case badEnvironmentKeyIdInToken = "BadEnvironmentKeyIdInToken"
  /// The key is for the other environment; another observed spelling.
  case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
  /// The path is wrong.
  case badPath = "BadPath"
  /// The method is not POST.
  case methodNotAllowed = "MethodNotAllowed"
  /// The device token has expired.
  case expiredToken = "ExpiredToken"
  /// The device token is inactive for the topic.
  case unregistered = "Unregistered"
  /// The payload is too large.
  case payloadTooLarge = "PayloadTooLarge"
  /// The provider token was changed more than once in 20 minutes.
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  /// Too many pushes in a row to this device token.
  case tooManyRequests = "TooManyRequests"
  /// Apple failed.
  case internalServerError = "InternalServerError"
  /// Apple is overloaded or down.
  case serviceUnavailable = "ServiceUnavailable"
  /// The APNs server closes the connection.
  case shutdown = "Shutdown"

  // Broadcasts and their channels.
  /// Broadcasts are switched off for the app.
  case featureNotEnabled = "FeatureNotEnabled"
  /// The channel is not named.
  case missingChannelId = "MissingChannelId"
  /// The channel's name is malformed.
  case badChannelId = "BadChannelId"
  /// There is no such channel.
  case channelNotRegistered = "ChannelNotRegistered"
  /// An attribute is unknown or has a wrong value.
  case badRequestParams = "BadRequestParams"
  /// The body is not JSON.
  case badRequestPayload = "BadRequestPayload"
  /// The push type is missing.
  case missingPushType = "MissingPushType"
  /// The app has as many channels as it may.
  case cannotCreateChannelConfig = "CannotCreateChannelConfig"
  /// The credential does not own the app.
  case topicMismatch = "TopicMismatch"
  /// The channel's storage policy is missing; undocumented.
  case missingChannelQueueSize = "MissingChannelQueueSize"

  /// The status that Apple sends with this reason.
  package var status: Int {
    switch self {
    case .badCollapseId, .badDeviceToken, .badExpirationDate, .badMessageId, .badPriority, .badTopic,
      .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
      .missingTopic, .payloadEmpty, .topicDisallowed, .featureNotEnabled, .missingChannelId, .badChannelId,
      .channelNotRegistered, .badRequestParams, .badRequestPayload, .missingPushType,
      .cannotCreateChannelConfig, .missingChannelQueueSize:
      400
    case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden,
      .invalidProviderToken, .missingProviderToken, .unrelatedKeyIdInToken, .badEnvironmentKeyIdInToken,
      .badEnvironmentKeyInToken, .topicMismatch:
      403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .expiredToken, .unregistered: 410
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates, .tooManyRequests: 429
    case .internalServerError: 500
    case .serviceUnavailable, .shutdown: 503
    }
  }
}
