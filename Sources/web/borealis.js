// A page as a device of Borealis: one object that registers, stays connected, and shows notifications while the page is closed.

import { Device, State } from "./device.js";
import { WebPush } from "./webpush.js";

// Milliseconds for which an operation waits for a connection.
const WAIT_MS = 10000;
const TIMEOUT = 6002, STOPPED = 6012;
// Pages are devices of this platform.
const ANDROID = 2;

export class Borealis {
  #options;
  #listener;
  #device = null;
  #webPush = null;
  #isStarted = false;
  // Operations that wait for the login.
  #waiting = new Set();

  // Does nothing yet: no connection is opened and nothing is stored or read before `start`.
  //
  // `options`: `server`, the address of Borealis; `appKey`; `name`, under which the page's data are stored, by default with the app
  // key; and for Web Push `publicKey`, `worker`, `scope`, `title`, `icon` and `page`, see webpush.js.
  //
  // `listener` may have `registered(id)`, `connected(isConnected, detail)`, `push(push)`, `recalled(id)`, `opened(id)`,
  // `notifications(status, problem)` and `unreadable(push, code)`.
  constructor({ server, appKey, name = `borealis.${appKey}`, ...webPush }, listener = {}) {
    this.#options = { server: new URL(server, location.href).origin, appKey, name, webPush: { publicKey: "", ...webPush } };
    const names = ["registered", "connected", "push", "recalled", "opened", "notifications", "unreadable"];
    this.#listener = { ...Object.fromEntries(names.map((one) => [one, () => {}])), ...listener };
  }

  // Registers at the first start and stays connected, if the person has agreed to your privacy policy; without consent nothing
  // happens. Call it at each start of the page with what you know, and again when the person has agreed.
  async start({ consent = true } = {}) {
    if (!consent || this.#isStarted) return;
    this.#isStarted = true;
    this.#device ??= this.#makeDevice();
    const { state } = this.#device;
    // Another tab may have begun in the meantime.
    state.reload();
    if (!state.exists) state.begin(ANDROID);
    this.#device.isForeground = document.visibilityState === "visible";
    document.addEventListener("visibilitychange", this.#visibility);
    addEventListener("pagehide", this.#pageHide);
    addEventListener("pageshow", this.#pageShow);
    // Before the connection, which asks what the worker has shown.
    await this.#webPush.start();
    if (this.#isStarted) this.#device.start();
  }

  // Disconnects until `start`. The server keeps pushes in the meantime, or sends them over Web Push.
  stop() {
    if (!this.#isStarted) return;
    this.#isStarted = false;
    document.removeEventListener("visibilitychange", this.#visibility);
    removeEventListener("pagehide", this.#pageHide);
    removeEventListener("pageshow", this.#pageShow);
    this.#device.stop();
    this.#endWaits(STOPPED);
  }

  // Ends Web Push and the session and deletes all that is stored in the browser. The next start registers anew.
  async forget() {
    const device = this.#device ??= this.#makeDevice();
    await this.#webPush.turnOff();
    if (device.isOnline) await device.operate("LOGOUT");
    this.stop();
    device.state.forget();
  }

  // By which the app server addresses this device: 19 hexadecimal digits; null before the first registration.
  get registrationId() { return this.#device?.state.values.registrationID ?? null; }

  get isConnected() { return this.#device?.isOnline ?? false; }

  // MARK: Alias and tags

  // Each gives `{ code }`, 0 for success (Docs/protocol.md lists the others), after the next login if there is no session; 6002
  // after ten seconds without one, 6012 when stopped.
  setAlias(alias) { return this.#operate("SET_ALIAS", alias); }

  deleteAlias() { return this.#operate("DELETE_ALIAS"); }

  // Besides, `alias`: empty if there is none.
  getAlias() { return this.#get("alias", "GET_ALIAS"); }

  // Replaces all tags.
  setTags(tags) { return this.#operate("SET_TAGS", [...tags]); }

  addTags(tags) { return this.#operate("ADD_TAGS", [...tags]); }

  deleteTags(tags) { return this.#operate("DELETE_TAGS", [...tags]); }

  cleanTags() { return this.#operate("CLEAN_TAGS"); }

  // Besides, `tags`.
  getTags() { return this.#get("tags", "GET_TAGS"); }

  // Besides, `isTagSet`.
  async checkTag(tag) {
    const { code, value } = await this.#operate("CHECK_TAG", tag);
    return code === 0 ? { code, isTagSet: value === 1 } : { code };
  }

  // The number that the page shows as a badge.
  setBadge(badge) { return this.#operate("SET_BADGE", badge); }

  // Reports that a notification which the page shows itself was tapped.
  reportTapped(push) { this.#device?.tapped(push); }

  // Report that the page has shown a push with `content.inapp_message`, and that it was tapped there: that counts apart.
  reportInAppShown(push) { this.#device?.reportInApp(push, false); }

  reportInAppTapped(push) { this.#device?.reportInApp(push, true); }

  // MARK: Notifications while the page is closed

  // See `WebPush.status`.
  get notificationStatus() { return this.#webPush?.status ?? "off"; }

  // Asks for permission and subscribes; gives the status. Call it when the person has pressed a button: browsers ask only then.
  async turnOnNotifications() { return this.#isStarted ? this.#webPush.turnOn() : this.notificationStatus; }

  async turnOffNotifications() { return this.#isStarted ? this.#webPush.turnOff() : this.notificationStatus; }

  // MARK: Encryption

  // Makes a new key for contents that only this device reads; gives the code of the server's answer.
  async rotateKey() { return this.#isStarted ? this.#device.rotateKey() : STOPPED; }

  // MARK: What happens

  #makeDevice() {
    const { server, appKey, name, webPush } = this.#options;
    const listener = this.#listener;
    const device = new Device(`${server.replace(/^http/, "ws")}/device`, appKey, new State(name), {
      state: (state, detail) => this.#changed(state, detail),
      registered: (id) => listener.registered(id),
      push: (push) => listener.push(push),
      recalled: (id) => listener.recalled(id),
      unreadable: (push, code) => listener.unreadable(push, code),
    });
    this.#webPush = new WebPush(device, {
      ...webPush, server,
      changed: (status) => listener.notifications(status, this.#webPush.problem),
      shown: (push) => listener.push(push),
      opened: (id) => listener.opened(id),
    });
    return device;
  }

  #changed(state, detail) {
    if (state === "online") this.#endWaits(0);
    if (state !== "connecting") this.#listener.connected(state === "online", detail);
    // The server does not want this device to come back.
    if (["stopped", "replaced"].includes(state)) this.#endWaits(STOPPED);
  }

  #visibility = () => { this.#device.setForeground(document.visibilityState === "visible"); };

  // A browser may keep a page that was left, to show it again on "Back", and its connection would take pushes that nobody sees.
  #pageHide = () => { this.#device.stop(); };

  #pageShow = ({ persisted }) => { if (persisted) this.#device.start(); };

  #endWaits(code) {
    for (const wait of this.#waiting) wait(code);
  }

  async #operate(name, ...values) {
    if (!this.#isStarted) return { code: STOPPED };
    const code = this.#device.isOnline ? 0 : await this.#untilOnline();
    return code === 0 ? this.#device.operate(name, ...values) : { code };
  }

  async #get(field, name) {
    const { code, value } = await this.#operate(name);
    return code === 0 ? { code, [field]: value } : { code };
  }

  // Gives 0 after the next login, or the code of an operation that cannot wait any longer.
  #untilOnline() {
    return new Promise((resolve) => {
      const end = (code) => {
        clearTimeout(timer);
        this.#waiting.delete(end);
        resolve(code);
      };
      const timer = setTimeout(() => end(TIMEOUT), WAIT_MS);
      this.#waiting.add(end);
    });
  }
}
