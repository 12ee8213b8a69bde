package android.app;

import android.content.ContextWrapper;
import android.content.Intent;
import android.os.Bundle;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class Activity extends ContextWrapper {
  /** For tests: whether it is stopped to be made anew. */
  public boolean changing;
  /** For tests: what it has asked the user for. */
  public String requested = "";

  /** For tests: what opened it. */
  public Intent intent = new Intent();
  /** For tests. */
  public boolean finished;

  protected void onCreate(Bundle state) {}

  protected void onNewIntent(Intent intent) {}

  public Intent getIntent() {
    return intent;
  }

  public void finish() {
    finished = true;
  }

  public final Application getApplication() {
    return new Application();
  }

  public boolean isChangingConfigurations() {
    return changing;
  }

  public final void requestPermissions(String[] permissions, int requestCode) {
    requested = String.join(" ", permissions) + " " + requestCode;
  }
}
