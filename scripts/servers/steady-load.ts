import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';

/** The number of reads for each write. */
const READS_PER_WRITE = 2;

/** After each request, in milliseconds: the processor is for the replicas that start, and each instant still has requests. */
const PAUSE = 30;

export interface LoadFigures {
  reads: number;
  writes: number;
  /** The error of each failed request: an unexpected status or a connection error. */
  failures: string[];
}

/** Clients that send one request after another, each on its own persistent connection. They do not retry. */
export class SteadyLoad {
  readonly figures: LoadFigures = { reads: 0, writes: 0, failures: [] };
  readonly #url: string;
  readonly #key: string;
  readonly #name: string;
  readonly #clients: Promise<unknown>;
  #isStopping = false;

  /** Starts the clients. `name` makes the names of the created categories unique. */
  constructor(url: string, key: string, name: string, clients: number) {
    this.#url = url;
    this.#key = key;
    this.#name = name;
    this.#clients = Promise.all(Array.from({ length: clients }, () => this.#client()));
  }

  /** Stops the clients after their requests in flight. */
  async stop(): Promise<LoadFigures> {
    this.#isStopping = true;
    await this.#clients;
    return this.figures;
  }

  async #client(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = 0; !this.#isStopping; turn++) {
      if (turn % (READS_PER_WRITE + 1) === 0) {
        const name = `${this.#name} ${++this.figures.writes}`;
        await this.#send(agent, 'POST', '/categories', 201, JSON.stringify({ name }));
      } else {
        this.figures.reads++;
        await this.#send(agent, 'GET', '/categories?limit=5', 200);
      }
      await setTimeout(PAUSE);
    }
    agent.destroy();
  }

  async #send(agent: Agent, method: string, path: string, expected: number, body?: string): Promise<void> {
    const content = body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { 'x-api-key': this.#key, ...content };
    try {
      const sent = request(`${this.#url}${path}`, { agent, method, headers }).end(body);
      // A connection that breaks during the response also fails the response.
      sent.on('error', () => {});
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const received = await text(response);
      if (response.statusCode !== expected) throw new Error(`${response.statusCode} ${received}`);
    } catch (error) {
      this.figures.failures.push(`${method} ${path}: ${(error as Error).message}`);
    }
  }
}
