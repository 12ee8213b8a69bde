package com.google.android.gms.tasks;

import java.util.concurrent.ExecutionException;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public final class Tasks {
  private Tasks() {}

  public static <T> T await(Task<T> task) throws ExecutionException, InterruptedException {
    return task.getResult();
  }
}
