import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Locator } from 'playwright-core';
import {
  document,
  headersOf,
  type ListedOperation,
  operationsOf,
  responsesOf,
} from '../contract/document.ts';
import { eventually, useBrowser } from '../support/browser.ts';
import { runCurl, runJavaScript, type SampleRequest } from '../support/code-samples.ts';
import { operationsWithBody } from '../support/operations.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

/** The parameters of an operation, with their references resolved. */
function parametersOf({ operation }: ListedOperation) {
  return (operation.parameters ?? []).map(parameter =>
    '$ref' in parameter ? document.components.parameters[parameter.$ref.split('/').at(-1)!]! : parameter,
  );
}

function shownParameters(shown: Locator): Promise<string[]> {
  return shown
    .locator('[data-param-name]')
    .evaluateAll(rows => rows.map(row => `${row.dataset.paramIn} ${row.dataset.paramName}`));
}

/** The documented statuses of an operation, each with the names of its headers. */
function headersByStatus({ operation }: ListedOperation): Record<string, string[]> {
  return Object.fromEntries(
    responsesOf(operation).map(([status, response]) => [status, Object.keys(headersOf(response))]),
  );
}

async function shownHeadersByStatus(shown: Locator): Promise<Record<string, string[]>> {
  const responses = await shown
    .locator('[data-code]')
    .evaluateAll(details =>
      details.map((response): [string, string[]] => [
        response.dataset.code,
        [...response.querySelectorAll('.headers td:first-child')].map(cell => cell.textContent),
      ]),
    );
  return Object.fromEntries(responses);
}

/** Fails unless the page shows the shape and the example of the request's body, if there is one. */
async function assertRequest(shown: Locator, { operation: { operationId } }: ListedOperation): Promise<void> {
  const request = shown.locator('.opblock-section-request-body');
  const body = operationsWithBody.find(known => known.operationId === operationId)?.body;
  assert.equal(await request.count(), body ? 1 : 0);
  if (!body) return;
  assert.deepEqual(JSON.parse(await request.locator('pre').first().innerText()), body.example);
  await request.getByRole('tab', { name: 'Schema' }).click();
  const fields: string[] = await request
    .locator('.property-row > td:first-child')
    // Fields of the body itself, without fields of nested objects.
    .evaluateAll(all =>
      all
        .filter(field => !field.closest('.shape').parentElement.closest('.shape'))
        .map(field => field.textContent),
    );
  assert.deepEqual([...new Set(fields)].toSorted(), Object.keys(body.properties).toSorted());
}

/** Runs both samples, and fails unless each makes the request that the document describes. */
async function assertSamples(shown: Locator, listed: ListedOperation, origin: string): Promise<void> {
  const { method, path, operation } = listed;
  const [[type, media] = []] = Object.entries(operation.requestBody?.content ?? {});
  const examples = new Map(parametersOf(listed).map(({ name, example }) => [name, example]));
  const expected: SampleRequest = {
    method,
    url: origin + path.replace(/\{(\w+)\}/g, (_, name) => String(examples.get(name))),
    headers: {
      ...(operation.security.length > 0 && { 'X-API-Key': 'the key' }),
      ...(type !== undefined && { 'Content-Type': type }),
    },
    body: media?.example,
  };
  const samples = shown.locator('[data-samples]');
  assert.deepEqual(runCurl(await samples.locator('pre').innerText(), 'the key'), expected);
  await samples.locator('button[data-language="javascript"]').click();
  assert.deepEqual(await runJavaScript(await samples.locator('pre').innerText(), 'the key'), expected);
}

/**
 * Defines the tests of the operations with one of `tags`. There are several test files, because the viewer becomes slower
 * with every operation that it has opened.
 */
export function testOperationsOf(...tags: string[]): void {
  describe(`the operations with the tags ${tags.join(', ')} in the reference`, () => {
    it('show parameters, request, responses, headers and working samples', async t => {
      const { page, shop } = await visit(t);
      const portal = await new PortalPage(page).open();
      for (const listed of operationsOf(tags)) {
        const { method, path, operation } = listed;
        await t.test(`${method} ${path}`, async () => {
          const shown = await portal.show(operation);
          const summary = shown.locator('.opblock-summary-control');
          const [title] = await summary.locator('.opblock-summary-description').allInnerTexts();
          assert.deepEqual(
            [
              await summary.locator('.method').innerText(),
              await summary.locator('.opblock-summary-path').innerText(),
            ],
            [method, path],
          );
          assert.equal(title, operation.summary);
          assert.deepEqual(
            await shownParameters(shown),
            parametersOf(listed).map(at => `${at.in} ${at.name}`),
          );
          await assertRequest(shown, listed);
          await portal.unfold(shown);
          await eventually(() => shownHeadersByStatus(shown), headersByStatus(listed));
          await assertSamples(shown, listed, shop.origin);
          await summary.click();
        });
      }
    });
  });
}
