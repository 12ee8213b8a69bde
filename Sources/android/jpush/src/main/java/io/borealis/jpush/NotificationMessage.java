package io.borealis.jpush;

import io.borealis.push.Notification;
import io.borealis.push.Push;
import io.borealis.push.android.PushNotifications;
import io.borealis.push.facade.JsonText;
import java.io.Serializable;
import java.util.Map;

/** A notification. */
public class NotificationMessage implements Serializable {
  private static final long serialVersionUID = 1;

  /** A number that follows from the message ID. */
  public int notificationId;
  /** The push's message ID. */
  public String msgId = "";
  /** The app's key. */
  public String appkey = "";
  /** The text. */
  public String notificationContent = "";
  /** Which of sound (1), vibration (2) and light (4) are wanted; -1 for all. */
  public int notificationAlertType = -1;
  /** The title; empty for the app's name. */
  public String notificationTitle = "";
  /** The values of the app server, as JSON; empty if there are none. */
  public String notificationExtras = "";
  /** 1 for a long text, 2 for lines, 3 for a picture. */
  public int notificationStyle;
  /** The number of the sender's style. */
  public int notificationBuilderId;
  /** The long text. */
  public String notificationBigText = "";
  /** The picture's address. */
  public String notificationBigPicPath = "";
  /** The large icon. */
  public String notificationLargeIcon = "";
  /** The lines, as JSON. */
  public String notificationInbox = "";
  /** From -2 to 2. */
  public int notificationPriority;
  /** The category. */
  public String notificationCategory = "";
  /** The notification channel. */
  public String notificationChannelId = "";
  /** Always 0, for the app's own connection. */
  public byte platform;

  /** An empty notification. */
  public NotificationMessage() {}

  NotificationMessage(Push push, String appKey) {
    Notification content = push.notification();
    Map<String, Object> members = content.members();
    notificationId = PushNotifications.requestCode(push);
    msgId = Long.toString(push.messageId());
    appkey = appKey;
    notificationContent = text(members, "alert");
    notificationTitle = text(members, "title");
    if (!content.extras().isEmpty()) notificationExtras = JsonText.of(content.extras());
    notificationAlertType = number(members, "alert_type", -1);
    notificationStyle = number(members, "style", 0);
    notificationBuilderId = number(members, "builder_id", 0);
    notificationBigText = text(members, "big_text");
    notificationBigPicPath = text(members, "big_pic_path");
    notificationLargeIcon = text(members, "large_icon");
    if (members.get("inbox") instanceof Map) notificationInbox = JsonText.of(members.get("inbox"));
    notificationPriority = number(members, "priority", 0);
    notificationCategory = text(members, "category");
    notificationChannelId = text(members, "channel_id");
  }

  private static String text(Map<String, Object> members, String name) {
    Object value = members.get(name);
    return value instanceof String ? (String) value : "";
  }

  private static int number(Map<String, Object> members, String name, int fallback) {
    Object value = members.get(name);
    return value instanceof Long ? ((Long) value).intValue() : fallback;
  }

  @Override
  public String toString() {
    return "NotificationMessage{notificationId=" + notificationId + ", msgId='" + msgId + "', appkey='"
        + appkey + "', notificationContent='" + notificationContent + "', notificationTitle='"
        + notificationTitle + "', notificationExtras='" + notificationExtras + "'}";
  }
}
