package io.borealis.getui;

/** The result of {@link PushManager#sendFeedbackMessage}. */
public class FeedbackCmdMessage extends GTCmdMessage {
  private static final long serialVersionUID = 1;

  private String taskId;
  private String actionId;
  private long timeStamp;

  /** An empty result. */
  public FeedbackCmdMessage() {}

  FeedbackCmdMessage(Hub hub, String taskId, int actionId, long timeStamp) {
    super(hub, PushConsts.THIRDPART_FEEDBACK);
    this.taskId = taskId;
    this.actionId = Integer.toString(actionId);
    this.timeStamp = timeStamp;
  }

  /**
   * The task that the app named.
   *
   * @return what the app passed
   */
  public String getTaskId() {
    return taskId;
  }

  /**
   * What was reported.
   *
   * @return such as 60002, as text
   */
  public String getActionId() {
    return actionId;
  }

  /**
   * How it ended.
   *
   * @return {@code ok}: the report is on its way
   */
  public String getResult() {
    return "ok";
  }

  /**
   * When it was reported.
   *
   * @return milliseconds since 1970
   */
  public long getTimeStamp() {
    return timeStamp;
  }
}
