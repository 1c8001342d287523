import { expect, it } from 'vitest'
import { html, trustedHtml } from './html.ts'

it('escapes values by default, in text and in attributes', () => {
  const hostile = `"><script>alert('1')</script>&`
  expect(String(html`<a title="${hostile}">${hostile}</a>`)).toBe(
    '<a title="&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;">&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;</a>',
  )
})

it('passes nested html, joins lists, and leaves out what is absent', () => {
  const rows = ['a', '<b>'].map((text) => html`<li>${text}</li>`)
  expect(String(html`<ul>${rows}</ul>${null}${undefined}${false}${trustedHtml('<hr>')}${0}`)).toBe(
    '<ul><li>a</li><li>&lt;b&gt;</li></ul><hr>0',
  )
})
