package android.app;

import android.service.notification.StatusBarNotification;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class NotificationManager {
  public static final int IMPORTANCE_DEFAULT = 3;

  /** For tests: what is shown, by tag. */
  public final Map<String, Notification> shown = Collections.synchronizedMap(new LinkedHashMap<>());
  /** For tests. */
  public final Map<String, NotificationChannel> channels = new LinkedHashMap<>();
  /** For tests. */
  public boolean enabled = true;

  public void notify(String tag, int id, Notification notification) {
    shown.put(tag, notification);
  }

  public void cancel(String tag, int id) {
    shown.remove(tag);
  }

  public void cancelAll() {
    shown.clear();
  }

  public StatusBarNotification[] getActiveNotifications() {
    return shown.keySet().stream().map(StatusBarNotification::new).toArray(StatusBarNotification[]::new);
  }

  public boolean areNotificationsEnabled() {
    return enabled;
  }

  public void createNotificationChannel(NotificationChannel channel) {
    channels.put(channel.id, channel);
  }

  public NotificationChannel getNotificationChannel(String id) {
    return channels.get(id);
  }
}
