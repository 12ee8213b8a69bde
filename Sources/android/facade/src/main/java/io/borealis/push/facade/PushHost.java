package io.borealis.push.facade;

import android.app.Activity;
import android.app.Application;
import android.app.PendingIntent;
import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.content.pm.ActivityInfo;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.content.pm.ServiceInfo;
import android.util.Log;
import io.borealis.push.FactSource;
import io.borealis.push.Notification;
import io.borealis.push.Push;
import io.borealis.push.PushClient;
import io.borealis.push.PushConfig;
import io.borealis.push.PushListener;
import io.borealis.push.android.Borealis;
import io.borealis.push.android.ChannelToken;
import io.borealis.push.android.PushNotifications;
import io.borealis.push.makers.MakerTokens;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The client and the notifications of an app that was written for another library: configured in the
 * manifest, started and stopped for good by the app, with taps that reach the app's code.
 */
public final class PushHost {
  private static String formerRegistrationId;
  private static volatile String storeChannel;

  private final Application application;
  private final String appKey;
  private final Borealis borealis;
  private final PushNotifications notifications;
  private final File stopped;
  /** Taps of before the start. */
  private final List<Long> tapped = new ArrayList<>();
  private boolean isStarted;

  /**
   * Makes a host that does nothing until {@link #start}.
   *
   * @param context any context of the app
   * @param keyName the meta-data with the app's key
   * @param listener gets what happens, on the main thread
   * @param look the notification channel's name, and drawables for the small icon, of which the app may have
   *     one
   * @param tap opened by a tap, with the push in its intent
   * @param dismissal called when a notification is swiped away; null for nothing
   */
  public PushHost(Context context, String keyName, PushListener listener, Look look,
      Class<? extends Activity> tap, Class<? extends BroadcastReceiver> dismissal) {
    application = (Application) context.getApplicationContext();
    appKey = Borealis.metaData(application, keyName);
    PushConfig config;
    try {
      config = Borealis.manifestConfig(application, keyName).appVersion(version(application))
          .formerRegistrationId(formerRegistrationId)
          .facts(fact -> fact == FactSource.STORE_CHANNEL ? storeChannel : null).build();
    } catch (IllegalArgumentException error) {
      String names = "the manifest needs the meta-data BOREALIS_SERVER and " + keyName + ": ";
      throw new IllegalArgumentException(names + error.getMessage(), error);
    }
    borealis = new Borealis(application, config, listener);
    borealis.reportTokens(makers());
    int icon = application.getResources().getIdentifier(look.icon, "drawable", application.getPackageName());
    if (icon == 0) icon = application.getApplicationInfo().icon;
    notifications = new PushNotifications(application, borealis.client(), look.channel, look.name, icon);
    notifications.setCustomizer((builder, push) -> {
      int number = PushNotifications.requestCode(push);
      Intent open = PushNotifications.put(push, new Intent(application, tap));
      open.addFlags(Intent.FLAG_ACTIVITY_NEW_TASK);
      int flags = PushNotifications.flags();
      builder.setContentIntent(PendingIntent.getActivity(application, number, open, flags));
      if (dismissal == null) return;
      Intent dismiss = PushNotifications.put(push, new Intent(application, dismissal));
      builder.setDeleteIntent(PendingIntent.getBroadcast(application, number, dismiss, flags));
    });
    stopped = new File(application.getNoBackupFilesDir(), "borealis.stopped");
  }

  /** How notifications look by default. */
  public static final class Look {
    private final String channel;
    private final String name;
    private final String icon;

    /**
     * Names the defaults.
     *
     * @param channel the notification channel's ID
     * @param name the notification channel's name in the system's settings
     * @param icon the drawable that the app has for the small icon; without it the app's icon is used
     */
    public Look(String channel, String name, String icon) {
      this.channel = channel;
      this.name = name;
      this.icon = icon;
    }
  }

  /**
   * The ID that the former library had for this install, for hosts that are made afterwards.
   *
   * @param id null for none
   */
  public static void setFormerRegistrationId(String id) {
    formerRegistrationId = id;
  }

  /**
   * The fact {@code store_channel} of all hosts, for apps that ask for it. After the start call
   * {@link PushClient#factsChanged} as well.
   *
   * @param channel the store or the campaign that the app was installed from; null for none
   */
  public static void setStoreChannel(String channel) {
    storeChannel = channel;
  }

  private static ChannelToken[] makers() {
    try {
      return MakerTokens.all();
    } catch (LinkageError error) {
      // The app does not have borealis-makers.aar.
      return new ChannelToken[0];
    }
  }

  private static String version(Context context) {
    try {
      String version =
          context.getPackageManager().getPackageInfo(context.getPackageName(), 0).versionName;
      return version == null ? "" : version;
    } catch (PackageManager.NameNotFoundException error) {
      return "";
    }
  }

  /**
   * Connects unless the app has stopped pushes in this run or an earlier one. Call it when the user has
   * agreed.
   */
  public synchronized void start() {
    if (isStopped()) return;
    try {
      borealis.start(true);
      isStarted = true;
      for (long id : tapped) borealis.client().reportTapped(id);
      tapped.clear();
    } catch (IOException error) {
      Log.w("Borealis", "the state file cannot be used", error);
    }
  }

  /** Disconnects until {@link #resume}, also after a restart of the app. */
  public synchronized void stop() {
    try {
      stopped.createNewFile();
    } catch (IOException error) {
      Log.w("Borealis", "pushes stop for this run only", error);
    }
    isStarted = false;
    borealis.stop();
  }

  /** Ends {@link #stop}. */
  public synchronized void resume() {
    stopped.delete();
    start();
  }

  /**
   * Whether the app has stopped pushes.
   *
   * @return true until {@link #resume}
   */
  public boolean isStopped() {
    return stopped.exists();
  }

  /**
   * Whether the client was started.
   *
   * @return false before {@link #start} and after {@link #stop}
   */
  public synchronized boolean isStarted() {
    return isStarted;
  }

  /** Ends the client, for tests. */
  public void close() {
    borealis.close();
  }

  /**
   * The client.
   *
   * @return the same client each time
   */
  public PushClient client() {
    return borealis.client();
  }

  /**
   * The notifications.
   *
   * @return the same object each time
   */
  public PushNotifications notifications() {
    return notifications;
  }

  /**
   * The app.
   *
   * @return the application
   */
  public Application application() {
    return application;
  }

  /**
   * The app's key.
   *
   * @return what the manifest has
   */
  public String appKey() {
    return appKey;
  }

  /**
   * The registration ID.
   *
   * @return empty until there is one
   */
  public String registrationId() {
    String id = borealis.client().registrationId();
    return id == null ? "" : id;
  }

  /**
   * Reports that the user tapped a notification, now or after the start.
   *
   * @param messageId the push
   */
  public synchronized void reportTapped(long messageId) {
    if (isStarted) borealis.client().reportTapped(messageId);
    else tapped.add(messageId);
  }

  /**
   * Shows the notification of a push, unless its {@code display_foreground} is 0 and the app is on the
   * screen.
   *
   * @param push a push with a notification
   * @return whether it was shown
   */
  public boolean show(Push push) {
    Object wanted = push.notification().members().get("display_foreground");
    boolean isHidden = "0".equals(wanted) || Long.valueOf(0).equals(wanted) || Boolean.FALSE.equals(wanted);
    return !(isHidden && borealis.isForeground()) && notifications.show(push);
  }

  /**
   * Opens what a notification names, its {@code intent.url}; otherwise the app.
   *
   * @param context an activity, or another context
   * @param push the push; null to open the app
   */
  public static void open(Context context, Push push) {
    Notification notification = push == null ? null : push.notification();
    Object intent = notification == null ? null : notification.members().get("intent");
    Object url = intent instanceof Map ? ((Map<?, ?>) intent).get("url") : null;
    if (url instanceof String && openUrl(context, (String) url)) return;
    Intent launcher = context.getPackageManager().getLaunchIntentForPackage(context.getPackageName());
    if (launcher != null) context.startActivity(launcher.addFlags(Intent.FLAG_ACTIVITY_NEW_TASK));
  }

  /**
   * Opens an address, of the Web or of an intent.
   *
   * @param context an activity, or another context
   * @param url the address
   * @return false if nothing opens it
   */
  public static boolean openUrl(Context context, String url) {
    try {
      Intent intent = Intent.parseUri(url, Intent.URI_INTENT_SCHEME);
      context.startActivity(intent.addFlags(Intent.FLAG_ACTIVITY_NEW_TASK));
      return true;
    } catch (URISyntaxException | RuntimeException error) {
      return false;
    }
  }

  /**
   * Objects of the receivers in the app's manifest that have a type.
   *
   * @param <T> the type
   * @param context any context of the app
   * @param type the type
   * @return one of each class
   */
  public static <T> List<T> receivers(Context context, Class<T> type) {
    List<String> names = new ArrayList<>();
    PackageInfo app = components(context, PackageManager.GET_RECEIVERS);
    if (app != null && app.receivers != null) {
      for (ActivityInfo receiver : app.receivers) names.add(receiver.name);
    }
    return objects(names, type);
  }

  /**
   * Objects of the services in the app's manifest that have a type.
   *
   * @param <T> the type
   * @param context any context of the app
   * @param type the type
   * @return one of each class
   */
  public static <T> List<T> services(Context context, Class<T> type) {
    List<String> names = new ArrayList<>();
    PackageInfo app = components(context, PackageManager.GET_SERVICES);
    if (app != null && app.services != null) {
      for (ServiceInfo service : app.services) names.add(service.name);
    }
    return objects(names, type);
  }

  private static PackageInfo components(Context context, int kind) {
    try {
      return context.getPackageManager().getPackageInfo(context.getPackageName(), kind);
    } catch (PackageManager.NameNotFoundException error) {
      return null;
    }
  }

  private static <T> List<T> objects(List<String> names, Class<T> type) {
    List<T> objects = new ArrayList<>();
    for (String name : names) {
      try {
        Class<?> found = Class.forName(name, false, PushHost.class.getClassLoader());
        if (type.isAssignableFrom(found)) objects.add(type.cast(found.getConstructor().newInstance()));
      } catch (ReflectiveOperationException | LinkageError error) {
        Log.w("Borealis", name + " gets no events", error);
      }
    }
    return objects;
  }
}
