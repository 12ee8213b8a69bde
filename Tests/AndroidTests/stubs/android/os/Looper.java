package android.os;

/** As much of Android as Docs/android.md uses. */
public final class Looper {
  private Looper() {}

  public static Looper getMainLooper() {
    throw new UnsupportedOperationException();
  }
}
