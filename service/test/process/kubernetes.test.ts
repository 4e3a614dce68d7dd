import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { BlockList, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { parseEnv } from 'node:util';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Service } from 'kubernetes-models/v1/Service';
import { parse } from 'yaml';
import { readConfig } from '../../src/config.ts';
import { DRAIN_SECONDS, readProjectFile, root } from '../support/deploy-files.ts';
import { valuesOf } from '../support/values.ts';

const directory = 'deploy/kubernetes';
/** Kubernetes reads YAML 1.1, in which 0440 is an octal number. */
const read = (file: string) => parse(readProjectFile(join(directory, file)), { version: '1.1' });

const kustomization = read('kustomization.yaml');
const settings = parseEnv(readProjectFile(join(directory, 'settings.env')));
const files = ['deployment.yaml', 'service.yaml', 'disruption-budget.yaml', 'network-policy.yaml'];
const manifests = files.map(read);
const [deployment, service, budget, policy] = manifests;
const pod = deployment.spec.template.spec;
const [container] = pod.containers;

const models = { Deployment, Service, PodDisruptionBudget, NetworkPolicy };
interface Manifest {
  apiVersion: string;
  kind: keyof typeof models;
}

/** The errors of the manifest according to Kubernetes' schema, which allows unknown fields: see `typeErrors`. */
function violations(manifest: Manifest): string {
  try {
    new models[manifest.kind](manifest as never).validate();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

/** The compiler's errors for the manifests as literals of Kubernetes' types, such as unknown fields. */
function typeErrors(t: TestContext, manifests: readonly Manifest[]): string {
  // The directory in which the compiler finds the package.
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, 'manifests-'));
  t.after(() => rmSync(scratch, { recursive: true }));
  const source = manifests.map(
    ({ apiVersion, kind }, i) =>
      `import type { I${kind} as Kind${i} } from 'kubernetes-models/${apiVersion}/${kind}';\n` +
      `export const manifest${i}: Kind${i} = ${JSON.stringify(manifests[i], null, 2)};\n`,
  );
  const file = join(scratch, 'manifests.ts');
  writeFileSync(file, source.join('\n'));
  const { stdout, stderr, error } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/typescript/bin/tsc'),
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      file,
    ],
    { encoding: 'utf8', cwd: scratch },
  );
  if (error) throw error;
  return stdout + stderr;
}

describe('the manifests for Kubernetes', () => {
  it('are all files of the directory, and all entries of the kustomization', () => {
    const there = readdirSync(join(root, directory)).filter(file => file.endsWith('.yaml'));
    assert.deepEqual(there.toSorted(), [...files, 'kustomization.yaml'].toSorted());
    assert.deepEqual(kustomization.resources, files);
    assert.deepEqual(kustomization.configMapGenerator, [
      { name: 'petstore-settings', envs: ['settings.env'] },
    ]);
    assert.equal(container.envFrom[0].configMapRef.name, 'petstore-settings');
    assert.equal(container.image, kustomization.images[0].name);
  });

  it('match the schemas of Kubernetes', () => {
    assert.deepEqual(manifests.map(violations), ['', '', '', '']);
    const wrong = structuredClone(deployment);
    wrong.spec.template.spec.containers[0].resources.limits.memory = '512Mb';
    assert.match(violations(wrong), /limits\/memory must match format "quantity"/);
  });

  it('have only fields that Kubernetes knows', t => {
    assert.equal(typeErrors(t, manifests), '');
    const wrong = structuredClone(deployment);
    wrong.spec.template.spec.containers[0].readinessProbe.periodSecond = 2;
    assert.match(typeErrors(t, [wrong]), /'"periodSecond"' does not exist in type 'IProbe'/);
  });

  it('set only settings that the service accepts, and none that Kubernetes adds', () => {
    assert.equal(readConfig(settings).opsHost, '0.0.0.0');
    // Variables that Kubernetes adds to a container for a Service of that name.
    assert.throws(() => readConfig({ PETSTORE_SERVICE_HOST: '10.0.0.1' }));
    assert.equal(service.metadata.name, 'petstore');
    assert.equal(pod.enableServiceLinks, false);
  });

  it('mount each file that a setting names', () => {
    const { items, defaultMode } = pod.volumes.find(
      (volume: { name: string }) => volume.name === 'secrets',
    ).secret;
    const { mountPath } = container.volumeMounts.find((mount: { name: string }) => mount.name === 'secrets');
    const mounted = items.map(({ path }: { path: string }) => `${mountPath}/${path}`);
    assert.deepEqual(valuesOf(container.env, 'value'), mounted);
    // For the group of the pod, which the process belongs to.
    assert.equal(defaultMode, 0o440);
    assert.equal(pod.securityContext.fsGroup, pod.securityContext.runAsGroup);
  });

  it('let a replica write where the service writes', () => {
    const set = /^ENV (.+)$/m.exec(readProjectFile('Dockerfile'))![1]!;
    const { PETSTORE_DATA: data, NODE_COMPILE_CACHE: cache } = parseEnv(set.replaceAll(' ', '\n'));
    const writable = container.volumeMounts
      .filter((mount: { readOnly?: boolean }) => !mount.readOnly)
      .map((mount: { mountPath: string }) => mount.mountPath);
    assert.equal(container.securityContext.readOnlyRootFilesystem, true);
    for (const path of [data!, cache!]) {
      assert.ok(
        writable.some((mount: string) => path === mount || path.startsWith(`${mount}/`)),
        path,
      );
    }
    const tmp = pod.volumes.find((volume: { name: string }) => volume.name === 'tmp');
    // The compile cache takes 3 MB. Kubernetes ends a pod that exceeds the limit.
    assert.ok(Number(/^(\d+)Mi$/.exec(tmp.emptyDir.sizeLimit)![1]) >= 16);
  });

  it('have two replicas, both of which serve until the first of the next version is ready', () => {
    const { replicas, strategy } = deployment.spec;
    // Kubernetes rejects a deployment in which both numbers are 0.
    assert.deepEqual([replicas, strategy.rollingUpdate], [2, { maxSurge: 1, maxUnavailable: 0 }]);
  });

  it('give a replica only the rights that it needs', () => {
    assert.equal(pod.automountServiceAccountToken, false);
    const { fsGroup: _, runAsGroup, ...rights } = pod.securityContext;
    // Kubernetes can compare the user with root only by its number. The image states the name.
    const user = { runAsNonRoot: true, runAsUser: runAsGroup };
    assert.deepEqual(rights, { ...user, seccompProfile: { type: 'RuntimeDefault' } });
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    assert.deepEqual(policy.spec.policyTypes, ['Ingress', 'Egress']);
  });

  it('let a node be drained, one replica at a time', () => {
    const { maxUnavailable, unhealthyPodEvictionPolicy } = budget.spec;
    assert.deepEqual([maxUnavailable, unhealthyPodEvictionPolicy], [1, 'AlwaysAllow']);
    // The pod of a drained node can run next to the other.
    assert.equal(pod.topologySpreadConstraints[0].whenUnsatisfiable, 'ScheduleAnyway');
  });

  it('limit the memory of a replica, and not its processor', () => {
    assert.deepEqual(Object.keys(container.resources.limits), ['memory']);
  });

  it('let webhooks reach public addresses only', () => {
    const excluded = new BlockList();
    for (const { ipBlock } of policy.spec.egress.at(-1).to)
      for (const range of ipBlock.except) {
        const [network, bits] = range.split('/');
        excluded.addSubnet(network, Number(bits), isIPv6(network) ? 'ipv6' : 'ipv4');
      }
    const isReached = (address: string) => !excluded.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
    const reachable = ['203.0.114.1', '2606:4700::1'];
    const others =
      '0.0.0.1 10.0.0.1 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 192.168.0.1 ::1 fd00::1 fe80::1';
    assert.deepEqual([...others.split(' '), ...reachable].filter(isReached), reachable);
  });

  it('give a replica five minutes to migrate the schema', () => {
    const { periodSeconds, failureThreshold } = container.startupProbe;
    assert.ok(periodSeconds * failureThreshold >= 300);
  });

  it('give a replica time to stop, and the proxies time to notice', () => {
    const { shutdownSeconds } = readConfig(settings);
    assert.ok(pod.terminationGracePeriodSeconds > DRAIN_SECONDS + shutdownSeconds);
    const { periodSeconds, failureThreshold } = container.readinessProbe;
    assert.ok(periodSeconds * failureThreshold < DRAIN_SECONDS);
  });

  it('select the pods of the deployment, which name the ports of the settings', () => {
    const { labels } = deployment.spec.template.metadata;
    const [spread] = pod.topologySpreadConstraints;
    assert.equal(spread.topologyKey, 'kubernetes.io/hostname');
    const selectors = [
      deployment.spec.selector,
      spread.labelSelector,
      budget.spec.selector,
      policy.spec.podSelector,
    ];
    for (const { matchLabels } of selectors) assert.deepEqual(matchLabels, labels);
    assert.deepEqual(service.spec.selector, labels);
    const { opsPort, port } = readConfig(settings);
    assert.deepEqual(container.ports, [
      { name: 'http', containerPort: port },
      { name: 'metrics', containerPort: opsPort },
    ]);
  });
});
