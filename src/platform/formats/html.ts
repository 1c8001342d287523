/** Safe HTML. Only `html` and `trustedHtml` create it. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
  toString(): string {
    return this.markup
  }
}

type Part = Html | string | number | null | undefined | false | readonly Part[]

/** Template tag that escapes every value except nested `html`; null, undefined and false are omitted. */
export function html(strings: TemplateStringsArray, ...values: Part[]): Html {
  let markup = strings[0] ?? ''
  values.forEach((value, index) => {
    markup += render(value) + (strings[index + 1] ?? '')
  })
  return new Html(markup)
}

/** Marks text from this repository (a style sheet, an icon) as safe. Never call it with text from outside. */
export function trustedHtml(markup: string): Html {
  return new Html(markup)
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return ''
  if (part instanceof Html) return part.markup
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part))
  return part.map(render).join('')
}
