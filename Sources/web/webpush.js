// Web Push for a page with a device of Borealis (device.js): asks for permission, subscribes with the app's key, and reports the
// subscription to the server, so that the service worker (worker.js) shows notifications while the page is closed.

import { Store } from "./store.js";

export class WebPush {
  #device;
  #options;
  #store;
  #subscription = null;
  #mirrored = "";

  // `server` is the origin of Borealis, `publicKey` the app's key as the console shows it, empty if there is none; `worker` the path
  // of the script of the site's service worker, and `scope` what it is for. Notifications without a title have `title`; those without
  // an icon or a link of their own `icon` and `page`, the page that a tap opens. `changed(status)` is called when the status may
  // have changed, `shown(push)` for a push that the worker has shown, `opened(id)` for one that was tapped.
  constructor(device, { server, publicKey, worker, scope = "/", title = "", icon, page = "/", ...listener }) {
    this.#device = device;
    this.#options = {
      server: new URL(server, location.href).origin, publicKey, worker, scope: new URL(scope, location.href).href, title,
      icon: icon && new URL(icon, location.href).href, page: new URL(page, location.href).href,
    };
    this.listener = { changed() {}, shown() {}, opened() {}, ...listener };
    // What went wrong last, in the browser's words.
    this.problem = "";
    this.#store = new Store(this.#options.scope);
  }

  // "insecure": the page has not come over HTTPS. "unsupported": the browser has no Web Push; Safari on an iPhone has it only in a web
  // app on the home screen. "nokey": the app has no key. "denied": the person refuses notifications, and only the browser's settings
  // change that. "off": `turnOn` can be called. "on".
  get status() {
    if (!globalThis.isSecureContext) return "insecure";
    const parts = ["serviceWorker" in navigator, "PushManager" in window, "Notification" in window, "indexedDB" in window];
    if (parts.includes(false)) return "unsupported";
    if (!this.#options.publicKey) return "nokey";
    if (Notification.permission === "denied") return "denied";
    return this.#subscription && Notification.permission === "granted" ? "on" : "off";
  }

  get #isPossible() { return ["off", "on"].includes(this.status); }

  // Call at each start of the page, before the device connects: what was turned on stays on.
  async start() {
    this.#device.state.changed = () => this.#mirror();
    if (!this.#isPossible) return this.#note();
    navigator.serviceWorker.addEventListener("message", ({ data }) => this.#hear(data));
    const permission = await navigator.permissions?.query({ name: "notifications" }).catch(() => null);
    if (permission) permission.onchange = () => this.#note();
    try {
      if (await this.#store.fact("identity") && Notification.permission === "granted") await this.#subscribe();
      await this.#adopt();
      await this.#store.reportAll();
    } catch (error) {
      this.problem = error.message;
    }
    this.#note();
  }

  // Asks for permission and subscribes. Call it when the person has pressed a button: browsers ask only then.
  async turnOn() {
    this.problem = "";
    if (!this.#isPossible) return this.#note();
    try {
      if (await Notification.requestPermission() === "granted") await this.#subscribe();
    } catch (error) {
      // Such as when the browser's push service cannot be reached.
      this.problem = error.message;
    }
    return this.#note();
  }

  // Ends the subscription. The server forgets it when the device is connected.
  async turnOff() {
    this.problem = "";
    const subscription = this.#subscription;
    this.#subscription = null;
    this.#device.claim = null;
    this.#mirrored = "";
    try {
      await this.#store.clear();
      await this.#device.setToken("webpush", "");
      await subscription?.unsubscribe();
    } catch (error) {
      this.problem = error.message;
    }
    return this.#note();
  }

  #note() {
    this.listener.changed(this.status);
    return this.status;
  }

  async #subscribe() {
    const { worker, scope, publicKey } = this.#options;
    const registration = await navigator.serviceWorker.register(worker, { scope });
    await isActive(registration);
    const key = fromBase64URL(publicKey);
    const present = await registration.pushManager.getSubscription();
    // A subscription belongs to the key that it was made with.
    if (present && !isSame(present.options?.applicationServerKey, key)) await present.unsubscribe();
    this.#subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    this.#device.claim = (id) => this.#store.claim(id).catch(() => true);
    await this.#mirror();
    await this.#device.setToken("webpush", JSON.stringify(this.#subscription));
  }

  // Gives the worker what it needs: who the device is and its keys, each time they change.
  async #mirror() {
    if (!this.#subscription) return;
    const { registrationID, secret, keys } = this.#device.state.values;
    const { server, publicKey, title, icon, page } = this.#options;
    const identity = { server, appKey: this.#device.appKey, registrationID, secret, publicKey, title, icon, page };
    const text = JSON.stringify([identity, keys]);
    if (!registrationID || text === this.#mirrored) return;
    this.#mirrored = text;
    try {
      await this.#store.setFact("identity", identity);
      await this.#store.setFact("keys", keys);
    } catch {
      this.#mirrored = "";
    }
  }

  // What the worker says.
  #hear(said) {
    if (said?.borealis === "shown") this.#adopt().catch(() => {});
    else if (said?.borealis === "tapped") this.#open(said.id);
    else if (said?.borealis === "subscribed") this.#subscribe().then(() => this.#note()).catch(() => {});
  }

  // Takes what the worker has shown into the device's own pushes.
  async #adopt() {
    const { state } = this.#device;
    for (const { id, at, tapped = false, content, key } of await this.#store.takeShown()) {
      if (!content || state.knowsNotification(id)) {
        if (tapped) this.#open(id);
        continue;
      }
      const push = { id, at, tapped, content, key, isOffline: false };
      if (content.override) {
        state.recall(Number(content.override));
        this.#device.listener.recalled(Number(content.override));
      }
      // Whether or not the connection has brought its message, or will.
      state.keep(push);
      this.listener.shown(push);
    }
    state.save();
  }

  #open(id) {
    for (const push of this.#device.state.values.pushes) push.tapped ||= push.id === id;
    this.#device.state.save();
    this.listener.opened(id);
  }
}

function fromBase64URL(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}

function isSame(buffer, bytes) {
  const other = new Uint8Array(buffer ?? []);
  return other.length === bytes.length && other.every((byte, place) => byte === bytes[place]);
}

// A worker that was just registered is installed first.
function isActive(registration) {
  if (registration.active) return Promise.resolve();
  const worker = registration.installing ?? registration.waiting;
  return new Promise((resolve, reject) => {
    worker.addEventListener("statechange", () => {
      if (worker.state === "activated") resolve();
      if (worker.state === "redundant") reject(new Error("The service worker could not be installed."));
    });
  });
}
