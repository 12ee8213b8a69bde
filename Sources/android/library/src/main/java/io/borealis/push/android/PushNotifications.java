package io.borealis.push.android;

import android.app.Activity;
import android.app.Notification;
import android.app.NotificationChannel;
import android.app.NotificationManager;
import android.app.PendingIntent;
import android.content.Context;
import android.content.Intent;
import android.graphics.Bitmap;
import android.os.Build;
import android.service.notification.StatusBarNotification;
import io.borealis.push.Nullable;
import io.borealis.push.Push;
import io.borealis.push.PushClient;
import java.util.Map;

/**
 * Shows the notifications of pushes and reports which were shown and tapped. A tap opens the app's launcher
 * activity with the push in its intent, so that it also arrives when the process was killed meanwhile.
 *
 * <pre>{@code
 * notifications = new PushNotifications(this, borealis.client(), "news", "News", R.drawable.icon);
 *
 * public boolean onPush(Push push) {
 *   notifications.show(push);
 *   return true;
 * }
 * }</pre>
 */
public final class PushNotifications {
  private static final String MESSAGE_ID = "io.borealis.push.MESSAGE_ID";
  private static final String CONTENT = "io.borealis.push.CONTENT";
  private static final String POST_NOTIFICATIONS = "android.permission.POST_NOTIFICATIONS";
  /** Styles of JPush's push API. */
  private static final long BIG_TEXT = 1;
  private static final long INBOX = 2;
  private static final long BIG_PICTURE = 3;

  private final Context context;
  private final PushClient client;
  private final NotificationManager manager;
  private final String channel;
  private final int icon;
  private Customizer customizer;

  /** Changes notifications before they are shown. */
  public interface Customizer {
    /**
     * Changes a notification, such as its sound, its colors or what a tap opens.
     *
     * @param builder what the library has set so far
     * @param push the push that it shows
     */
    void customize(Notification.Builder builder, Push push);
  }

  /**
   * Makes the channel that pushes use unless they name another one that the app has made.
   *
   * @param context any context of the app
   * @param client reports which notifications were shown and tapped
   * @param channel the channel's ID
   * @param name the channel's name in the system's settings
   * @param icon the small icon, a drawable of the app
   */
  public PushNotifications(Context context, PushClient client, String channel, String name, int icon) {
    this.context = context.getApplicationContext();
    this.client = client;
    this.channel = channel;
    this.icon = icon;
    manager = (NotificationManager) context.getSystemService(Context.NOTIFICATION_SERVICE);
    if (Build.VERSION.SDK_INT < 26) return;
    int importance = NotificationManager.IMPORTANCE_DEFAULT;
    manager.createNotificationChannel(new NotificationChannel(channel, name, importance));
  }

  /**
   * Has every notification changed before it is shown.
   *
   * @param customizer null for none
   */
  public void setCustomizer(@Nullable Customizer customizer) {
    this.customizer = customizer;
  }

  /**
   * Shows the notification of a push and reports that it was shown. The notification of the push that it
   * replaces goes away.
   *
   * @param push a push
   * @return false if the push has no notification with a text, or the user does not allow notifications
   */
  public boolean show(Push push) {
    io.borealis.push.Notification content = push.notification();
    if (content == null || content.alert() == null || content.alert().isEmpty()) return false;
    if (push.replaces() != 0) cancel(push.replaces());
    if (!areAllowed()) return false;
    Notification.Builder builder = build(push, content);
    String tag = tag(push.messageId());
    manager.notify(tag, 0, builder.build());
    client.reportShown(push.messageId());
    Object picture = content.members().get("big_pic_path");
    boolean hasPicture = Long.valueOf(BIG_PICTURE).equals(content.members().get("style"));
    if (hasPicture && picture instanceof String && Build.VERSION.SDK_INT >= 23) {
      Pictures.load((String) picture, bitmap -> addPicture(tag, builder, bitmap));
    }
    return true;
  }

  /** Adds the picture unless the notification has gone meanwhile. */
  private void addPicture(String tag, Notification.Builder builder, Bitmap picture) {
    for (StatusBarNotification shown : manager.getActiveNotifications()) {
      if (!tag.equals(shown.getTag())) continue;
      builder.setStyle(new Notification.BigPictureStyle().bigPicture(picture)).setOnlyAlertOnce(true);
      manager.notify(tag, 0, builder.build());
    }
  }

  /**
   * Removes the notification of a push, as {@link io.borealis.push.PushListener#onRecalled} asks for.
   *
   * @param messageId the push
   */
  public void cancel(long messageId) {
    manager.cancel(tag(messageId), 0);
  }

  private static String tag(long messageId) {
    return "borealis " + messageId;
  }

  /** Removes all notifications of the app. */
  public void cancelAll() {
    manager.cancelAll();
  }

  private Notification.Builder build(Push push, io.borealis.push.Notification content) {
    CharSequence title = content.title();
    if (title == null) title = context.getApplicationInfo().loadLabel(context.getPackageManager());
    Notification.Builder builder = builder(content.members().get("channel_id"));
    builder.setSmallIcon(icon).setContentTitle(title).setContentText(content.alert()).setAutoCancel(true);
    Object style = content.members().get("style");
    Object text = content.members().get("big_text");
    Object lines = content.members().get("inbox");
    if (Long.valueOf(BIG_TEXT).equals(style) && text instanceof String) {
      builder.setStyle(new Notification.BigTextStyle().bigText((String) text));
    } else if (Long.valueOf(INBOX).equals(style) && lines instanceof Map) {
      Notification.InboxStyle inbox = new Notification.InboxStyle();
      for (Object line : ((Map<?, ?>) lines).values()) inbox.addLine(String.valueOf(line));
      builder.setStyle(inbox);
    }
    PendingIntent tap = tap(push);
    if (tap != null) builder.setContentIntent(tap);
    Object number = content.members().get("badge_set_num");
    if (number instanceof Long) builder.setNumber((int) Math.max(0, Math.min(99_999, (Long) number)));
    if (customizer != null) customizer.customize(builder, push);
    return builder;
  }

  @SuppressWarnings("deprecation")
  private Notification.Builder builder(Object wanted) {
    if (Build.VERSION.SDK_INT < 26) {
      return new Notification.Builder(context).setDefaults(Notification.DEFAULT_ALL);
    }
    boolean exists = wanted instanceof String && manager.getNotificationChannel((String) wanted) != null;
    return new Notification.Builder(context, exists ? (String) wanted : channel);
  }

  /** Opens the launcher activity, or brings it to the front; null if the app has none. */
  private PendingIntent tap(Push push) {
    Intent launcher = context.getPackageManager().getLaunchIntentForPackage(context.getPackageName());
    if (launcher == null) return null;
    // Without the launcher's action and category: with them, an app that runs would be brought to the front
    // as it is.
    Intent intent = new Intent().setComponent(launcher.getComponent());
    intent.addFlags(Intent.FLAG_ACTIVITY_NEW_TASK | Intent.FLAG_ACTIVITY_CLEAR_TOP);
    intent.addFlags(Intent.FLAG_ACTIVITY_SINGLE_TOP);
    return PendingIntent.getActivity(context, requestCode(push), put(push, intent), flags());
  }

  /**
   * Puts a push into an intent, for {@link #pushIn}.
   *
   * @param push the push
   * @param intent an intent
   * @return the intent
   */
  public static Intent put(Push push, Intent intent) {
    return intent.putExtra(MESSAGE_ID, push.messageId()).putExtra(CONTENT, push.json());
  }

  /**
   * A number that distinguishes the pending intents of pushes.
   *
   * @param push the push
   * @return the same number each time
   */
  public static int requestCode(Push push) {
    long id = push.messageId();
    return (int) (id ^ id >>> 32);
  }

  /**
   * Flags for the pending intents of notifications.
   *
   * @return such that the intent cannot be changed
   */
  public static int flags() {
    int flags = PendingIntent.FLAG_UPDATE_CURRENT;
    return Build.VERSION.SDK_INT >= 23 ? flags | PendingIntent.FLAG_IMMUTABLE : flags;
  }

  /**
   * The push that {@link #put} has put into an intent.
   *
   * @param intent an intent, or null
   * @return null if it has none
   */
  @Nullable
  public static Push pushIn(@Nullable Intent intent) {
    if (intent == null || !intent.hasExtra(MESSAGE_ID)) return null;
    String content = intent.getStringExtra(CONTENT);
    return Push.of(intent.getLongExtra(MESSAGE_ID, 0), content == null ? "{}" : content);
  }

  /**
   * The push whose notification the user tapped to open an activity; it is reported as tapped. Call it in
   * {@code onCreate} and {@code onNewIntent} of the launcher activity, after the client was started.
   *
   * @param intent the activity's intent, from which the push is taken: another call gives null
   * @return null if the activity was opened in another way
   */
  @Nullable
  public Push takeTapped(@Nullable Intent intent) {
    Push push = pushIn(intent);
    if (push == null) return null;
    intent.removeExtra(MESSAGE_ID);
    intent.removeExtra(CONTENT);
    client.reportTapped(push.messageId());
    return push;
  }

  /**
   * Whether the user allows notifications. Before API 24 the system does not say, and this is true.
   *
   * @return false if nothing that {@link #show} does is visible
   */
  public boolean areAllowed() {
    return Build.VERSION.SDK_INT < 24 || manager.areNotificationsEnabled();
  }

  /**
   * Asks the user for the permission to show notifications, which Android 13 and newer demand; the answer
   * goes to {@code onRequestPermissionsResult}. Does nothing on older systems.
   *
   * @param activity the activity on the screen
   * @param requestCode identifies the answer
   */
  public static void requestPermission(Activity activity, int requestCode) {
    if (Build.VERSION.SDK_INT < 33) return;
    activity.requestPermissions(new String[] {POST_NOTIFICATIONS}, requestCode);
  }
}
