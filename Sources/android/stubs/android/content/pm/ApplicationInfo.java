package android.content.pm;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class ApplicationInfo {
  public CharSequence loadLabel(PackageManager manager) {
    return "The app";
  }
}
