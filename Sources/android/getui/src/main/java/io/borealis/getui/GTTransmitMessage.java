package io.borealis.getui;

import io.borealis.push.Push;
import java.nio.charset.StandardCharsets;

/** A message for the app. */
public class GTTransmitMessage extends GTBaseMessage {
  private static final long serialVersionUID = 1;

  private String messageId;
  private byte[] payload;

  /** An empty message. */
  public GTTransmitMessage() {}

  GTTransmitMessage(Hub hub, Push push) {
    from(hub);
    messageId = Long.toString(push.messageId());
    String content = push.message().content();
    payload = (content == null ? "" : content).getBytes(StandardCharsets.UTF_8);
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
   * The push's message ID.
   *
   * @return the same as {@link #getMessageId}
   */
  public String getPayloadId() {
    return messageId;
  }

  /**
   * The content.
   *
   * @return a text in UTF-8
   */
  public byte[] getPayload() {
    return payload;
  }
}
