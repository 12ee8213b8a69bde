package android.os;

/** As much of Android's class as the library and its pages use. */
public class Process {
  public static int myPid() {
    return 4711;
  }
}
