package com.heytap.msp.push.callback;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public interface ICallBackResultService {
  void onRegister(int code, String id);

  void onUnRegister(int code);

  void onSetPushTime(int code, String time);

  void onGetPushStatus(int code, int status);

  void onGetNotificationStatus(int code, int status);

  void onError(int code, String message);
}
