package io.borealis.push;

import java.util.Collections;
import java.util.Map;

/** A push for the app: a notification to show, a message for the app itself, or both. */
public final class Push {
  private final long messageId;
  private final boolean offline;
  private final boolean redelivered;
  private final byte[] content;
  private final String keyId;
  /** What the content says; empty if it is not a JSON object, which a server never sends. */
  private final Map<String, Object> object;

  Push(long messageId, boolean offline, boolean redelivered, byte[] content, String keyId) {
    this.messageId = messageId;
    this.offline = offline;
    this.redelivered = redelivered;
    this.content = content;
    this.keyId = keyId;
    Json.Document document = document(content);
    object = document == null ? Collections.<String, Object>emptyMap() : document.object;
  }

  /**
   * A push that the app has stored.
   *
   * @param messageId what {@link #messageId} gave
   * @param json what {@link #json} gave
   */
  public static Push of(long messageId, String json) {
    return new Push(messageId, false, false, Wire.utf8(json), null);
  }

  /** A content as JSON; null if it is not an object in UTF-8. */
  static Json.Document document(byte[] content) {
    String text = Wire.text(content, 0, content.length);
    try {
      return text == null ? null : Json.document(text);
    } catch (Json.MalformedException error) {
      return null;
    }
  }

  /** The same push, decrypted. */
  Push opened(byte[] content, String keyId) {
    return new Push(messageId, offline, redelivered, content, keyId);
  }

  byte[] content() {
    return content;
  }

  /** The ID of the push, the same on every channel; the {@code msg_id} of the server's API. */
  public long messageId() {
    return messageId;
  }

  /** Whether the push was accepted while the device was offline. A hint for the display only. */
  public boolean isOffline() {
    return offline;
  }

  /**
   * Whether an earlier run of the app had this push in hand when it ended: the app may have handled it
   * already. False means that it certainly has not.
   */
  public boolean isRedelivered() {
    return redelivered;
  }

  /** The notification to show; null if there is none. */
  @Nullable
  public Notification notification() {
    Map<String, Object> notification = Json.object(object.get("notification"));
    return notification == null ? null : new Notification(notification);
  }

  /**
   * Whether the app is to show the notification in its own pages as well, also if the user allows no
   * notifications.
   */
  public boolean isInApp() {
    return Boolean.TRUE.equals(object.get("inapp_message"));
  }

  /** The message for the app; null if there is none. */
  @Nullable
  public Message message() {
    Map<String, Object> message = Json.object(object.get("message"));
    return message == null ? null : new Message(message);
  }

  /**
   * The {@link #messageId} of an earlier push whose notification this one replaces; 0 if it replaces none.
   */
  public long replaces() {
    String id = Json.string(object.get("override"));
    try {
      return id == null ? 0 : Long.parseLong(id);
    } catch (NumberFormatException error) {
      return 0;
    }
  }

  /** The ID of the key that decrypted the content, 16 hexadecimal digits; null if nothing was encrypted. */
  @Nullable
  public String keyId() {
    return keyId;
  }

  /** The whole content, a JSON object; encrypted parts are decrypted. */
  public String json() {
    return new String(content, Wire.UTF_8);
  }

  @Override
  public String toString() {
    return "push " + messageId;
  }
}
