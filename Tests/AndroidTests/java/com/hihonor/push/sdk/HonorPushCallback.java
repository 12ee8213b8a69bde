package com.hihonor.push.sdk;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public interface HonorPushCallback<T> {
  void onSuccess(T result);

  void onFailure(int code, String message);
}
