/** Codes of results; 0 is success. The server's documentation lists them (Docs/protocol.md). */
export type ResultCode = number;

export interface Result {
  code: ResultCode;
}

/** What a push carries, as the device gets it. */
export interface Content {
  notification?: Record<string, unknown>;
  message?: Record<string, unknown>;
  /** Whether the page is to show the notification in its own content as well. */
  inapp_message?: true;
  /** The ID of the push that this one replaces. */
  override?: string;
  [member: string]: unknown;
}

export interface Push {
  id: number;
  content: Content;
  /** When it came, in milliseconds since 1970. */
  at: number;
  /** Whether it waited at the server for the device. */
  isOffline: boolean;
  tapped: boolean;
  /** The ID of the key that it was encrypted with, if it was. */
  key?: string;
}

/**
 * - `on`: subscribed;
 * - `off`: `turnOnNotifications` can be called;
 * - `denied`: the person refuses notifications, and only the browser's settings change that;
 * - `insecure`: the page has not come over HTTPS;
 * - `unsupported`: the browser has no Web Push;
 * - `nokey`: the app has no key for Web Push.
 */
export type NotificationStatus = "on" | "off" | "denied" | "insecure" | "unsupported" | "nokey";

export interface WebPushOptions {
  /** The app's key for Web Push, as the console shows it; empty if there is none. */
  publicKey?: string;
  /** The path of the script of the site's service worker. */
  worker?: string;
  /** The part of the site that the worker is for; `/` by default. */
  scope?: string;
  /** Of notifications that have no title. */
  title?: string;
  /** Of notifications that have no icon. */
  icon?: string;
  /** What a tap opens, unless the push says something else; `/` by default. */
  page?: string;
}

export interface BorealisOptions extends WebPushOptions {
  /** The address of the server, such as `https://push.example.com`. */
  server: string;
  /** The app's key, 24 hexadecimal digits. */
  appKey: string;
  /** Under which the page's data are stored in the browser. */
  name?: string;
}

export interface BorealisListener {
  /** The device was registered, and has this registration ID. */
  registered?(id: string): void;
  /** The session began, or ended. `detail` says in how many seconds the next attempt is, or why there is none. */
  connected?(isConnected: boolean, detail?: { seconds: number; code: number } | string): void;
  /** A push arrived, each once; a notification that the worker has shown comes separately from its message. */
  push?(push: Push): void;
  /** The app server has recalled a push, or replaced it. */
  recalled?(id: number): void;
  /** A notification that the service worker had shown was tapped. */
  opened?(id: number): void;
  /** The status of notifications may have changed; `problem` is what went wrong last, in the browser's words. */
  notifications?(status: NotificationStatus, problem: string): void;
  /** A push whose content this device cannot decrypt. */
  unreadable?(push: Push, code: ResultCode): void;
}

/** A page as a device of Borealis. */
export class Borealis {
  /** Opens no connection and neither stores nor reads anything before `start`. */
  constructor(options: BorealisOptions, listener?: BorealisListener);
  /** Registers at the first start and stays connected, if the person has agreed to your privacy policy. */
  start(options?: { consent?: boolean }): Promise<void>;
  /** Disconnects until `start`. */
  stop(): void;
  /** Ends Web Push and the session and deletes all that is stored in the browser. */
  forget(): Promise<void>;
  /** 19 hexadecimal digits; null before the first registration. */
  readonly registrationId: string | null;
  readonly isConnected: boolean;
  setAlias(alias: string): Promise<Result>;
  deleteAlias(): Promise<Result>;
  getAlias(): Promise<Result & { alias?: string }>;
  /** Replaces all tags. */
  setTags(tags: Iterable<string>): Promise<Result>;
  addTags(tags: Iterable<string>): Promise<Result>;
  deleteTags(tags: Iterable<string>): Promise<Result>;
  cleanTags(): Promise<Result>;
  getTags(): Promise<Result & { tags?: string[] }>;
  checkTag(tag: string): Promise<Result & { isTagSet?: boolean }>;
  setBadge(badge: number): Promise<Result>;
  /** Reports that a notification which the page shows itself was tapped. */
  reportTapped(push: Push): void;
  /** Reports that the page has shown a push that has `content.inapp_message`; it counts apart from the notification. */
  reportInAppShown(push: Push): void;
  /** Reports that it was tapped in the page. */
  reportInAppTapped(push: Push): void;
  readonly notificationStatus: NotificationStatus;
  /** Asks for permission and subscribes. Call it when the person has pressed a button. */
  turnOnNotifications(): Promise<NotificationStatus>;
  turnOffNotifications(): Promise<NotificationStatus>;
  /** Makes a new key for contents that only this device reads. */
  rotateKey(): Promise<ResultCode>;
}

/** What outlives the page, in `localStorage`. */
export class State {
  constructor(name: string);
  readonly exists: boolean;
  values: { registrationID?: string; pushes: Push[]; [name: string]: unknown };
  begin(platform: number): void;
  reload(): void;
  save(): void;
  forget(): void;
}

/** The connection alone, for pages that need more than `Borealis` gives. */
export class Device {
  constructor(address: string, appKey: string, state: State, listener?: Record<string, (...values: any[]) => void>);
  readonly state: State;
  readonly isOnline: boolean;
  start(): void;
  stop(): void;
  operate(name: string, ...values: unknown[]): Promise<{ code: ResultCode; value?: unknown }>;
  tapped(push: Push): void;
  reportInApp(push: Push, isTapped: boolean): void;
  setForeground(isForeground: boolean): Promise<{ code: ResultCode }>;
  setToken(channel: string, token: string): Promise<ResultCode>;
  rotateKey(): Promise<ResultCode>;
}

/** Web Push for a page with a `Device`. */
export class WebPush {
  constructor(device: Device, options: WebPushOptions & {
    server: string;
    changed?(status: NotificationStatus): void;
    shown?(push: Push): void;
    opened?(id: number): void;
  });
  readonly status: NotificationStatus;
  readonly problem: string;
  start(): Promise<NotificationStatus>;
  turnOn(): Promise<NotificationStatus>;
  turnOff(): Promise<NotificationStatus>;
}

/** The keys of a device for contents that only it reads. */
export class Keys {
  constructor(state: State);
  static readonly isPossible: boolean;
  readonly id: string | undefined;
}
