import { SECOND } from '../kit/clock.ts';

/** The interval between heartbeats of a stream, in milliseconds. A client that reads nothing for as long is dropped. */
export const HEARTBEAT = 15 * SECOND;

/** The destination of a stream of server-sent events. */
export interface MessageSink {
  /** Sends whole messages. Returns false when the client reads too slowly: the sender must then wait for `onDrain`. */
  send(messages: readonly Uint8Array[]): boolean;
  /** Ends the stream, and sends the reason to the client. */
  end(reason: string): void;
  /** Sets the function that returns the message of each heartbeat. */
  onBeat(message: () => Uint8Array): void;
  onDrain(listener: () => void): void;
  onClose(listener: () => void): void;
}
