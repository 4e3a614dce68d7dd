import assert from 'node:assert/strict';
import { degradedReasons } from '../../src/problems.ts';
import { fetchBytes } from './fetch-bytes.ts';

interface Sample {
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
  assert.ok(url, 'the service has no metrics');
  const { status, headers, text } = await fetchBytes(url);
  assert.equal(status, 200, text);
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  return new Metrics(text);
}

/** The reasons why a service is degraded, as its metrics show them: each reason has a series all the time. */
export async function degradedOf(metricsUrl: string | undefined): Promise<string[]> {
  const { samples } = await scrape(metricsUrl);
  const series = samples.filter(({ name }) => name === 'petstore_degraded');
  assert.deepEqual(
    series.map(({ labels }) => labels.reason),
    [...degradedReasons],
  );
  return series.filter(({ value }) => value === 1).map(({ labels }) => labels.reason!);
}

const SAMPLE = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/gm;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text format 0.0.4. The test of the format checks the text itself, with promtool. */
function parse(text: string): Sample[] {
  return Array.from(text.matchAll(SAMPLE), ([, name, labels = '', value]) => ({
    name: name!,
    labels: Object.fromEntries(Array.from(labels.matchAll(LABEL), ([, label, text]) => [label!, text!])),
    value: Number(value!.replace('Inf', 'Infinity')),
  }));
}

function isPart(part: Record<string, string>, whole: Record<string, string>): boolean {
  return Object.entries(part).every(([name, value]) => whole[name] === value);
}
