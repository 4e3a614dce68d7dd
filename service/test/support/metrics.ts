import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { http } from '../../src/kit/node-http.ts';

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** The metrics of a service at one moment. */
export class Metrics {
  readonly text: string;
  readonly samples: Sample[];

  constructor(text: string) {
    this.text = text;
    this.samples = parse(text);
  }

  /** The sum over all series of this name that have these labels; 0 when there is none. */
  total(name: string, labels: Record<string, string> = {}): number {
    return this.samples
      .filter(sample => sample.name === name && isPart(labels, sample.labels))
      .reduce((sum, { value }) => sum + value, 0);
  }
}

export async function scrape(url: string | undefined): Promise<Metrics> {
  const { status, headers, text } = await sendRequest('GET', url);
  assert.equal(status, 200, text);
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  return new Metrics(text);
}

/** Sends a request on a connection of its own. */
export async function sendRequest(method: string, url: string | undefined) {
  assert.ok(url, 'the service has no metrics');
  const request = http.request(url, { method, agent: false }).end();
  const closed = new Promise(resolve => request.once('close', resolve));
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, text: await textOf(response) };
  } finally {
    // Tests check that no socket stays open.
    await closed;
  }
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/y;
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);

/** Parses the text format 0.0.4. Fails on everything that a Prometheus server would reject or misread. */
function parse(text: string): Sample[] {
  assert.ok(text.endsWith('\n'), 'the last line has no line break');
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (line.startsWith('# TYPE ')) {
      const [, name, type] = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary)$`).exec(line)!;
      assert.ok(!types.has(name!), `${name} appears twice`);
      types.set(name!, type!);
    } else if (line.startsWith('#')) {
      assert.match(line, new RegExp(`^# HELP ${NAME} .+$`));
    } else {
      samples.push(sampleOf(line));
    }
  }
  const series = samples.map(({ name, labels }) => `${name}${JSON.stringify(Object.entries(labels).sort())}`);
  assert.deepEqual(
    series.filter((one, i) => series.indexOf(one) !== i),
    [],
    'series that appear twice',
  );
  for (const sample of samples) assertTyped(sample, types);
  for (const [name, type] of types) if (type === 'histogram') assertCumulative(name, samples);
  return samples;
}

function sampleOf(line: string): Sample {
  const match = SAMPLE.exec(line);
  assert.ok(match, `not a sample: ${line}`);
  const [, name, labelText = '', valueText] = match;
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < labelText.length) {
    const label = LABEL.exec(labelText);
    assert.ok(label, `labels of ${line}`);
    labels[label[1]!] = label[2]!;
  }
  const value = /^nan$/i.test(valueText!) ? Number.NaN : Number(valueText!.replace('Inf', 'Infinity'));
  assert.ok(/^nan$/i.test(valueText!) || !Number.isNaN(value), `value of ${line}`);
  return { name: name!, labels, value };
}

function assertTyped({ name, labels }: Sample, types: Map<string, string>): void {
  const family = name.replace(/_(bucket|sum|count)$/, '');
  const isOfHistogram = family !== name && types.get(family) === 'histogram';
  assert.ok(isOfHistogram || types.has(name), `${name} has no type`);
  if (name.endsWith('_bucket') && isOfHistogram) assert.ok('le' in labels, `${name} has no le`);
}

/** Buckets never decrease, and the last one contains the total. */
function assertCumulative(histogram: string, samples: Sample[]): void {
  const latest = new Map<string, number>();
  for (const { name, labels, value } of samples) {
    if (name !== `${histogram}_bucket` && name !== `${histogram}_count`) continue;
    const { le, ...rest } = labels;
    const key = JSON.stringify(rest);
    const before = latest.get(key) ?? 0;
    assert.ok(value >= before, `${name}${key} decreases at ${le}`);
    if (le === undefined) assert.equal(value, before, `${name}${key} differs from the last bucket`);
    latest.set(key, value);
  }
}

function isPart(part: Record<string, string>, whole: Record<string, string>): boolean {
  return Object.entries(part).every(([name, value]) => whole[name] === value);
}
