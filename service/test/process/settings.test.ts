import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError, readConfig } from '../../src/config.ts';

describe('the settings', () => {
  it('have defaults', () => {
    const { dataDirectory, ...rest } = readConfig({});
    assert.match(dataDirectory, /\/data$/);
    assert.deepEqual(rest, {
      host: '127.0.0.1',
      port: 8080,
      logLevel: 'info',
      writeBatch: 1024,
      keepSunset: false,
      shutdownSeconds: 10,
    });
  });

  it('are taken from the environment', () => {
    const config = readConfig({
      HOST: '::1',
      PORT: '0',
      LOG_LEVEL: 'warn',
      PETSTORE_DATA: '/srv/petstore',
      PETSTORE_WRITE_BATCH: '1',
      PETSTORE_KEEP_SUNSET: 'true',
      PETSTORE_SHUTDOWN_SECONDS: '30',
    });
    assert.deepEqual(config, {
      host: '::1',
      port: 0,
      logLevel: 'warn',
      dataDirectory: '/srv/petstore',
      writeBatch: 1,
      keepSunset: true,
      shutdownSeconds: 30,
    });
  });

  it('cannot be changed afterwards', () => {
    assert.ok(Object.isFrozen(readConfig({})));
  });

  it('may stand beside the variables of other programs', () => {
    assert.doesNotThrow(() =>
      readConfig({ PATH: '/bin', PETSTORES: 'x', DATABASE_URL: '', REDIS_URL: undefined }),
    );
  });

  const refused: [name: string, value: string, message: string][] = [
    ['HOST', ' ', 'HOST is empty; unset it for the default, 127.0.0.1'],
    ['PORT', 'abc', 'PORT must be a whole number from 0 to 65535, but is "abc"'],
    ['PORT', '65536', 'PORT must be a whole number from 0 to 65535, but is "65536"'],
    ['PORT', '-1', 'PORT must be a whole number from 0 to 65535, but is "-1"'],
    ['PORT', '80.5', 'PORT must be a whole number from 0 to 65535, but is "80.5"'],
    ['PORT', '1e3', 'PORT must be a whole number from 0 to 65535, but is "1e3"'],
    ['PORT', '', 'PORT is empty; unset it for the default, 8080'],
    ['PETSTORE_DATA', '', 'PETSTORE_DATA is empty; unset it for the default, ./data'],
    [
      'LOG_LEVEL',
      'loud',
      'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, but is "loud"',
    ],
    ['PETSTORE_WRITE_BATCH', '0', 'PETSTORE_WRITE_BATCH must be a whole number from 1 to 65536, but is "0"'],
    ['PETSTORE_KEEP_SUNSET', 'yes', 'PETSTORE_KEEP_SUNSET must be one of true, false, but is "yes"'],
    [
      'PETSTORE_SHUTDOWN_SECONDS',
      '3601',
      'PETSTORE_SHUTDOWN_SECONDS must be a whole number from 0 to 3600, but is "3601"',
    ],
    ['PETSTORE_DTAA', './x', 'PETSTORE_DTAA is no setting; did you mean PETSTORE_DATA?'],
    [
      'PETSTORE_COLOUR',
      'red',
      'PETSTORE_COLOUR is no setting; known are PETSTORE_DATA, PETSTORE_WRITE_BATCH, PETSTORE_KEEP_SUNSET, PETSTORE_SHUTDOWN_SECONDS',
    ],
    [
      'DATABASE_URL',
      'postgres://x',
      'DATABASE_URL is set, but this version has only the embedded store; unset it to go on',
    ],
    [
      'REDIS_URL',
      'redis://x',
      'REDIS_URL is set, but this version has only the embedded store; unset it to go on',
    ],
  ];
  for (const [name, value, message] of refused) {
    it(`${name}="${value}" is refused by name`, () => {
      assert.throws(
        () => readConfig({ [name]: value }),
        error => error instanceof ConfigError && error.message === message,
      );
    });
  }
});
