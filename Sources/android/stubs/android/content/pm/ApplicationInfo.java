package android.content.pm;

import android.os.Bundle;

/** As much of Android's class as the library and its pages use. */
public class ApplicationInfo {
  public Bundle metaData;
  public int icon = 1;

  public CharSequence loadLabel(PackageManager manager) {
    return "The app";
  }
}
