package android.app;

import android.content.Context;

/** As much of Android as Docs/android.md uses. */
public class Application extends Context {
  public void onCreate() {}
}
