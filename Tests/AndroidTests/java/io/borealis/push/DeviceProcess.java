package io.borealis.push;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * An app for the kill test: many devices that note each push they show in a file, and do not show one again
 * that was redelivered and is in the file. Prints "registered NUMBER ID" for each device. "network" on
 * standard input says that the network has changed.
 */
final class DeviceProcess {
  private static final PrintStream OUT = System.out;

  private DeviceProcess() {}

  /** Arguments: the server, the app key, a folder, the number of devices. */
  public static void main(String[] arguments) throws Exception {
    List<PushClient> clients = new ArrayList<>();
    for (int number = 0; number < Integer.parseInt(arguments[3]); number++) {
      Path folder = Paths.get(arguments[2]);
      File state = folder.resolve("state-" + number).toFile();
      PushConfig config = PushConfig.builder(arguments[0], arguments[1], state).plain().build();
      PushClient client = new PushClient(config, new App(number, folder.resolve("shown-" + number)));
      client.start();
      clients.add(client);
      if (client.registrationId() != null) print("registered " + number + " " + client.registrationId());
    }
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, Wire.UTF_8));
    while (input.readLine() != null) for (PushClient client : clients) client.networkChanged();
  }

  private static void print(String line) {
    synchronized (OUT) {
      OUT.println(line);
      OUT.flush();
    }
  }

  private static final class App implements PushListener {
    private final int number;
    private final FileOutputStream shown;
    private final Set<String> known;

    App(int number, Path file) throws IOException {
      this.number = number;
      known = Files.exists(file) ? new HashSet<>(Files.readAllLines(file)) : new HashSet<>();
      shown = new FileOutputStream(file.toFile(), true);
    }

    @Override
    public boolean onPush(Push push) {
      String id = Long.toString(push.messageId());
      if (push.isRedelivered() && known.contains(id)) return true;
      try {
        // One write, which survives the process.
        shown.write((id + "\n").getBytes(Wire.UTF_8));
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
      return true;
    }

    @Override
    public void onRegistered(String registrationId) {
      print("registered " + number + " " + registrationId);
    }
  }
}
