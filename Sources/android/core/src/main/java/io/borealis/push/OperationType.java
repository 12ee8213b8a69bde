package io.borealis.push;

/** The operations of a device, each of which ends with one {@link OperationResult}. */
public enum OperationType {
  /** Sets the alias. */
  SET_ALIAS(Wire.SET_ALIAS, 1),
  /** Releases the alias. */
  DELETE_ALIAS(Wire.DELETE_ALIAS, 1),
  /** Gets the alias. */
  GET_ALIAS(Wire.GET_ALIAS, 1),
  /** Replaces all tags. */
  SET_TAGS(Wire.SET_TAGS, 1),
  /** Adds tags. */
  ADD_TAGS(Wire.ADD_TAGS, 1),
  /** Removes tags. */
  DELETE_TAGS(Wire.DELETE_TAGS, 1),
  /** Removes all tags. */
  CLEAN_TAGS(Wire.CLEAN_TAGS, 1),
  /** Gets all tags. */
  GET_TAGS(Wire.GET_TAGS, 1),
  /** Checks whether the device has a tag. */
  CHECK_TAG(Wire.CHECK_TAG, 1),
  /** Reports the badge number. */
  SET_BADGE(Wire.SET_BADGE, 1),
  /** Reports the APNs token. */
  SET_TOKEN(Wire.SET_TOKEN, 1),
  /** Reports whether the app is in the foreground. */
  APP_STATE(Wire.APP_STATE, 1),
  /** Ends the session. */
  LOGOUT(Wire.LOGOUT, 1),
  /** Reports an APNs token for calls or Live Activities. */
  SET_OTHER_TOKEN(Wire.SET_OTHER_TOKEN, 2),
  /** Sets the public key of the device. */
  SET_KEY(Wire.SET_KEY, 4),
  /** Gets a key that the device shares with others. */
  GET_KEY(Wire.GET_KEY, 4),
  /** Reports the token of a channel such as FCM. */
  SET_CHANNEL_TOKEN(Wire.SET_CHANNEL_TOKEN, 5),
  /** Reports facts about the device. */
  SET_FACTS(Wire.SET_FACTS, 6);

  /** The type of the frame. */
  final int frameType;
  /** The first protocol version that has it. */
  final int version;

  OperationType(int frameType, int version) {
    this.frameType = frameType;
    this.version = version;
  }
}
