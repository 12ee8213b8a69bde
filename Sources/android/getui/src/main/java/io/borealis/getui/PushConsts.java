package io.borealis.getui;

/** Kinds and codes of results. */
public final class PushConsts {
  /** The result of {@link PushManager#sendFeedbackMessage}: {@link FeedbackCmdMessage}. */
  public static final int THIRDPART_FEEDBACK = 10006;
  /** The result of {@link PushManager#setTag}: {@link SetTagCmdMessage}. */
  public static final int SET_TAG_RESULT = 10009;
  /** The result of {@link PushManager#bindAlias}: {@link BindAliasCmdMessage}. */
  public static final int BIND_ALIAS_RESULT = 10010;
  /** The result of {@link PushManager#unBindAlias}: {@link UnBindAliasCmdMessage}. */
  public static final int UNBIND_ALIAS_RESULT = 10011;

  /** Done. */
  public static final int SETTAG_SUCCESS = 0;
  /** Too many tags in one call. */
  public static final int SETTAG_ERROR_COUNT = 20001;
  /** Too many calls. */
  public static final int SETTAG_ERROR_FREQUENCY = 20002;
  /** {@link PushManager#initialize} was not called, or pushes are turned off. */
  public static final int SETTAG_ERROR_UNBIND = 20004;
  /** A failure without a code of its own. */
  public static final int SETTAG_ERROR_EXCEPTION = 20005;
  /** There is no tag. */
  public static final int SETTAG_ERROR_NULL = 20006;
  /** No response. */
  public static final int SETTAG_NOTONLINE = 20008;
  /** The device is blocked. */
  public static final int SETTAG_IN_BLACKLIST = 20009;
  /** The device, or the app, has too many tags. */
  public static final int SETTAG_NUM_EXCEED = 20010;
  /** A tag is malformed. */
  public static final int SETTAG_TAG_ILLEGAL = 20011;

  /** Done. */
  public static final int ALIAS_BIND_SUCCESS = 0;
  /** Too many calls. */
  public static final int ALIAS_ERROR_FREQUENCY = 30001;
  /** A failure without a code of its own. */
  public static final int ALIAS_OPERATE_ALIAS_FAILED = 30004;
  /** {@link PushManager#initialize} was not called, or pushes are turned off. */
  public static final int ALIAS_CID_LOST = 30005;
  /** No response. */
  public static final int ALIAS_CONNECT_LOST = 30006;
  /** The alias is malformed, or ten other devices have it. */
  public static final int ALIAS_INVALID = 30007;

  private PushConsts() {}
}
