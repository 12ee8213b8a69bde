package io.borealis.push.android;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import android.app.Application;
import android.app.NotificationManager;
import android.content.Context;
import android.os.Build;
import io.borealis.push.FactSource;
import java.util.Locale;
import java.util.TimeZone;
import org.junit.jupiter.api.Test;

/** What the part for Android knows of the device. */
class PhoneFactsTest {
  private final Application application = new Application();
  private final FactSource facts = new PhoneFacts(application);

  @Test
  void readsWhatTheSystemSays() {
    assertEquals(Locale.getDefault().toLanguageTag(), facts.read(FactSource.LANGUAGE));
    assertEquals(TimeZone.getDefault().getID(), facts.read(FactSource.TIME_ZONE));
    assertEquals("Android", facts.read(FactSource.SYSTEM));
    assertEquals(Build.VERSION.RELEASE, facts.read(FactSource.SYSTEM_VERSION));
    assertEquals(Build.MODEL, facts.read(FactSource.MODEL));
    assertNull(facts.read(FactSource.STORE_CHANNEL));
  }

  @Test
  void readsWhetherNotificationsAreAllowed() {
    NotificationManager manager =
        (NotificationManager) application.getSystemService(Context.NOTIFICATION_SERVICE);
    assertEquals("on", facts.read(FactSource.NOTIFICATION_PERMISSION));
    manager.enabled = false;
    assertEquals("off", facts.read(FactSource.NOTIFICATION_PERMISSION));
    int version = Build.VERSION.SDK_INT;
    Build.VERSION.SDK_INT = 23;
    try {
      assertNull(facts.read(FactSource.NOTIFICATION_PERMISSION));
    } finally {
      Build.VERSION.SDK_INT = version;
    }
  }
}
