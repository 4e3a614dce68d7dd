import { SECOND } from '../kit/clock.ts';

/** How often a stream shows that it is alive, in milliseconds. A reader that takes nothing for as long is dropped. */
export const HEARTBEAT = 15 * SECOND;

/** Where a stream of server-sent events goes. */
export interface MessageSink {
  /** Sends whole messages. Returns false when the reader is behind: nothing more is to be sent until it has caught up. */
  send(messages: readonly Uint8Array[]): boolean;
  /** Ends the stream, and sends the reason to the reader. */
  end(reason: string): void;
  /** Calls `message` for what shows now and then that the stream is alive. */
  onBeat(message: () => Uint8Array): void;
  onDrain(listener: () => void): void;
  onClose(listener: () => void): void;
}
