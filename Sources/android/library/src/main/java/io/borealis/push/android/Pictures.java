package io.borealis.push.android;

import android.graphics.Bitmap;
import android.graphics.BitmapFactory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;

/** Loads the pictures of notifications, each on a thread of its own that ends with it. */
final class Pictures {
  private static final int MOST_BYTES = 2 << 20;
  private static final int WIDEST = 1600;
  private static final int TIME_LIMIT = 10_000;

  private Pictures() {}

  interface Receiver {
    void onLoaded(Bitmap picture);
  }

  /** Does nothing for anything but an address of the Web with a picture that is small enough. */
  static void load(String address, Receiver receiver) {
    if (!address.startsWith("https://") && !address.startsWith("http://")) return;
    Thread thread = new Thread(() -> {
      try {
        Bitmap picture = decoded(bytes(address));
        if (picture != null) receiver.onLoaded(picture);
      } catch (IOException | RuntimeException error) {
        // The notification stays as it is.
        return;
      }
    }, "borealis-picture");
    thread.setDaemon(true);
    thread.start();
  }

  private static byte[] bytes(String address) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) new URL(address).openConnection();
    connection.setConnectTimeout(TIME_LIMIT);
    connection.setReadTimeout(TIME_LIMIT);
    try (InputStream input = connection.getInputStream()) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      byte[] buffer = new byte[8192];
      for (int count = input.read(buffer); count >= 0; count = input.read(buffer)) {
        bytes.write(buffer, 0, count);
        if (bytes.size() > MOST_BYTES) throw new IOException("the picture is too large");
      }
      return bytes.toByteArray();
    } finally {
      connection.disconnect();
    }
  }

  /** At most as wide as a screen, since the system gets all pixels. */
  private static Bitmap decoded(byte[] bytes) {
    BitmapFactory.Options options = new BitmapFactory.Options();
    options.inJustDecodeBounds = true;
    BitmapFactory.decodeByteArray(bytes, 0, bytes.length, options);
    options.inJustDecodeBounds = false;
    options.inSampleSize = 1;
    int widest = Math.max(options.outWidth, options.outHeight);
    while (widest / options.inSampleSize > WIDEST) options.inSampleSize *= 2;
    return BitmapFactory.decodeByteArray(bytes, 0, bytes.length, options);
  }
}
