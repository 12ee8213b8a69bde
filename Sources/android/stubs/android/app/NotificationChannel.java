package android.app;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public final class NotificationChannel {
  /** For tests. */
  public final String id;

  public NotificationChannel(String id, CharSequence name, int importance) {
    this.id = id;
  }
}
