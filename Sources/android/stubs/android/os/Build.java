package android.os;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class Build {
  /** Tests change it. */
  public static String MANUFACTURER = "Google";
  /** Tests change it. */
  public static String MODEL = "Pixel 8";

  public static class VERSION {
    /** Tests change it. */
    public static int SDK_INT = 29;
    /** Tests change it. */
    public static String RELEASE = "10";
  }
}
