/**
 * A minimal browser without JavaScript: it opens pages, stores cookies and submits forms. The demo uses it to go through the hosted
 * pages as a person would.
 */
export interface Page {
  url: string
  status: number
  html: string
  title: string
  /** The first form of the page, undefined without one. */
  form: Form | undefined
  /** The target of a redirect or of the page's refresh; undefined without one. */
  continueUrl: string | undefined
}

interface Form {
  action: string
  fields: Record<string, string>
}

export interface Browser {
  open(url: string): Promise<Page>
  /** Submits the page's form with these values in place of its own. */
  submit(page: Page, values: Record<string, string>): Promise<Page>
}

const TIMEOUT_MS = 20_000

export function browser(): Browser {
  const jars = new Map<string, Map<string, string>>()

  async function load(url: string, init: RequestInit): Promise<Page> {
    // All ports of a host share its cookies.
    const { hostname } = new URL(url)
    const cookies = jars.get(hostname) ?? new Map<string, string>()
    jars.set(hostname, cookies)
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      ...init,
      headers: { accept: 'text/html', cookie, ...init.headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    const page = parsePage(url, response.status, await response.text())
    return location === null ? page : { ...page, continueUrl: new URL(location, url).href }
  }

  return {
    open: (url) => load(url, {}),
    submit(page, values) {
      if (page.form === undefined) throw new Error(`The page "${page.title}" has no form.`)
      return load(new URL(page.form.action, page.url).href, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ ...page.form.fields, ...values }).toString(),
      })
    },
  }
}

function parsePage(url: string, status: number, html: string): Page {
  const form = /<form\b([^>]*)>([\s\S]*?)<\/form>/i.exec(html)
  const refresh = [...html.matchAll(/<meta\b([^>]*)>/gi)]
    .map((match) => attributes(match[1] ?? ''))
    .find((tag) => tag['http-equiv']?.toLowerCase() === 'refresh')
  return {
    url,
    status,
    html,
    title: decode(/<title>([\s\S]*?)<\/title>/i.exec(html)?.[1] ?? ''),
    form:
      form === null
        ? undefined
        : { action: attributes(form[1] ?? '').action ?? url, fields: parseInputs(form[2] ?? '') },
    continueUrl: /url=(.*)$/i.exec(refresh?.content ?? '')?.[1],
  }
}

function parseInputs(html: string): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const match of html.matchAll(/<input\b([^>]*)>/gi)) {
    const input = attributes(match[1] ?? '')
    if (input.name === undefined) continue
    if (/^(checkbox|radio)$/i.test(input.type ?? '') && input.checked === undefined) continue
    fields[input.name] = input.value ?? (input.checked === undefined ? '' : 'on')
  }
  for (const [, start = '', content = ''] of html.matchAll(/<select\b([^>]*)>([\s\S]*?)<\/select>/gi)) {
    const options = [...content.matchAll(/<option\b([^>]*)>/gi)].map((match) => attributes(match[1] ?? ''))
    const chosen = options.find(({ selected }) => selected !== undefined) ?? options[0]
    const { name } = attributes(start)
    if (name !== undefined && chosen !== undefined) fields[name] = chosen.value ?? ''
  }
  return fields
}

function attributes(text: string): Record<string, string | undefined> {
  const pairs = [...text.matchAll(/([a-z-]+)(?:="([^"]*)")?/gi)].map((match) => [
    match[1]?.toLowerCase(),
    decode(match[2] ?? ''),
  ])
  return Object.fromEntries(pairs)
}

function decode(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
