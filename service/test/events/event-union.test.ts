import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { petEvents } from '../../src/catalog/pets/pet-events.ts';
import { eventUnion } from '../../src/events/event-log/event-kind.ts';
import { eventTypeNames } from '../../src/events/event-log/event-types.ts';
import { document } from '../contract/document.ts';
import { validatorOf } from '../support/contract.ts';
import { webhookShop } from './webhook-shop.ts';

interface Union {
  oneOf: { $ref: string }[];
  discriminator: { propertyName: string; mapping: Record<string, string> };
}

const union = document.components.schemas.KnownEvent as unknown as Union;
const { mapping } = union.discriminator;

const isEvent = validatorOf({ $ref: '#/components/schemas/Event' });

describe('the union of events', () => {
  it('maps every type to the only member that has it', () => {
    assert.equal(union.discriminator.propertyName, 'type');
    assert.deepEqual(Object.keys(mapping).toSorted(), eventTypeNames.toSorted());
    assert.deepEqual(
      [...new Set(Object.values(mapping))].toSorted(),
      union.oneOf.map(({ $ref }) => $ref).toSorted(),
    );
    for (const [type, reference] of Object.entries(mapping)) {
      const member = document.components.schemas[reference.split('/').at(-1)!] as {
        properties: { type: { enum: string[] } };
      };
      assert.ok(member.properties.type.enum.includes(type), type);
    }
  });

  it('accepts an event of a newer type with any data, and one of a known type only with its data', () => {
    const { example } = petEvents.schema;
    assert.ok(isEvent(example), JSON.stringify(isEvent.errors));
    for (const type of ['pet.adopted', 'supplier.created'])
      assert.ok(isEvent({ ...example, type, subject: 'suppliers/7', data: { city: 'Ulm' } }), type);
    assert.ok(!isEvent({ ...example, data: { city: 'Ulm' } }));
    assert.ok(!isEvent({ ...example, type: 'Adopted' }));
  });

  it('states for each type the scope that reading its resource needs', () => {
    for (const [type, reference] of Object.entries(mapping)) {
      const member = document.components.schemas[reference.split('/').at(-1)!] as {
        description: string;
        properties: { subject: { pattern: string } };
      };
      // Neither the service nor its administration is a resource.
      if (/^(service|access)\./.test(type)) {
        assert.ok(member.description.endsWith('Requires the scope `admin`.'), type);
        continue;
      }
      if (/^key\.(quota_reached|expiring)$/.test(type)) {
        assert.ok(member.description.endsWith('`events:read`; for warnings about other keys `admin`.'), type);
        continue;
      }
      const path = member.properties.subject.pattern.replace(/^\^(.*)\/\[.*$/, '/$1/');
      const [, read] = Object.entries(document.paths).find(([it]) =>
        // The subject of events of the log is the log.
        type === 'log.restored' ? it === '/events' : it.startsWith(`${path}{`) && !it.includes('}/'),
      )!;
      const [scope] = read.get!['x-required-scopes'] as string[];
      // A webhook, which any key with this scope could read as a resource only if it were its own.
      const needed = scope === 'webhooks:write' ? 'admin' : scope;
      const requirement =
        needed === 'admin' || needed === 'events:read'
          ? `Requires the scope \`${needed}\`.`
          : `Requires the scopes \`events:read\` and \`${needed}\`.`;
      assert.ok(member.description.endsWith(requirement), `${type}: ${member.description}`);
    }
  });

  it('is not made unless each type belongs to one kind of events', () => {
    assert.throws(() => eventUnion([petEvents]), /exactly one kind: category.created, /);
    assert.throws(() => eventUnion([petEvents, petEvents]), /exactly one kind: pet.created, /);
  });
});

interface CallbackOperation {
  parameters: { name: string; in: string; required: boolean }[];
  requestBody: { content: Record<string, { schema: { $ref: string } }> };
  responses: Record<string, unknown>;
}

describe('the contract', () => {
  it('describes the request that a webhook receives, with its headers and the meaning of responses', async t => {
    const post = document.paths['/webhooks']!.post as unknown as {
      callbacks: { event: Record<string, { post: CallbackOperation }> };
    };
    const callback = post.callbacks.event['{$request.body#/url}']!.post;
    assert.equal(
      callback.requestBody.content['application/cloudevents+json']!.schema.$ref,
      '#/components/schemas/Event',
    );
    assert.deepEqual(Object.keys(callback.responses), ['410', '429', '2XX', '3XX', 'default']);
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    await shop.api.post(`${path}/test`);
    await shop.settle();
    const [{ headers, event }] = shop.receiver.received as [(typeof shop.receiver.received)[0]];
    for (const { name, required } of callback.parameters) assert.equal(name in headers, required, name);
    assert.ok(isEvent(event), JSON.stringify(isEvent.errors));
  });

  it('declares Last-Event-ID as a parameter of the stream', () => {
    const { parameters = [] } = document.paths['/events/stream']!.get!;
    const found = parameters.find(one => 'name' in one && one.name === 'Last-Event-ID');
    assert.partialDeepStrictEqual(found, { in: 'header', required: false });
  });
});
