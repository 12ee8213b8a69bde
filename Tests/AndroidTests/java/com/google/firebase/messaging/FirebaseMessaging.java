package com.google.firebase.messaging;

import com.google.android.gms.tasks.Task;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public class FirebaseMessaging {
  public static synchronized FirebaseMessaging getInstance() {
    return new FirebaseMessaging();
  }

  public Task<String> getToken() {
    return new Task<String>() {
      @Override
      public String getResult() {
        return "fcm-token";
      }
    };
  }
}
