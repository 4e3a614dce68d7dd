import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { PackedCommand } from './packed-command.ts';
import { until } from './until.ts';

/** An agent that has started `petstore mcp`, with the official client. */
export class Agent implements AsyncDisposable {
  readonly client = new Client({ name: 'test', version: '1' });
  errors = '';

  static async start(
    petstore: PackedCommand,
    options: readonly string[] = [],
    environment: Record<string, string> = {},
  ): Promise<Agent> {
    const agent = new Agent();
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [petstore.bin, 'mcp', ...options],
      env: { ...petstore.environment, ...environment },
      stderr: 'pipe',
    });
    transport.stderr!.on('data', text => {
      agent.errors += text;
    });
    await agent.client.connect(transport);
    return agent;
  }

  /** Calls a tool. Returns its text, and whether it is an error. */
  async call(
    name: string,
    input: object = {},
    signal?: AbortSignal,
  ): Promise<{ text: string; isError: boolean }> {
    const { content, isError } = await this.client.callTool(
      { name, arguments: { ...input } },
      signal && { signal },
    );
    assert.equal(content.length, 1);
    const [part] = content;
    assert.ok(part?.type === 'text');
    return { text: part.text, isError: isError === true };
  }

  /** Calls a tool that succeeds with JSON. */
  async json(name: string, input: object) {
    const { text, isError } = await this.call(name, input);
    assert.equal(isError, false, text);
    return JSON.parse(text);
  }

  /** Calls a tool that fails. Returns the message. */
  async failure(name: string, input: object): Promise<string> {
    const { text, isError } = await this.call(name, input);
    assert.equal(isError, true, text);
    return text;
  }

  /** Waits until the command has written something to standard error. */
  reports(text: RegExp): Promise<void> {
    return until(`the command writes ${text}`, () => text.test(this.errors));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}
