/**
 * Loaded into the service by `--import`. Measures how long its event loop was blocked. A timer that is due every millisecond
 * runs in each turn of the loop, so the longest time between two of its runs is at most 1 ms more than the longest turn. Unlike
 * a chain of `setImmediate`, it uses no CPU between two requests; unlike `monitorEventLoopDelay`, it does not lose the turn in
 * which it is reset.
 */
import { Server } from 'node:net';

let lastRun = performance.now();
let longest = 0;

function note(): void {
  const now = performance.now();
  longest = Math.max(longest, now - lastRun);
  lastRun = now;
}

setInterval(note, 1).unref();

/** Modules that are loaded before the service listens block no client. */
const listen = Server.prototype.listen;
Server.prototype.listen = function (this: Server, ...args: unknown[]) {
  lastRun = performance.now();
  longest = 0;
  return Reflect.apply(listen, this, args);
} as typeof listen;

/** Replies to each message with the longest turn since the message before, in milliseconds. */
process.on('message', () => {
  note();
  process.send?.(longest);
  longest = 0;
});
process.channel?.unref();
