package com.google.android.gms.tasks;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public abstract class Task<T> {
  public abstract T getResult();
}
