package io.borealis.push;

/** The operations of a device, each of which ends with one {@link OperationResult}. */
public enum OperationType {
  /** Sets the alias. */
  SET_ALIAS(0x30, 1),
  /** Releases the alias. */
  DELETE_ALIAS(0x31, 1),
  /** Gets the alias. */
  GET_ALIAS(0x32, 1),
  /** Replaces all tags. */
  SET_TAGS(0x33, 1),
  /** Adds tags. */
  ADD_TAGS(0x34, 1),
  /** Removes tags. */
  DELETE_TAGS(0x35, 1),
  /** Removes all tags. */
  CLEAN_TAGS(0x36, 1),
  /** Gets all tags. */
  GET_TAGS(0x37, 1),
  /** Checks whether the device has a tag. */
  CHECK_TAG(0x38, 1),
  /** Reports the badge number. */
  SET_BADGE(0x39, 1),
  /** Reports the APNs token. */
  SET_TOKEN(0x3A, 1),
  /** Reports whether the app is in the foreground. */
  APP_STATE(0x3B, 1),
  /** Ends the session. */
  LOGOUT(0x3C, 1),
  /** Reports an APNs token for calls or Live Activities. */
  SET_OTHER_TOKEN(0x3D, 2),
  /** Sets the public key of the device. */
  SET_KEY(0x3E, 4),
  /** Gets a key that the device shares with others. */
  GET_KEY(0x3F, 4),
  /** Reports the token of a channel such as FCM. */
  SET_CHANNEL_TOKEN(0x40, 5);

  /** The type of the frame. */
  final int frameType;
  /** The first protocol version that has it. */
  final int version;

  OperationType(int frameType, int version) {
    this.frameType = frameType;
    this.version = version;
  }
}
