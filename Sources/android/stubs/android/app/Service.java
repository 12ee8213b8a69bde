package android.app;

import android.content.ContextWrapper;
import android.content.Intent;
import android.os.IBinder;

/** As much of Android's class as the library and its pages use. */
public abstract class Service extends ContextWrapper {
  public abstract IBinder onBind(Intent intent);
}
