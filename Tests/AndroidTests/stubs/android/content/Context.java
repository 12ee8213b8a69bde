package android.content;

import java.io.File;

/** As much of Android as Docs/android.md uses. */
public abstract class Context {
  public File getNoBackupFilesDir() {
    throw new UnsupportedOperationException();
  }

  public final <T> T getSystemService(Class<T> type) {
    throw new UnsupportedOperationException();
  }
}
