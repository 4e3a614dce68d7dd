import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { BUILD_COMMAND } from '../../src/console/console-files.ts';
import { pageHeaders } from '../../src/http/page.ts';
import { composeFile, readProjectFile, root } from '../support/deploy-files.ts';
import { DocumentedCommands } from '../support/documented-commands.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { dataDirectory, run, serve } from '../support/service-process.ts';

/** Copies what the service runs, without the console that a start may have built. Returns the path of its program. */
function copyWithoutConsole(directory: string): string {
  for (const name of [
    'openapi.yaml',
    'CHANGELOG.md',
    'service/package.json',
    'service/src',
    'service/migrations',
    'docs/api-guide.md',
    'docs/operations.md',
    'docs/scaling.md',
    'docs/seals.md',
    'sdk/README.md',
    'cli/README.md',
  ])
    cpSync(join(root, name), join(directory, name), { recursive: true });
  mkdirSync(join(directory, 'web'));
  for (const name of ['node_modules', 'web/portal', 'web/package.json'])
    symlinkSync(join(root, name), join(directory, name));
  return join(directory, 'service/src/main.ts');
}

it('a service whose console is not built prints no link to it, and its page names the command that builds it until it is built', async t => {
  const directory = dataDirectory(t);
  const main = copyWithoutConsole(directory);
  const data = dataDirectory(t);
  const service = await serve(t, data, {}, main);
  for (const path of ['/console', '/console/', '/console/animals/7?q=rex']) {
    const { status, headers, text } = await fetchBytes(service.url + path);
    assert.deepEqual(
      [status, headers['content-type'], headers['cache-control']],
      [503, 'text/html; charset=utf-8', 'no-store'],
    );
    assert.ok(text.includes(`<code>${BUILD_COMMAND}</code>`));
    assert.match(text, /color-scheme: light dark/);
    assert.equal(headers['x-ratelimit-limit'], '60');
    const [, style = ''] = /<style>(.*)<\/style>/s.exec(text) ?? [];
    assert.equal(
      headers['content-security-policy'],
      pageHeaders['content-security-policy'].replace(
        "style-src 'self'",
        `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
      ),
    );
  }
  const head = await fetchBytes(`${service.url}/console`, { method: 'HEAD' });
  assert.deepEqual([head.status, head.text], [503, '']);
  assert.equal((await fetchBytes(`${service.url}/console/assets/main.js`)).status, 404);
  for (const path of ['/packages', '/packages/client.tgz']) {
    const { status, text } = await fetchBytes(service.url + path);
    assert.equal(status, 404);
    assert.ok(text.includes(`run \`${BUILD_COMMAND}\``), text);
  }

  const settings = { PETSTORE_DATA: data, PORT: new URL(service.url).port };
  const link = await run(t, ['sign-in-link'], settings, main);
  assert.deepEqual([link.code, link.stdout], [1, '']);
  assert.ok(link.stderr.startsWith('The console is not built, '), link.stderr);
  assert.ok(link.stderr.includes(`: build it with ${BUILD_COMMAND}, `), link.stderr);

  const built = join(directory, 'web/console/dist');
  mkdirSync(join(built, 'assets'), { recursive: true });
  for (const form of ['', '.br', '.gz']) writeFileSync(join(built, `index.html${form}`), 'The console');
  assert.equal((await fetchBytes(`${service.url}/console`)).text, 'The console');

  const { stdout, stderr } = await service.end('SIGTERM');
  assert.doesNotMatch(stderr, /\/console\b(?!\/build)/);
  assert.match(stderr, new RegExp(`Console +not built; build it with ${BUILD_COMMAND}`));
  assert.doesNotMatch(stdout, /"level":[456]0/);
});

describe('every documented way to start the service builds the console and the packages before:', () => {
  /** Fails unless the parts follow each other in a text. */
  const assertInOrder = (text: string, ...parts: string[]) => {
    const places = parts.map(part => text.indexOf(part));
    assert.ok(
      places.every((place, i) => place > (places[i - 1] ?? -1)),
      `${parts} in ${text}`,
    );
  };
  const { scripts } = JSON.parse(readProjectFile('package.json'));

  it('npm start and npm run start:replicas', () => {
    for (const [name, program] of [
      ['start', 'service/src/main.ts serve --demo'],
      ['start:replicas', 'scripts/start-replicas.ts'],
    ] as const)
      assertInOrder(scripts[name], 'scripts/setup.mjs', `&& ${BUILD_COMMAND} &&`, program);
  });

  it('systemd', () => {
    const commands = new DocumentedCommands('docs/operations.md').find('tar -x -C /opt/petstore');
    assertInOrder(
      commands,
      `cd /opt/petstore && node scripts/setup.mjs && ${BUILD_COMMAND}`,
      'enable --now petstore',
    );
  });

  it('the image, which Compose and Kubernetes run as it is', () => {
    const [, build, image] = readProjectFile('Dockerfile')
      .split(/^FROM /m)
      .slice(1);
    assert.match(build!, /^\S+ AS build\n/);
    // As in package.json, but with the Node.js of the image.
    assertInOrder(build!, 'RUN npm ci', `RUN ${BUILD_COMMAND.replace('node_modules/.bin/', '')}`);
    for (const name of ['web/console/dist', 'packages'])
      assert.ok(image!.includes(`\nCOPY --from=build /app/${name} ${name}\n`), name);
    assert.equal(composeFile().services.service.build, '.');
    new DocumentedCommands('docs/operations.md').find('docker build -t');
    for (const file of ['compose.yaml', 'deploy/kubernetes/deployment.yaml'])
      assert.doesNotMatch(readProjectFile(file), /:\/app|mountPath: \/app/, 'nothing hides the result');
  });
});

it('the build replaces its result when its sources have changed, also by files of an archive, which have earlier times', t => {
  const directory = dataDirectory(t);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  };
  for (const name of [
    'package-lock.json',
    'sdk/src/a',
    'pet-files/src/a',
    'web/identity/a',
    'web/console/src/a',
  ])
    write(name, '');
  for (const name of ['index.html', 'vite.config.ts', 'package.json']) write(`web/console/${name}`, '{}');
  write(
    'node_modules/vite/index.mjs',
    `import { cpSync } from 'node:fs';
     export const build = async ({ build: { outDir } }) => cpSync('web/console/index.html', outDir + '/index.html');`,
  );
  write('node_modules/vite/package.json', '{"exports":"./index.mjs"}');
  for (const name of ['web/console/build.mjs', 'scripts/outdated.mjs'])
    cpSync(join(root, name), join(directory, name));
  const build = () => {
    const { stderr } = spawnSync(process.execPath, ['web/console/build.mjs'], {
      cwd: directory,
      encoding: 'utf8',
    });
    return [stderr, readFileSync(join(directory, 'web/console/dist/index.html'), 'utf8')];
  };
  assert.deepEqual(build(), ['Building the console …\n', '{}']);
  assert.deepEqual(build(), ['', '{}']);
  write('web/console/index.html', 'new');
  utimesSync(join(directory, 'web/console/index.html'), 0, 0);
  assert.deepEqual(build(), ['Building the console …\n', 'new']);
});
