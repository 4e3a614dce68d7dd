import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parse } from 'yaml';
import { readProjectFile } from '../support/deploy-files.ts';
import { Prometheus } from '../support/prometheus.ts';
import { dataDirectory, serve } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

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
