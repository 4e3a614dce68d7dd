import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { html } from './html.ts';

describe('html', () => {
  it('escapes text in content and in attributes', () => {
    const evil = `"><script>alert('1 & 2')</script>`;
    assert.equal(
      html`<a title="${evil}">${evil}</a>`.text,
      '<a title="&quot;&gt;&lt;script&gt;alert(&#39;1 &amp; 2&#39;)&lt;/script&gt;">' +
        '&quot;&gt;&lt;script&gt;alert(&#39;1 &amp; 2&#39;)&lt;/script&gt;</a>',
    );
  });

  it('inserts HTML unchanged, and joins lists', () => {
    const items = ['a', 'b & c'].map(item => html`<li>${item}</li>`);
    assert.equal(html`<ul>${items}</ul>`.text, '<ul><li>a</li><li>b &amp; c</li></ul>');
  });

  it('inserts nothing for undefined, false and empty values, but inserts zero', () => {
    assert.equal(html`[${undefined}${false}${[]}${''}${0}]`.text, '[0]');
  });
});
