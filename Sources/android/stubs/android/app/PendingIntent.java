package android.app;

import android.content.Context;
import android.content.Intent;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public final class PendingIntent {
  public static final int FLAG_UPDATE_CURRENT = 1 << 27;
  public static final int FLAG_IMMUTABLE = 1 << 26;

  /** For tests. */
  public final Intent intent;
  /** For tests. */
  public final int flags;

  private PendingIntent(Intent intent, int flags) {
    this.intent = intent;
    this.flags = flags;
  }

  public static PendingIntent getBroadcast(Context context, int requestCode, Intent intent, int flags) {
    return new PendingIntent(intent, flags);
  }

  public static PendingIntent getActivity(Context context, int requestCode, Intent intent, int flags) {
    return new PendingIntent(intent, flags);
  }
}
