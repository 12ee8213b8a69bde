package android.graphics;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class BitmapFactory {
  public static class Options {
    public boolean inJustDecodeBounds;
    public int inSampleSize;
    public int outWidth;
    public int outHeight;
  }

  /** For tests: the first byte is the width in hundreds; anything that begins with 0 is not a picture. */
  public static Bitmap decodeByteArray(byte[] data, int offset, int length, Options options) {
    if (data[0] == 0) return null;
    options.outWidth = data[0] * 100;
    options.outHeight = 100;
    return options.inJustDecodeBounds ? null : new Bitmap(length, options.inSampleSize);
  }
}
