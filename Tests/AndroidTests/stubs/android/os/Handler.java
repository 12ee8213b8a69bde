package android.os;

/** As much of Android as Docs/android.md uses. */
public class Handler {
  public Handler(Looper looper) {
    throw new UnsupportedOperationException();
  }

  public final boolean post(Runnable task) {
    throw new UnsupportedOperationException();
  }
}
