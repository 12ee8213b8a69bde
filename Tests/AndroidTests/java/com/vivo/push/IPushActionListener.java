package com.vivo.push;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public interface IPushActionListener {
  void onStateChanged(int state);
}
