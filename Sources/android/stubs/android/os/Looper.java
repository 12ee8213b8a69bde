package android.os;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public final class Looper {
  private static final Looper MAIN = new Looper();

  private Looper() {}

  public static Looper getMainLooper() {
    return MAIN;
  }
}
