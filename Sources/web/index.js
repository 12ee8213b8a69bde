// What a page imports.

export { Borealis } from "./borealis.js";
export { Device, State } from "./device.js";
export { Keys } from "./encryption.js";
export { WebPush } from "./webpush.js";
