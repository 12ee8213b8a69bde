package io.borealis.getui;

/** The result of {@link PushManager#setTag}. */
public class SetTagCmdMessage extends GTCmdMessage {
  private static final long serialVersionUID = 1;

  private String sn;
  private String code;

  /** An empty result. */
  public SetTagCmdMessage() {}

  SetTagCmdMessage(Hub hub, String sn, int code) {
    super(hub, PushConsts.SET_TAG_RESULT);
    this.sn = sn;
    this.code = Integer.toString(code);
  }

  /**
   * What the app named the call.
   *
   * @return empty if it did not
   */
  public String getSn() {
    return sn;
  }

  /**
   * How it ended.
   *
   * @return 0, or a code of {@link PushConsts}, as text
   */
  public String getCode() {
    return code;
  }
}
