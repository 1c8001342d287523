import { Marked } from 'marked'
import { codeBlock } from './highlight.mjs'
import { html, trustedHtml } from './html.mjs'

/**
 * Markdown as HTML. HTML in it is shown as text.
 * @param {string} text
 * @param {(href: string) => string | undefined} link the address in place of that of a link; undefined leaves only its text
 * @returns {{ title: string, content: object, headings: { id: string, text: string, level: number }[], sections: { id: string, text: string }[] }}
 */
export function renderMarkdown(text, link) {
  const ids = new Map()
  const headings = []
  const sections = [{ id: '', text: '' }]
  let title = ''
  const marked = new Marked({ renderer: renderer(link) })
  const tokens = marked.lexer(text)
  const shown = []
  for (const token of tokens) {
    if (token.type !== 'heading') {
      sections.at(-1).text += ` ${plainText([token])}`
      shown.push(token)
      continue
    }
    const name = plainText(token.tokens)
    if (token.depth === 1 && title === '') {
      title = name
      continue
    }
    token.id = uniqueId(slug(name), ids)
    headings.push({ id: token.id, text: name, level: token.depth })
    sections.push({ id: token.id, text: '' })
    shown.push(token)
  }
  return { title, content: trustedHtml(marked.parser(shown)), headings, sections }
}

/** A text in one line, such as the description of a field. */
export function renderInline(text, link) {
  return trustedHtml(new Marked({ renderer: renderer(link) }).parseInline(text))
}

/** A description of several paragraphs. */
export function renderBlock(text, link) {
  return trustedHtml(new Marked({ renderer: renderer(link) }).parse(text))
}

function renderer(link) {
  return {
    heading({ tokens, depth, id }) {
      const text = trustedHtml(this.parser.parseInline(tokens))
      if (id === undefined) return html`<p><strong>${text}</strong></p>`.toString()
      const level = trustedHtml(`h${depth}`)
      return html`<${level} id="${id}">${text}${anchor(id)}</${level}>\n`.toString()
    },
    code: ({ text, lang }) => codeBlock(text, lang).toString(),
    html: ({ text }) => (text.startsWith('<!--') ? '' : html`${text}`.toString()),
    link({ href, tokens }) {
      const [, file] = /^([a-z]+)\.md$/.exec(plainText(tokens)) ?? []
      const text = trustedHtml(file ?? this.parser.parseInline(tokens))
      const target = link(href)
      return target === undefined ? text.toString() : html`<a href="${target}">${text}</a>`.toString()
    },
    image({ href, text }) {
      return html`<img src="${link(href) ?? ''}" alt="${text}" loading="lazy">`.toString()
    },
    table({ header, rows }) {
      const cell = ({ tokens }) => trustedHtml(this.parser.parseInline(tokens))
      const head = header.map((one) => (one.text === '' ? html`<td></td>` : html`<th scope="col">${cell(one)}</th>`))
      const body = rows.map((row) => html`<tr>${row.map((one) => html`<td>${cell(one)}</td>`)}</tr>`)
      return html`<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`.toString()
    },
  }
}

/** A link to the heading that it is in. Assistive technology has the list of headings. */
export function anchor(id) {
  return html` <a class="anchor" href="#${id}" tabindex="-1" aria-hidden="true">#</a>`
}

/** The id that GitHub gives a heading, so that links work in both. */
function slug(name) {
  return name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}

function uniqueId(id, used) {
  const count = used.get(id) ?? 0
  used.set(id, count + 1)
  return count === 0 ? id : `${id}-${count}`
}

const ENTITIES = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }

/** The text of these tokens without their marks. */
function plainText(tokens = []) {
  return tokens
    .map((token) => {
      if (token.type === 'table') {
        return [token.header, ...token.rows]
          .flat()
          .map((cell) => plainText(cell.tokens))
          .join(' ')
      }
      if (token.type === 'list') return token.items.map((item) => plainText(item.tokens)).join(' ')
      if (token.tokens !== undefined) return plainText(token.tokens)
      return (token.text ?? '').replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity])
    })
    .join('')
}
