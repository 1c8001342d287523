import { createRequire } from 'node:module'
import { html, trustedHtml } from './html.mjs'

// Its types add those of browsers to all others. The compiler does not follow this name.
const load = createRequire(import.meta.url)
const highlighter = load('highlight.js/lib/common')
highlighter.registerLanguage('nginx', load('highlight.js/lib/languages/nginx'))

/** Has the colour of the text: half of the size of an example in JSON. */
const PUNCTUATION = /<span class="hljs-punctuation">([^<]*)<\/span>/g

/** Code in colours, in a frame to which the script of the page adds a button that copies it. */
export function codeBlock(code, language = '', name = 'Code') {
  const isKnown = highlighter.getLanguage(language) !== undefined
  const body = isKnown ? trustedHtml(highlighter.highlight(code, { language }).value.replace(PUNCTUATION, '$1')) : code
  return html`<div class="code"><pre tabindex="0" aria-label="${name}" role="group"><code>${body}</code></pre></div>`
}
