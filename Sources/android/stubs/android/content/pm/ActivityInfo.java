package android.content.pm;

/** As much of Android's class as the library and its pages use. */
public class ActivityInfo {
  public String name;
}
