package android.graphics;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public final class Bitmap {
  /** For tests. */
  public final int bytes;
  /** For tests. */
  public final int sampleSize;

  Bitmap(int bytes, int sampleSize) {
    this.bytes = bytes;
    this.sampleSize = sampleSize;
  }
}
