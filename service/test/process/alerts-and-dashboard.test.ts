import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { parse, stringify } from 'yaml';
import { debianEnvironment, debianProgram } from '../../../scripts/servers/debian-programs.ts';
import { readProjectFile } from '../support/deploy-files.ts';
import { type Metrics, scrape } from '../support/metrics.ts';
import { Prometheus } from '../support/prometheus.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { dataDirectory, serve } from '../support/service-process.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { assertNone, valuesOf } from '../support/values.ts';

const deploy = join(import.meta.dirname, '../../../deploy');
const prometheus = join(deploy, 'prometheus');

interface Rule {
  alert: string;
  expr: string;
}
const rules: Rule[] = parse(readFileSync(join(prometheus, 'alerts.yaml'), 'utf8')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
);

interface Panel {
  id: number;
  title: string;
  type: string;
  gridPos: Record<'x' | 'y' | 'w' | 'h', number>;
  targets?: { expr: string }[];
}
const dashboard = JSON.parse(readFileSync(join(deploy, 'grafana/petstore.json'), 'utf8'));
const panels: Panel[] = dashboard.panels;
const panelQueries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const variableQueries: string[] = dashboard.templating.list
  .filter(({ type }: { type: string }) => type === 'query')
  .map(({ query }: { query: { query: string } }) => query.query);

/** Words of PromQL, and of variable queries in Grafana, that appear where a metric name could. */
const WORDS = new Set(
  'and absent sum min max topk rate increase changes histogram_quantile last_over_time min_over_time max_over_time time label_replace label_values'.split(
    ' ',
  ),
);

function metricsIn(query: string): string[] {
  const plainQuery = query
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(by|without|on)\s*\([^)]*\)/g, '')
    .replace(/,\s*\w+\)$/, ')');
  return [...plainQuery.matchAll(/(?<![\w.])[a-z_:][\w:]*/gi)]
    .map(([word]) => word)
    .filter(word => !WORDS.has(word));
}

/** The library chose the names of the metrics of Node.js. */
const OF_NODE = [/^nodejs_\w+_total non-counter metrics should not have "_total" suffix$/];

/** Metrics that Prometheus itself adds for each target. */
const PROMETHEUS_METRICS = ['up'];

/** The metrics of a service, on the embedded store and on PostgreSQL. */
async function shownMetrics(t: TestContext): Promise<Metrics[]> {
  const shown: Metrics[] = [];
  for (const shared of [false, true]) {
    const shop = await startTestApp(t, { shared, environment: { OPS_PORT: '0' }, alone: false });
    await shop.api.get('/pets');
    await exchangeBytes(shop.origin, 'garbage\r\n\r\n');
    await scrape(shop.metricsUrl);
    shown.push(await scrape(shop.metricsUrl));
  }
  return shown;
}

/** Runs promtool. Its faults must be the expected ones. */
function promtool(args: string[], input = '', expectedFaults: RegExp[] = []): string {
  const options = { cwd: prometheus, env: debianEnvironment(), input, encoding: 'utf8' } as const;
  const { stdout, stderr, error } = spawnSync(debianProgram('promtool'), args, options);
  assert.equal(error, undefined);
  const faults = stderr.split('\n').filter(line => line !== '');
  assertNone(faults, fault => !expectedFaults.some(expected => expected.test(fault)));
  return stdout;
}

describe('the files for Prometheus and Grafana', () => {
  it('use only metrics that the service has, in the format that Prometheus reads', async t => {
    const shown = await shownMetrics(t);
    for (const { text } of shown) promtool(['check', 'metrics'], text, OF_NODE);
    const names = new Set([
      ...PROMETHEUS_METRICS,
      ...shown.flatMap(({ samples }) => samples.map(({ name }) => name)),
    ]);
    const queries = [...rules.map(({ expr }) => expr), ...panelQueries, ...variableQueries];
    const used = new Set(queries.flatMap(metricsIn));
    assert.ok(used.size > 20, `${used.size} metrics are used`);
    assertNone([...used], name => !names.has(name));
  });

  for (const [alert, title] of [
    ['PetStoreServerErrors', 'Server errors'],
    ['PetStoreSlow', 'Duration'],
  ] as const)
    it(`count the same requests for the alert ${alert} and for the panel "${title}"`, () => {
      const filtersOf = ({ expr }: { expr: string }) => expr.match(/\b(status|route)[=!]~"[^"]*"/g);
      const expected = filtersOf(rules.find(rule => rule.alert === alert)!);
      const { targets } = panels.find(panel => panel.title === title)!;
      assert.ok(expected);
      for (const target of targets!) assert.deepEqual(filtersOf(target), expected);
    });

  it('show the maximum of the backlogs, because every replica has the figure of all', () => {
    const backlogs = panelQueries.filter(expr =>
      /_(deliveries_pending|delivery_age_seconds|failing_seconds|events_unnumbered)\b/.test(expr),
    );
    assert.equal(backlogs.length, 4);
    assertNone(backlogs, expr => !expr.startsWith('max('));
  });

  it('scrape the pods of Kubernetes with a PodMonitor', () => {
    const monitor = parse(readFileSync(join(prometheus, 'pod-monitor.yaml'), 'utf8'));
    const { metadata, spec } = parse(readFileSync(join(deploy, 'kubernetes/deployment.yaml'), 'utf8')).spec
      .template;
    assert.deepEqual([monitor.apiVersion, monitor.kind], ['monitoring.coreos.com/v1', 'PodMonitor']);
    assert.deepEqual(Object.keys(monitor.spec).toSorted(), ['podMetricsEndpoints', 'selector']);
    assert.deepEqual(monitor.spec.selector, { matchLabels: metadata.labels });
    const [endpoint, ...more] = monitor.spec.podMetricsEndpoints;
    assert.deepEqual(Object.keys(endpoint), ['port', 'path', 'interval']);
    assert.deepEqual(more, []);
    const port = spec.containers[0].ports.find(({ name }: { name: string }) => name === endpoint.port);
    assert.equal(String(port.containerPort), metadata.annotations['prometheus.io/port']);
    assert.equal(endpoint.path, metadata.annotations['prometheus.io/path']);
  });

  it('are accepted by promtool, together with the queries of the dashboard', t => {
    assert.match(promtool(['check', 'config', 'prometheus.yaml']), /SUCCESS/);
    const file = join(dataDirectory(t), 'queries.yaml');
    const recorded = panelQueries.map((expr, i) => ({
      record: `query_${i}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
    const stdout = promtool(['check', 'rules', file]);
    assert.match(stdout, new RegExp(`SUCCESS: ${panelQueries.length} rules found`));
  });

  it('fire each alert at the right time, and not before', () => {
    assert.match(promtool(['test', 'rules', 'alerts.test.yaml']), /SUCCESS/);
    const { tests } = parse(readFileSync(join(prometheus, 'alerts.test.yaml'), 'utf8'));
    assert.deepEqual(valuesOf(tests, 'name'), valuesOf(rules, 'alert'));
  });

  it('have panels with unique IDs and without overlaps', () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    const cells = panels.flatMap(({ title, gridPos: { x, y, w, h } }) => {
      assert.ok(x + w <= 24, title);
      return Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`);
    });
    assert.equal(new Set(cells).size, cells.length);
  });
});

it('a real Prometheus whose job is not named petstore evaluates every alert, notices a replica that stops, and notices when all are gone', async t => {
  const prometheus = await Prometheus.start(t, 'shop');
  const alertNames = async () => (await prometheus.alerts()).map(({ labels }) => labels.alertname);
  const isActive = (name: string) => async () => (await alertNames()).includes(name);
  await until('no metrics are noticed', isActive('PetStoreAbsent'));

  const service = await serve(t, dataDirectory(t), { OPS_PORT: '0' });
  prometheus.scrape([new URL(service.metricsUrl!).host]);
  await until('the replica is scraped', async () => {
    const figures = await prometheus.query('petstore_http_requests_in_flight{job="shop"}');
    return figures.length === 1;
  });
  await until('no alert is active', async () => (await alertNames()).length === 0);
  await until('all rules are evaluated', async () =>
    (await prometheus.rules()).every(({ health }) => health !== 'unknown'),
  );
  const rules = await prometheus.rules();
  const written = parse(readProjectFile('deploy/prometheus/alerts.yaml')).groups[0].rules;
  assert.deepEqual(
    valuesOf(rules, 'name', 'health', 'lastError'),
    written.map(({ alert }: { alert: string }) => [alert, 'ok', undefined]),
  );

  await service.end('SIGTERM');
  await until('the replica is noticed', isActive('PetStoreReplicaDown'));
  const [down] = (await prometheus.alerts()).filter(
    ({ labels }) => labels.alertname === 'PetStoreReplicaDown',
  );
  assert.deepEqual([down!.labels.job, down!.labels.severity], ['shop', 'critical']);
  prometheus.scrape([]);
  await until('the lost target is noticed', async () => {
    const names = await alertNames();
    return names.includes('PetStoreAbsent') && !names.includes('PetStoreReplicaDown');
  });
});
