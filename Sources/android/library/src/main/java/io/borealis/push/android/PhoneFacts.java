package io.borealis.push.android;

import android.app.NotificationManager;
import android.content.Context;
import android.os.Build;
import io.borealis.push.FactSource;
import java.util.Locale;
import java.util.TimeZone;

/** Reads what the system knows of the device, each fact when the server asks for it. */
final class PhoneFacts implements FactSource {
  private final Context context;

  PhoneFacts(Context context) {
    this.context = context;
  }

  @Override
  public String read(int fact) {
    switch (fact) {
      case LANGUAGE:
        return Locale.getDefault().toLanguageTag();
      case TIME_ZONE:
        return TimeZone.getDefault().getID();
      case SYSTEM:
        return "Android";
      case SYSTEM_VERSION:
        return Build.VERSION.RELEASE;
      case MODEL:
        return Build.MODEL;
      case NOTIFICATION_PERMISSION:
        // Older systems do not say it.
        if (Build.VERSION.SDK_INT < 24) return null;
        Object manager = context.getSystemService(Context.NOTIFICATION_SERVICE);
        return ((NotificationManager) manager).areNotificationsEnabled() ? "on" : "off";
      default:
        return null;
    }
  }
}
