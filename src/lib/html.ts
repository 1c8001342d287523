/** HTML that may be put into a page as it is. Only `html` and `trustedHtml` make one. */
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

/** Template tag that escapes every value by default; nested `html` passes, null, undefined and false vanish. */
export function html(strings: TemplateStringsArray, ...values: Part[]): Html {
  let markup = strings[0] ?? ''
  values.forEach((value, index) => {
    markup += render(value) + (strings[index + 1] ?? '')
  })
  return new Html(markup)
}

/** Marks text the project wrote itself (a style sheet, an icon) as safe. Never call it on anything from outside. */
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
