package io.borealis.jpush;

import android.app.Activity;
import android.content.Context;
import android.content.Intent;
import android.os.Handler;
import android.os.Looper;
import io.borealis.push.Nullable;
import io.borealis.push.OperationResult;
import io.borealis.push.PushClient;
import io.borealis.push.ResultCode;
import io.borealis.push.android.PushNotifications;
import io.borealis.push.facade.PushHost;
import io.borealis.push.makers.LauncherBadge;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The calls of an app. Results of operations come to the app's {@link JPushMessageReceiver}, with the number
 * that the app gave the operation. Before {@link #init} and while pushes are stopped they end with 6012.
 */
public final class JPushInterface {
  private JPushInterface() {}

  /**
   * Whether to write what happens to the log.
   *
   * @param debug false by default
   */
  public static void setDebugMode(boolean debug) {
    Hub.setDebugging(debug);
  }

  /**
   * Connects and stays connected, unless {@link JCollectionAuth} has no consent or pushes are stopped. Call
   * it in {@code Application.onCreate}. The server and the app's key are the manifest's meta-data
   * {@code BOREALIS_SERVER} and {@code JPUSH_APPKEY}.
   *
   * @param context any context of the app
   */
  public static void init(Context context) {
    Hub.of(context).start();
  }

  /**
   * Names the store or the campaign that the app was installed from, in place of the manifest's meta-data
   * {@code JPUSH_CHANNEL}. It is sent as the fact {@code store_channel} if the app's settings on the server
   * ask for that.
   *
   * @param context any context of the app
   * @param channel at most 64 bytes of UTF-8
   */
  public static void setChannel(Context context, String channel) {
    Hub.setChannel(channel);
  }

  /**
   * Not of JPush: the registration ID that JPush issued to this install, if the app has kept it. The first
   * registration takes it over, with its alias and tags, if it was imported. Call it before {@link #init}.
   *
   * @param registrationId null for none
   */
  public static void setFormerRegistrationID(@Nullable String registrationId) {
    PushHost.setFormerRegistrationId(registrationId);
  }

  /**
   * Stops pushes until {@link #resumePush}, also after a restart of the app.
   *
   * @param context any context of the app
   */
  public static void stopPush(Context context) {
    Hub.of(context).host().stop();
  }

  /**
   * Ends {@link #stopPush}.
   *
   * @param context any context of the app
   */
  public static void resumePush(Context context) {
    Hub.of(context).resume();
  }

  /**
   * Whether pushes are stopped.
   *
   * @param context any context of the app
   * @return true between {@link #stopPush} and {@link #resumePush}
   */
  public static boolean isPushStopped(Context context) {
    return Hub.of(context).host().isStopped();
  }

  /**
   * Whether there is a session with the server.
   *
   * @param context any context of the app
   * @return false while there is none
   */
  public static boolean getConnectionState(Context context) {
    return Hub.of(context).isConnected();
  }

  /**
   * The registration ID.
   *
   * @param context any context of the app
   * @return empty until there is one
   */
  public static String getRegistrationID(Context context) {
    return Hub.of(context).host().registrationId();
  }

  // Alias

  private static PushClient client(Context context) {
    return Hub.of(context).host().client();
  }

  private static void aliasEnded(Context context, int sequence, OperationResult result, String alias) {
    Hub hub = Hub.of(context);
    JPushMessage message = JPushMessage.ofAlias(sequence, result, alias);
    hub.each(receiver -> receiver.onAliasOperatorResult(hub.host().application(), message));
  }

  /**
   * Sets the alias.
   *
   * @param context any context of the app
   * @param sequence returned with the result
   * @param alias at most 40 characters
   */
  public static void setAlias(Context context, int sequence, String alias) {
    String set = alias == null ? "" : alias;
    client(context).setAlias(set, result -> aliasEnded(context, sequence, result, set));
  }

  /**
   * Releases the alias.
   *
   * @param context any context of the app
   * @param sequence returned with the result
   */
  public static void deleteAlias(Context context, int sequence) {
    client(context).deleteAlias(result -> aliasEnded(context, sequence, result, null));
  }

  /**
   * Gets the alias.
   *
   * @param context any context of the app
   * @param sequence returned with the result
   */
  public static void getAlias(Context context, int sequence) {
    client(context).getAlias(result -> aliasEnded(context, sequence, result, null));
  }

  // Tags

  private static void tagsEnded(Context context, int sequence, OperationResult result, Set<String> tags) {
    Hub hub = Hub.of(context);
    JPushMessage message = JPushMessage.ofTags(sequence, result, tags);
    hub.each(receiver -> receiver.onTagOperatorResult(hub.host().application(), message));
  }

  private static Set<String> copy(Set<String> tags) {
    return tags == null ? new LinkedHashSet<>() : new LinkedHashSet<>(tags);
  }

  /**
   * Replaces all tags.
   *
   * @param context any context of the app
   * @param sequence returned with the result
   * @param tags the new ones
   */
  public static void setTags(Context context, int sequence, Set<String> tags) {
    Set<String> set = copy(tags);
    client(context).setTags(set, result -> tagsEnded(context, sequence, result, set));
  }

  /**
   * Adds tags.
   *
   * @param context any context of the app
   * @param sequence returned with the result
   * @param tags the tags
   */
  public static void addTags(Context context, int sequence, Set<String> tags) {
    Set<String> set = copy(tags);
    client(context).addTags(set, result -> tagsEnded(context, sequence, result, set));
  }

  /**
   * Removes tags.
   *
   * @param context any context of the app
   * @param sequence returned with the result
   * @param tags the tags
   */
  public static void deleteTags(Context context, int sequence, Set<String> tags) {
    Set<String> set = copy(tags);
    client(context).deleteTags(set, result -> tagsEnded(context, sequence, result, set));
  }

  /**
   * Removes all tags.
   *
   * @param context any context of the app
   * @param sequence returned with the result
   */
  public static void cleanTags(Context context, int sequence) {
    client(context).cleanTags(result -> tagsEnded(context, sequence, result, null));
  }

  /**
   * Gets all tags.
   *
   * @param context any context of the app
   * @param sequence returned with the result
   */
  public static void getAllTags(Context context, int sequence) {
    client(context).getTags(result -> tagsEnded(context, sequence, result, null));
  }

  /**
   * Checks whether the device has a tag.
   *
   * @param context any context of the app
   * @param sequence returned with the result
   * @param tag the tag
   */
  public static void checkTagBindState(Context context, int sequence, String tag) {
    Hub hub = Hub.of(context);
    hub.host().client().checkTag(tag, result -> {
      JPushMessage message = JPushMessage.ofCheck(sequence, result, tag);
      hub.each(receiver -> receiver.onCheckTagOperatorResult(hub.host().application(), message));
    });
  }

  /**
   * Ends with 6017: devices cannot claim a number. The app server sets it with
   * {@code POST /v3/devices/{registration_id}}.
   *
   * @param context any context of the app
   * @param sequence returned with the result
   * @param mobileNumber the number
   */
  public static void setMobileNumber(Context context, int sequence, String mobileNumber) {
    Hub hub = Hub.of(context);
    JPushMessage message = JPushMessage.ofNumber(sequence, ResultCode.REQUEST_INVALID, mobileNumber);
    new Handler(Looper.getMainLooper()).post(() -> hub.each(
        receiver -> receiver.onMobileNumberOperatorResult(hub.host().application(), message)));
  }

  // Notifications

  /**
   * Sets the number on the app's icon, at the server and where the launcher allows it.
   *
   * @param context any context of the app
   * @param badge 0 to 99999
   */
  public static void setBadgeNumber(Context context, int badge) {
    client(context).setBadge(badge, null);
    try {
      LauncherBadge.show(context, badge);
    } catch (LinkageError error) {
      // The app does not have borealis-makers.aar.
      Hub.of(context).debug("the icon needs borealis-makers.aar");
    }
  }

  /**
   * Removes all notifications of the app.
   *
   * @param context any context of the app
   */
  public static void clearAllNotifications(Context context) {
    Hub.of(context).host().notifications().cancelAll();
  }

  /**
   * Reports that the user tapped a notification that the app has shown itself.
   *
   * @param context any context of the app
   * @param msgId the push's message ID
   */
  public static void reportNotificationOpened(Context context, String msgId) {
    try {
      Hub.of(context).host().reportTapped(Long.parseLong(msgId));
    } catch (NumberFormatException error) {
      Hub.of(context).debug("not a message ID: " + msgId);
    }
  }

  /**
   * Reports that the app has shown an in-app message. An addition to JPush's calls, like the next one: there
   * the library shows in-app messages, here the app does.
   *
   * @param context the app
   * @param message what {@link JPushMessageReceiver#onInAppMessageShow} got
   */
  public static void reportInAppMessageShown(Context context, NotificationMessage message) {
    try {
      client(context).reportInAppShown(Long.parseLong(message.msgId));
    } catch (NumberFormatException error) {
      Hub.of(context).debug("not a message ID: " + message.msgId);
    }
  }

  /**
   * Reports that the user tapped an in-app message, and tells receivers.
   *
   * @param context passed to {@link JPushMessageReceiver#onInAppMessageClick}
   * @param message what {@link JPushMessageReceiver#onInAppMessageShow} got
   */
  public static void reportInAppMessageClicked(Context context, NotificationMessage message) {
    Hub hub = Hub.of(context);
    try {
      client(context).reportInAppTapped(Long.parseLong(message.msgId));
      hub.each(receiver -> receiver.onInAppMessageClick(context, message));
    } catch (NumberFormatException error) {
      hub.debug("not a message ID: " + message.msgId);
    }
  }

  /**
   * Whether the user allows notifications.
   *
   * @param context any context of the app
   * @return 1 if so, otherwise 0
   */
  public static int isNotificationEnabled(Context context) {
    return Hub.of(context).host().notifications().areAllowed() ? 1 : 0;
  }

  /**
   * Opens the system's settings for the app's notifications, from Android 8 on.
   *
   * @param context any context of the app
   */
  public static void goToAppNotificationSettings(Context context) {
    Intent settings = new Intent("android.settings.APP_NOTIFICATION_SETTINGS");
    settings.putExtra("android.provider.extra.APP_PACKAGE", context.getPackageName());
    try {
      context.startActivity(settings.addFlags(Intent.FLAG_ACTIVITY_NEW_TASK));
    } catch (RuntimeException error) {
      PushHost.open(context, null);
    }
  }

  /**
   * Asks for the permission to show notifications, from Android 13 on.
   *
   * @param context the activity on the screen; with anything else nothing happens
   */
  public static void requestPermission(Context context) {
    if (context instanceof Activity) PushNotifications.requestPermission((Activity) context, 1);
  }
}
