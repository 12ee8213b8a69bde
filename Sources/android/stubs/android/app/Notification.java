package android.app;

import android.content.Context;
import android.graphics.Bitmap;
import java.util.ArrayList;
import java.util.List;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class Notification {
  public static final int DEFAULT_ALL = -1;

  /** For tests. */
  public String channel = "";
  /** For tests. */
  public CharSequence title;
  /** For tests. */
  public CharSequence text;
  /** For tests: the texts of its style. */
  public List<CharSequence> lines = new ArrayList<>();
  /** For tests. */
  public PendingIntent tap;
  /** For tests. */
  public int icon;
  /** For tests. */
  public int count;
  /** For tests. */
  public PendingIntent dismissal;
  /** For tests. */
  public Bitmap picture;
  /** For tests. */
  public boolean alertsOnce;

  public abstract static class Style {
    /** For tests. */
    public final List<CharSequence> lines = new ArrayList<>();
    /** For tests. */
    public Bitmap picture;
  }

  public static class BigTextStyle extends Style {
    public BigTextStyle bigText(CharSequence text) {
      lines.add(text);
      return this;
    }
  }

  public static class BigPictureStyle extends Style {
    public BigPictureStyle bigPicture(Bitmap bitmap) {
      picture = bitmap;
      return this;
    }
  }

  public static class InboxStyle extends Style {
    public InboxStyle addLine(CharSequence line) {
      lines.add(line);
      return this;
    }
  }

  public static class Builder {
    private final Notification built = new Notification();

    @Deprecated
    public Builder(Context context) {}

    public Builder(Context context, String channel) {
      built.channel = channel;
    }

    @Deprecated
    public Builder setDefaults(int defaults) {
      return this;
    }

    public Builder setSmallIcon(int icon) {
      built.icon = icon;
      return this;
    }

    public Builder setContentTitle(CharSequence title) {
      built.title = title;
      return this;
    }

    public Builder setContentText(CharSequence text) {
      built.text = text;
      return this;
    }

    public Builder setAutoCancel(boolean cancels) {
      return this;
    }

    public Builder setStyle(Style style) {
      built.lines = style.lines;
      built.picture = style.picture;
      return this;
    }

    public Builder setNumber(int count) {
      built.count = count;
      return this;
    }

    public Builder setOnlyAlertOnce(boolean once) {
      built.alertsOnce = once;
      return this;
    }

    public Builder setDeleteIntent(PendingIntent dismissal) {
      built.dismissal = dismissal;
      return this;
    }

    public Builder setContentIntent(PendingIntent tap) {
      built.tap = tap;
      return this;
    }

    public Notification build() {
      return built;
    }
  }
}
