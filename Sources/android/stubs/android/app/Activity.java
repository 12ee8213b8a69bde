package android.app;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class Activity {
  /** For tests: whether it is stopped to be made anew. */
  public boolean changing;

  public boolean isChangingConfigurations() {
    return changing;
  }
}
