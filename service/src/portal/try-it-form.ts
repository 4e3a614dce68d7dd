import { type Html, html } from '../kit/html.ts';
import { exampleOf, exampleValues } from './call.ts';
import { clientCall } from './client-call.ts';
import type { ContractView, Operation, Parameter } from './contract.ts';
import { COMMAND_URL, operationUrl } from './urls.ts';

/** The form of an operation. It is no HTML form, so that the key never gets into a URL. */
export function tryIt(view: ContractView, operation: Operation): Html {
  if (!operation.hasTryIt) return alternatives(view, operation);
  const { parameters, body, isSecured } = operation;
  const required = parameters.filter(parameter => parameter.required);
  const optional = parameters.filter(parameter => !parameter.required);
  const text = exampleValues(operation).body;
  return html`<div class="try needs-script" role="group" aria-label="Try it">
${isSecured && keyField}
${required.map(parameter => field(view, parameter))}
${
  body &&
  html`<div class="input"><label for="request-body">Body <span class="small-note">${body.type}</span></label>
<textarea id="request-body" rows="${Math.min(12, text?.split('\n').length ?? 4)}" spellcheck="false">${text}</textarea></div>`
}
${
  optional.length > 0 &&
  html`<details class="optional"><summary>Optional parameters</summary>${optional.map(parameter => field(view, parameter))}</details>`
}
<p class="try-message" role="alert"></p>
</div>`;
}

/** Why an operation has no form, and what readers can use instead. */
function alternatives(view: ContractView, operation: Operation): Html {
  const readOne = view.operations.find(
    ({ method, path }) => method === 'GET' && path.startsWith(`${operation.path}/{`) && path.endsWith('}'),
  );
  return html`<div class="notice no-try"><p>Trying this operation out is disabled in the portal, because its response shows the
${operation.tag.toLowerCase()} of all customers. Use instead:</p>
<ul>
<li>a terminal: <button class="copy-command needs-script" type="button">Copy the curl command</button></li>
<li>the <a href="${COMMAND_URL}">command</a>: <code>petstore ${clientCall(operation).replace('.', ' ')}</code></li>
${readOne && html`<li>the form of <a href="${operationUrl(readOne.id)}">${readOne.summary}</a>, if you know an ID</li>`}</ul></div>`;
}

const keyField = html`<div class="input key"><label for="api-key">API key</label>
<div><input id="api-key" type="password" autocomplete="off" spellcheck="false" placeholder="psk_…"><button id="api-key-forget" type="button">Forget</button></div></div>`;

function field(view: ContractView, parameter: Parameter): Html {
  const { name, required } = parameter;
  const schema = view.schema(parameter.schema);
  const { enum: choices } = schema.items ? view.schema(schema.items) : {};
  if (choices)
    return html`<fieldset class="input" data-parameter="${name}"><legend>${name}</legend>
${choices.map(value => html`<label><input type="checkbox" value="${String(value)}"> ${String(value)}</label>\n`)}</fieldset>\n`;
  const id = `parameter-${name}`;
  const values = schema.enum ?? (schema.type === 'boolean' ? [true, false] : undefined);
  const example = exampleOf(parameter);
  const control = values
    ? html`<select id="${id}" data-parameter="${name}">${!required && html`<option value=""></option>`}${values.map(value => html`<option>${String(value)}</option>`)}</select>`
    : html`<input id="${id}" data-parameter="${name}" autocomplete="off" spellcheck="false"${
        required ? html` value="${example}"` : html` placeholder="${example}"`
      }>`;
  return html`<div class="input"><label for="${id}">${name}${schema.items && html` <span class="small-note">separated by commas</span>`}</label>${control}</div>\n`;
}
