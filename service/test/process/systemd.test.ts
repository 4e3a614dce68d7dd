import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { debianEnvironment, debianProgram } from '../../../scripts/servers/debian-programs.ts';
import { readConfig } from '../../src/config.ts';
import { DRAIN_SECONDS, readProjectFile, root } from '../support/deploy-files.ts';
import { dataDirectory } from '../support/service-process.ts';

const unit = readProjectFile('deploy/systemd/petstore.service');
const dropIn = readProjectFile('deploy/systemd/postgresql.conf');

/** The highest exposure that systemd may report, in tenths: 0 is closed, 100 is open. */
const MAX_EXPOSURE = 14;

const NODE = 'node_modules/.bin/node';

/** The values of a directive, in order. */
function values(text: string, name: string): string[] {
  return text
    .split('\n')
    .filter(line => line.startsWith(`${name}=`))
    .map(line => line.slice(name.length + 1));
}

/** Runs systemd-analyze on a system with the project in /opt/petstore and these files for systemd. */
function analyze(t: TestContext, args: string[], files: Record<string, string>) {
  const system = dataDirectory(t);
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(system, path)), { recursive: true });
    writeFileSync(join(system, path), text, { mode });
  };
  // systemd checks that the program is executable; in this system every link resolves.
  assert.ok(existsSync(join(root, NODE)));
  write(join('opt/petstore', NODE), '', 0o755);
  for (const [name, text] of Object.entries(files)) write(`etc/systemd/system/${name}`, text);
  const { status, stdout, stderr } = spawnSync(
    debianProgram('systemd-analyze'),
    [...args, `--root=${system}`, 'petstore.service'],
    { encoding: 'utf8', env: debianEnvironment() },
  );
  return { status, printed: stdout + stderr };
}

const verify = (t: TestContext, files: Record<string, string>) =>
  analyze(t, ['verify', '--man=no', '--recursive-errors=no'], files);

describe('the unit for systemd', () => {
  const withDropIn = { 'petstore.service': unit, 'petstore.service.d/postgresql.conf': dropIn };

  it('is read by systemd without a warning, alone and with the drop-in', t => {
    assert.deepEqual(verify(t, { 'petstore.service': unit }), { status: 0, printed: '' });
    assert.deepEqual(verify(t, withDropIn), { status: 0, printed: '' });
  });

  it('would fail with a typing error, in the unit or the drop-in', t => {
    const misspelled = verify(t, { 'petstore.service': unit.replace('RestartSec=', 'RestartSecs=') });
    assert.match(misspelled.printed, /Unknown key 'RestartSecs'/);
    const files = { ...withDropIn, 'petstore.service.d/postgresql.conf': dropIn.replace('LoadC', 'LoadK') };
    assert.match(verify(t, files).printed, /Unknown key 'LoadKredential'/);
  });

  it('gives the service few privileges on the system', t => {
    const args = ['security', '--offline=true', `--threshold=${MAX_EXPOSURE}`];
    const { status, printed } = analyze(t, args, withDropIn);
    assert.equal(status, 0, printed);
    const open = analyze(t, args, { 'petstore.service': unit.replace('ProtectSystem=strict', '') });
    assert.notEqual(open.status, 0, open.printed);
  });

  it('runs a program of the project, with settings that the service knows', () => {
    assert.deepEqual(values(unit, 'WorkingDirectory'), ['/opt/petstore']);
    assert.deepEqual(values(unit, 'ExecStart'), [`/opt/petstore/${NODE} service/src/main.ts serve`]);
    assert.ok(existsSync(join(root, 'service/src/main.ts')));
    const set = [...values(unit, 'Environment'), ...values(dropIn, 'Environment')].map(pair =>
      pair.split('='),
    );
    const isFile = ([name]: string[]) => name!.endsWith('_FILE');
    readConfig(Object.fromEntries(set.filter(pair => !isFile(pair))));
    const credentials = values(dropIn, 'LoadCredential').map(line => `%d/${line.split(':')[0]}`);
    assert.deepEqual(
      set.filter(isFile).map(([, path]) => path),
      credentials,
    );
  });

  it('lets the service compile code and use addresses of IPv4 and IPv6', () => {
    assert.deepEqual(values(unit, 'MemoryDenyWriteExecute'), []);
    assert.deepEqual(values(unit, 'RestrictAddressFamilies'), ['AF_INET AF_INET6 AF_UNIX AF_NETLINK']);
  });

  it('needs no file with settings', () => {
    assert.deepEqual(values(unit, 'EnvironmentFile'), ['-/etc/petstore/petstore.env']);
    assert.match(
      readProjectFile('docs/operations.md'),
      /lines `NAME=value` in `\/etc\/petstore\/petstore\.env`/,
    );
  });

  it('starts the service at boot, once it is enabled as documented', () => {
    assert.match(readProjectFile('docs/operations.md'), /systemctl enable --now petstore\n/);
    assert.deepEqual(values(unit, 'WantedBy'), ['multi-user.target']);
  });

  it('starts the service when the network is up and the clock is set', () => {
    assert.deepEqual(values(unit, 'Wants'), ['network-online.target']);
    assert.deepEqual(values(unit, 'After'), ['network-online.target time-sync.target']);
  });

  it('starts the service again two seconds after it has failed, however often', () => {
    const restart = ['Restart', 'RestartSec', 'StartLimitIntervalSec'].flatMap(name => values(unit, name));
    assert.deepEqual(restart, ['on-failure', '2s', '0']);
  });

  it('gives the service time to stop, and enough open files for its connections', () => {
    const { shutdownSeconds, connections } = readConfig({});
    const [stop] = values(unit, 'TimeoutStopSec');
    assert.ok(Number.parseInt(stop!, 10) > DRAIN_SECONDS + shutdownSeconds);
    assert.ok(Number(values(unit, 'LimitNOFILE')[0]) >= 2 * connections);
  });
});
