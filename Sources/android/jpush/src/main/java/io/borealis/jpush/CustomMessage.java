package io.borealis.jpush;

import io.borealis.push.Message;
import io.borealis.push.Push;
import io.borealis.push.facade.JsonText;
import java.io.Serializable;

/** A message for the app. */
public class CustomMessage implements Serializable {
  private static final long serialVersionUID = 1;

  /** The push's message ID. */
  public String messageId;
  /** The values of the app server, as JSON; empty if there are none. */
  public String extra = "";
  /** The content. */
  public String message;
  /** The type of the content; empty if there is none. */
  public String contentType = "";
  /** The title; empty if there is none. */
  public String title = "";
  /** The app's key. */
  public String senderId;
  /** The app's package. */
  public String appId;
  /** Always 0, for the app's own connection. */
  public byte platform;

  /** An empty message. */
  public CustomMessage() {}

  CustomMessage(Push push, String appKey, String packageName) {
    Message content = push.message();
    messageId = Long.toString(push.messageId());
    message = content.content() == null ? "" : content.content();
    if (!content.extras().isEmpty()) extra = JsonText.of(content.extras());
    if (content.contentType() != null) contentType = content.contentType();
    if (content.title() != null) title = content.title();
    senderId = appKey;
    appId = packageName;
  }

  @Override
  public String toString() {
    return "CustomMessage{messageId='" + messageId + "', extra='" + extra + "', message='" + message
        + "', contentType='" + contentType + "', title='" + title + "', senderId='" + senderId + "', appId='"
        + appId + "'}";
  }
}
