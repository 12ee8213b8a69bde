package io.borealis.getui;

/** The result of a call. */
public class GTCmdMessage extends GTBaseMessage {
  private static final long serialVersionUID = 1;

  private int action;

  /** An empty result. */
  public GTCmdMessage() {}

  GTCmdMessage(Hub hub, int action) {
    from(hub);
    this.action = action;
  }

  /**
   * Which call, one of {@link PushConsts}.
   *
   * @return such as {@link PushConsts#SET_TAG_RESULT}
   */
  public int getAction() {
    return action;
  }
}
