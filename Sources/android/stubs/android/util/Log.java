package android.util;

/** As much of Android's class as the library and its pages use. */
public final class Log {
  private Log() {}

  public static int w(String tag, String text, Throwable error) {
    return 0;
  }

  public static int d(String tag, String text) {
    return 0;
  }
}
