import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { stringify } from 'yaml';
import { debianEnvironment, debianProgram } from '../../../scripts/servers/debian-programs.ts';
import { isOk } from '../../../scripts/servers/is-ok.ts';
import { startOnPort } from '../../../scripts/servers/ports.ts';
import { ServerProcess } from '../../../scripts/servers/server-process.ts';
import { root } from './deploy-files.ts';

interface Alert {
  labels: Record<string, string>;
  state: 'pending' | 'firing';
}

interface RuleState {
  name: string;
  health: string;
  lastError?: string;
}

/** A Prometheus with the alerts of `deploy/prometheus`. It never outlives this process. */
export class Prometheus {
  readonly #server = new ServerProcess('prometheus');
  readonly #directory = this.#server.directory;
  readonly #targets = join(this.#directory, 'targets.json');
  #url = '';

  /** Starts a Prometheus that scrapes each second, in a job of this name, and stops it when the test ends. */
  static async start(t: TestContext, job: string): Promise<Prometheus> {
    const prometheus = new Prometheus();
    t.after(() => prometheus.#server.close());
    await prometheus.#start(job);
    return prometheus;
  }

  scrape(addresses: readonly string[]): void {
    writeFileSync(this.#targets, JSON.stringify([{ targets: addresses }]));
  }

  async query(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]> {
    return (await this.#get(`query?query=${encodeURIComponent(expression)}`)).result;
  }

  /** The alerts whose expression is true. */
  async alerts(): Promise<Alert[]> {
    return (await this.#get('alerts')).alerts;
  }

  async rules(): Promise<RuleState[]> {
    const { groups } = await this.#get('rules');
    return groups.flatMap(({ rules }: { rules: RuleState[] }) => rules);
  }

  // biome-ignore lint/suspicious/noExplicitAny: each path has another shape
  async #get(path: string): Promise<any> {
    const response = await fetch(`${this.#url}/api/v1/${path}`);
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const { status, data, error } = (await response.json()) as any;
    if (status !== 'success') throw new Error(`${path}: ${error}`);
    return data;
  }

  async #start(job: string): Promise<void> {
    copyFileSync(join(root, 'deploy/prometheus/alerts.yaml'), join(this.#directory, 'alerts.yaml'));
    this.scrape([]);
    const config = {
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: ['alerts.yaml'],
      scrape_configs: [
        { job_name: job, file_sd_configs: [{ files: [this.#targets], refresh_interval: '1s' }] },
      ],
    };
    const file = join(this.#directory, 'prometheus.yaml');
    writeFileSync(file, stringify(config));
    await startOnPort(undefined, async port => {
      this.#url = `http://127.0.0.1:${port}`;
      const args = [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(this.#directory, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ];
      this.#server.start(debianProgram('prometheus'), args, { env: debianEnvironment() });
      await this.#server.untilReady('Prometheus', () => isOk(`${this.#url}/-/ready`));
    });
  }
}
