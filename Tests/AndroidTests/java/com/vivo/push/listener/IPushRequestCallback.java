package com.vivo.push.listener;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public interface IPushRequestCallback<T> {
  void onSuccess(T result);

  void onFail(Integer code);
}
