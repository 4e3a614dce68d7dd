/**
 * HTTP/1.1 load generator, in a separate process so that it and the server under test each have a core. It accepts one job at
 * a time over the IPC channel; `harness/load-generator.ts` is its client.
 *
 * It uses raw sockets and reads only the status and the length of a response: a general HTTP client costs more per request than
 * the servers that it would measure.
 */
import net from 'node:net';
import { cpuSeconds } from './harness/process-stats.ts';

export interface LoadJob {
  port: number;
  /** Each connection is kept alive and has one request in flight; nothing is pipelined. */
  connections: number;
  seconds: number;
  /** Complete requests as they are sent, in a cycle. */
  requests: string[];
  /** The status that every response must have. */
  expectedStatus: number;
  /** The process whose CPU time counts for the requests. */
  serverPid: number;
}

export interface LoadResult {
  requests: number;
  requestsPerSecond: number;
  /** User and system time of all threads of the server process, in microseconds per request. */
  serverCpuPerRequest: number;
  /** The share of the time in which the generator handled responses. Near 1 the generator is the bottleneck, not the server. */
  generatorBusy: number;
  /** In microseconds. */
  latency: { median: number; p99: number };
  /** The number of responses by unexpected status. */
  unexpected: Record<string, number>;
}

export type LoadReply = { result: LoadResult } | { error: string };

/** One buffer for all connections: its content is copied at once. */
const readBuffer = Buffer.allocUnsafe(64 * 1024);

/** Counts latencies in buckets of one microsecond; the last bucket also counts all longer ones. */
class Histogram {
  readonly #buckets = new Uint32Array(1_000_000);
  #count = 0;

  record(microseconds: number): void {
    this.#buckets[Math.min(microseconds | 0, this.#buckets.length - 1)]!++;
    this.#count++;
  }

  quantile(share: number): number {
    const rank = Math.ceil(this.#count * share);
    let seen = 0;
    return this.#buckets.findIndex(count => {
      seen += count;
      return seen >= rank;
    });
  }
}

class LoadRun {
  readonly #job: LoadJob;
  readonly #requests: Buffer[];
  readonly #latencies = new Histogram();
  readonly #unexpected: Record<string, number> = {};
  readonly #failed = Promise.withResolvers<never>();
  #next = 0;
  #finished = 0;
  #counting = false;
  #turnStarted = 0;
  #finishedBeforeTurn = 0;
  #idle = 0;

  constructor(job: LoadJob) {
    this.#job = job;
    this.#requests = job.requests.map(request => Buffer.from(request, 'latin1'));
    this.#failed.promise.catch(() => {
      this.#counting = false;
    });
  }

  async run(): Promise<LoadResult> {
    const { connections, seconds, serverPid } = this.#job;
    const sockets = await this.#orFail(
      Promise.all(Array.from({ length: connections }, () => this.#connect())),
    );

    const serverCpu = cpuSeconds(serverPid);
    const started = performance.now();
    this.#counting = true;
    for (const { begin } of sockets) begin();
    this.#turnStarted = performance.now();
    this.#turn();
    await this.#orFail(new Promise(resolve => setTimeout(resolve, seconds * 1000)));
    this.#counting = false;
    const elapsed = (performance.now() - started) / 1000;
    const serverCpuUsed = cpuSeconds(serverPid) - serverCpu;

    // Requests in flight are finished but not counted, so that no server sees a closed connection.
    await this.#orFail(Promise.all(sockets.map(({ ended }) => ended)));
    return {
      requests: this.#finished,
      requestsPerSecond: this.#finished / elapsed,
      serverCpuPerRequest: (serverCpuUsed * 1e6) / this.#finished,
      generatorBusy: 1 - this.#idle / 1000 / elapsed,
      latency: { median: this.#latencies.quantile(0.5), p99: this.#latencies.quantile(0.99) },
      unexpected: this.#unexpected,
    };
  }

  /**
   * Keeps the event loop running instead of sleeping until a response arrives: the write of a server would have to wake the
   * sleeping generator, which on a virtual machine costs the server up to a third of a request, and a slow server more often.
   */
  readonly #turn = (): void => {
    const now = performance.now();
    if (this.#finished === this.#finishedBeforeTurn) this.#idle += now - this.#turnStarted;
    this.#finishedBeforeTurn = this.#finished;
    this.#turnStarted = now;
    if (this.#counting) setImmediate(this.#turn);
  };

  #orFail<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#failed.promise]);
  }

  #connect(): Promise<{ begin: () => void; ended: Promise<void> }> {
    const connected = Promise.withResolvers<{ begin: () => void; ended: Promise<void> }>();
    const ended = Promise.withResolvers<void>();
    let sentAt = 0;
    let received = '';

    const send = () => {
      sentAt = performance.now();
      socket.write(this.#requests[this.#next]!);
      this.#next = (this.#next + 1) % this.#requests.length;
    };
    const receive = (bytes: number) => {
      received += readBuffer.toString('latin1', 0, bytes);
      const length = responseLength(received);
      if (Number.isNaN(length) || received.length > length) {
        this.#failed.reject(new Error(`Not a single response with a Content-Length:\n${received}`));
        return false;
      }
      if (received.length === length) {
        this.#finish(received.slice(9, 12), sentAt);
        received = '';
        if (this.#counting) send();
        else socket.end();
      }
      return true;
    };

    const socket = net.connect({
      host: '127.0.0.1',
      port: this.#job.port,
      noDelay: true,
      onread: { buffer: readBuffer, callback: receive },
    });
    socket.on('connect', () => connected.resolve({ begin: send, ended: ended.promise }));
    socket.on('error', error => this.#failed.reject(error));
    socket.on('close', () => {
      if (this.#counting) this.#failed.reject(new Error('The server closed a connection under load'));
      ended.resolve();
    });
    return connected.promise;
  }

  #finish(status: string, sentAt: number): void {
    if (!this.#counting) return;
    if (Number(status) !== this.#job.expectedStatus) {
      this.#unexpected[status] = (this.#unexpected[status] ?? 0) + 1;
    }
    this.#latencies.record((performance.now() - sentAt) * 1000);
    this.#finished++;
  }
}

/** Returns the length of head and body in bytes; infinite while the head is incomplete, NaN without a Content-Length. */
function responseLength(received: string): number {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return Number.POSITIVE_INFINITY;
  const contentLength = /\r\ncontent-length: *(\d+)/i.exec(received);
  return contentLength && contentLength.index < headEnd ? headEnd + 4 + Number(contentLength[1]) : Number.NaN;
}

process.on('message', async (job: LoadJob) => {
  let reply: LoadReply;
  try {
    reply = { result: await new LoadRun(job).run() };
  } catch (error) {
    reply = { error: error instanceof Error ? error.message : String(error) };
  }
  process.send?.(reply);
});
