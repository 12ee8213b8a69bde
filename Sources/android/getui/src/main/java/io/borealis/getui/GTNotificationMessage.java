package io.borealis.getui;

import io.borealis.push.Notification;
import io.borealis.push.Push;

/** A notification. */
public class GTNotificationMessage extends GTBaseMessage {
  private static final long serialVersionUID = 1;

  private String messageId;
  private String title = "";
  private String content = "";
  private String payload = "";

  /** An empty notification. */
  public GTNotificationMessage() {}

  GTNotificationMessage(Hub hub, Push push) {
    from(hub);
    messageId = Long.toString(push.messageId());
    Notification notification = push.notification();
    if (notification.title() != null) title = notification.title();
    if (notification.alert() != null) content = notification.alert();
    Object custom = notification.extras().get("payload");
    if (custom instanceof String) payload = (String) custom;
  }

  /**
   * The push's message ID: a device does not learn of tasks.
   *
   * @return the same as {@link #getMessageId}
   */
  public String getTaskId() {
    return messageId;
  }

  /**
   * The push's message ID.
   *
   * @return a decimal number
   */
  public String getMessageId() {
    return messageId;
  }

  /**
   * The title.
   *
   * @return empty for the app's name
   */
  public String getTitle() {
    return title;
  }

  /**
   * The text.
   *
   * @return empty if there is none
   */
  public String getContent() {
    return content;
  }

  /**
   * The sender's {@code payload}.
   *
   * @return empty if there is none
   */
  public String getPayload() {
    return payload;
  }
}
