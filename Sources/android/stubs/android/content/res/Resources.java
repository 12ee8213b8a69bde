package android.content.res;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class Resources {
  /** For tests: the drawable that exists, and its number. */
  public String drawable = "";
  public int number;

  public int getIdentifier(String name, String type, String packageName) {
    return type.equals("drawable") && name.equals(drawable) ? number : 0;
  }
}
