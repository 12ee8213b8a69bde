package android.content;

/** As much of Android's class as the library and its pages use. */
public final class ComponentName {
  private final String className;

  public ComponentName(String packageName, String className) {
    this.className = className;
  }

  public String getClassName() {
    return className;
  }
}
