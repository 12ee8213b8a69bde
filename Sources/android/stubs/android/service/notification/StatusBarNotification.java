package android.service.notification;

/** As much of Android's class as the library and its pages use. */
public class StatusBarNotification {
  private final String tag;

  public StatusBarNotification(String tag) {
    this.tag = tag;
  }

  public String getTag() {
    return tag;
  }
}
