package io.borealis.push.makers;

import android.content.Context;
import android.content.Intent;
import android.net.Uri;
import android.os.Build;
import android.os.Bundle;
import java.util.Locale;

/**
 * The number on the app's icon, on phones whose launcher lets apps set it. Elsewhere launchers count the
 * notifications themselves.
 *
 * <p>Huawei: reddit.com/r/HMSCore/comments/uzete6, as of May 2022; the app asks for the permission
 * {@code com.huawei.android.launcher.permission.CHANGE_BADGE}. Honor: the same with {@code com.hihonor}:
 * juejin.cn/post/7476040287648858150, as of February 2025. Samsung and vivo: the broadcasts that
 * github.com/leolin310148/ShortcutBadger 1.1.22 sends, as of 2019.
 */
public final class LauncherBadge {
  /** Also reaches receivers in the background, which Android 8 and newer leave out otherwise. */
  private static final int INCLUDE_BACKGROUND = 0x01000000;

  private LauncherBadge() {}

  /**
   * Shows a number on the app's icon.
   *
   * @param context any context of the app
   * @param number 0 for none
   * @return false if this phone's launcher does not let apps set it
   */
  public static boolean show(Context context, int number) {
    String app = context.getPackageName();
    Intent launcher = context.getPackageManager().getLaunchIntentForPackage(app);
    if (launcher == null) return false;
    String activity = launcher.getComponent().getClassName();
    try {
      switch (Build.MANUFACTURER.toLowerCase(Locale.ROOT)) {
        case "huawei":
          call(context, "com.huawei", app, activity, number);
          return true;
        case "honor":
          call(context, "com.hihonor", app, activity, number);
          return true;
        case "samsung":
          context.sendBroadcast(new Intent("android.intent.action.BADGE_COUNT_UPDATE")
              .putExtra("badge_count", number).putExtra("badge_count_package_name", app)
              .putExtra("badge_count_class_name", activity));
          return true;
        case "vivo":
          context.sendBroadcast(new Intent("launcher.action.CHANGE_APPLICATION_NOTIFICATION_NUM")
              .putExtra("packageName", app).putExtra("className", activity)
              .putExtra("notificationNum", number).addFlags(INCLUDE_BACKGROUND));
          return true;
        default:
          return false;
      }
    } catch (RuntimeException error) {
      // The app lacks the permission, or the launcher is another one.
      return false;
    }
  }

  private static void call(Context context, String maker, String app, String activity, int number) {
    Bundle badge = new Bundle();
    badge.putString("package", app);
    badge.putString("class", activity);
    badge.putInt("badgenumber", number);
    Uri launcher = Uri.parse("content://" + maker + ".android.launcher.settings/badge/");
    context.getContentResolver().call(launcher, "change_badge", null, badge);
  }
}
