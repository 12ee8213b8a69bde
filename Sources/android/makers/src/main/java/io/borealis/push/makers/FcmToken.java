package io.borealis.push.makers;

import android.content.Context;

/**
 * Firebase Cloud Messaging: firebase.blog/posts/2023/04/managing-cloud-messaging-tokens, and public apps, as
 * stored in November 2026: {@code FirebaseMessaging.getInstance().getToken()} gives a Task, for which {@code
 * Tasks.await} waits.
 */
final class FcmToken extends Maker {
  private static final String TASK = "com.google.android.gms.tasks.Task";

  FcmToken() {
    super("fcm", "com.google.firebase.messaging.FirebaseMessaging");
  }

  @Override
  public void obtain(Context context, Receiver receiver) throws Exception {
    Class<?> messaging = Class.forName("com.google.firebase.messaging.FirebaseMessaging");
    Object instance = call(messaging, null, "getInstance", types());
    Object task = call(messaging, instance, "getToken", types());
    Class<?>[] waits = types(Class.forName(TASK));
    receiver.onToken((String) call("com.google.android.gms.tasks.Tasks", "await", waits, task));
  }
}
