package io.borealis.push.android;

import android.app.Application;
import android.content.Context;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.os.Bundle;
import android.os.Handler;
import android.os.Looper;
import android.util.Log;
import io.borealis.push.PushClient;
import io.borealis.push.PushConfig;
import io.borealis.push.PushListener;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;

/**
 * A {@link PushClient} in an Android app. It tells the server whether the app is in the foreground, and tells
 * the client when the network changes. Make one in {@code Application.onCreate}, in one process of the app:
 *
 * <pre>{@code
 * PushConfig config =
 *     Borealis.config(this, "push.example.com:7443", "0123456789abcdef00112233").appVersion("1.2").build();
 * borealis = new Borealis(this, config, listener);
 * borealis.start(hasAgreed);
 * }</pre>
 *
 * <p>Use it on the main thread; the client may be used on any.
 */
public final class Borealis implements Closeable {
  private final Application application;
  private final PushClient client;
  private final Foreground foreground;
  private NetworkWatch network;
  private ChannelToken[] tokens = {};

  /**
   * Makes a client that does nothing until {@link #start}, except that it counts the activities on the
   * screen.
   *
   * @param application the app
   * @param config what {@link #config} began
   * @param listener gets what happens
   */
  public Borealis(Application application, PushConfig config, PushListener listener) {
    this.application = application;
    client = new PushClient(config, listener);
    foreground = new Foreground(client);
    application.registerActivityLifecycleCallbacks(foreground);
  }

  /**
   * Begins a configuration whose listener is called on the main thread, and whose state file is in the app's
   * folder that backups leave out: a restored backup must not bring the registration to another device.
   *
   * @param context any context of the app
   * @param server the device port of the server, {@code host:port} or {@code [IPv6]:port}
   * @param appKey the app's key, 24 hexadecimal digits
   * @return the settings that have defaults
   */
  public static PushConfig.Builder config(Context context, String server, String appKey) {
    File state = new File(context.getNoBackupFilesDir(), "borealis.state");
    Handler main = new Handler(Looper.getMainLooper());
    return PushConfig.builder(server, appKey, state).executor(main::post)
        .facts(new PhoneFacts(context.getApplicationContext()));
  }

  /**
   * Begins a configuration from the app's manifest: {@code <meta-data>} of the application named
   * {@code BOREALIS_SERVER}, and a key's name that you choose. {@code BOREALIS_PLAIN} with the value true
   * connects without TLS, for local use.
   *
   * @param context any context of the app
   * @param appKeyName the name of the meta-data with the app's key
   * @return the settings that have defaults
   * @throws IllegalArgumentException if the manifest does not have them, or they are malformed
   */
  public static PushConfig.Builder manifestConfig(Context context, String appKeyName) {
    PushConfig.Builder config =
        config(context, metaData(context, "BOREALIS_SERVER"), metaData(context, appKeyName));
    return "true".equals(metaData(context, "BOREALIS_PLAIN")) ? config.plain() : config;
  }

  /**
   * A value of the manifest.
   *
   * @param context any context of the app
   * @param name the name of the application's {@code <meta-data>}
   * @return its value; empty if there is none
   */
  public static String metaData(Context context, String name) {
    try {
      PackageManager manager = context.getPackageManager();
      ApplicationInfo app =
          manager.getApplicationInfo(context.getPackageName(), PackageManager.GET_META_DATA);
      Bundle values = app.metaData;
      Object value = values == null ? null : values.get(name);
      return value == null ? "" : value.toString();
    } catch (PackageManager.NameNotFoundException error) {
      return "";
    }
  }

  /**
   * Obtains these tokens at each start and tells them the server, which then reaches the device while the
   * process does not run. Call it before {@link #start}.
   *
   * @param tokens such as {@code MakerTokens.all()} of {@code borealis-makers.aar}
   */
  public void reportTokens(ChannelToken... tokens) {
    this.tokens = tokens.clone();
  }

  private void obtain(ChannelToken token) {
    try {
      token.obtain(application, value -> {
        if (value == null || value.isEmpty()) return;
        client.setChannelToken(token.channel(), value, null);
      });
    } catch (Exception | LinkageError error) {
      // The maker's library, or its service on this phone, is missing or too old.
      Log.w("Borealis", "no token of " + token.channel(), error);
    }
  }

  /**
   * Connects and stays connected if the user has agreed to your privacy policy; otherwise does nothing. Call
   * it at each start of the app with what you know, and again when the user has agreed.
   *
   * @param consent whether the user has agreed
   * @throws IOException if the state file cannot be used: the storage is full, or another process of the app
   *     has it
   */
  public void start(boolean consent) throws IOException {
    if (!consent) return;
    client.start();
    if (network == null) network = NetworkWatch.start(application, client);
    for (ChannelToken token : tokens) {
      Thread thread = new Thread(() -> obtain(token), "borealis-token");
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** Disconnects until {@link #start}. The server keeps pushes in the meantime. */
  public void stop() {
    client.stop();
    endWatch();
  }

  private void endWatch() {
    if (network != null) network.end();
    network = null;
  }

  /** Disconnects for good and closes the state file. Returns at the latest after five seconds. */
  @Override
  public void close() {
    application.unregisterActivityLifecycleCallbacks(foreground);
    endWatch();
    client.close();
  }

  /**
   * Whether an activity of the app is on the screen.
   *
   * @return false in the background
   */
  public boolean isForeground() {
    return foreground.isForeground();
  }

  /**
   * The client, for everything else.
   *
   * @return the same client each time
   */
  public PushClient client() {
    return client;
  }
}
