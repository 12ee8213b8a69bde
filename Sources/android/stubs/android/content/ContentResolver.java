package android.content;

import android.net.Uri;
import android.os.Bundle;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class ContentResolver {
  /** For tests: the last call. */
  public String called = "";

  public final Bundle call(Uri uri, String method, String argument, Bundle extras) {
    called = uri + " " + method + " " + extras;
    return null;
  }
}
