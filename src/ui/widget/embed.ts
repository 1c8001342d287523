/**
 * The embed script: shows the booking page of an experience in a frame, inline or as a popup. It uses no cookies and no storage,
 * and no inline styles, so that it works on pages with a strict Content-Security-Policy.
 */

import { EMBED_STYLE } from './embed-style.ts'
import { EMBED_TEXTS } from './embed-texts.ts'
import { buildMessage, FROM_FRAME, readMessage, THEMES } from './protocol.ts'

interface Options {
  slug: string
  /** `light`, `dark` or `auto`. */
  theme?: string
  /** BCP 47. Default: the language of the page. */
  locale?: string
  timezone?: string
  durationMinutes?: number
  /** Values of form fields, by name. */
  prefill?: Record<string, string>
}

interface Embedded {
  /** Where the events `posthorn:*` are dispatched. */
  element: HTMLElement
  theme(theme: string): void
  prefill(values: Record<string, string>): void
  /** Removes what was added to the page. */
  remove(): void
}

interface Popup extends Embedded {
  open(): void
  close(): void
}

const script = document.currentScript as HTMLScriptElement
/** The service that served this script: `<service>/embed/v1/embed.js`. */
const service = new URL('../../', script.src)
const MIN_HEIGHT = 320

/** A frame, and the messages from and to it. Only messages of this frame from the origin of the service are read. */
function frameFor(options: Options, target: HTMLElement, on: { close(): void; resize(height: number): void }) {
  const { slug, theme, locale, timezone, durationMinutes } = options
  const url = new URL(`embed/${encodeURIComponent(slug)}`, service)
  const parameters = { theme, locale: locale ?? pageLocale(), timezone, durationMinutes, origin: location.origin }
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value))
  }
  const frame = document.createElement('iframe')
  frame.src = url.href
  frame.title = textsFor(options).title
  frame.referrerPolicy = 'no-referrer'
  frame.allow = ''
  let prefill = options.prefill ?? {}
  let isReady = false
  const post = (name: 'prefill' | 'theme', members: object) => {
    if (isReady) frame.contentWindow?.postMessage(buildMessage(name, members), service.origin)
  }
  const receive = (event: MessageEvent) => {
    if (event.source !== frame.contentWindow || event.origin !== service.origin) return
    const message = readMessage(event.data, FROM_FRAME)
    if (message === undefined) return
    const { type: _type, ...detail } = message.members
    switch (message.name) {
      case 'resize':
        return on.resize(Math.max(MIN_HEIGHT, Number(detail.height) || 0))
      case 'close':
        return on.close()
      case 'ready':
        isReady = true
        post('prefill', { values: prefill })
    }
    const ours = new CustomEvent(`posthorn:${message.name}`, { detail, bubbles: true, cancelable: true })
    const isAllowed = target.dispatchEvent(ours)
    if (message.name === 'redirect' && isAllowed) follow(detail.url)
  }
  addEventListener('message', receive)
  return {
    frame,
    theme(value: string) {
      if (THEMES.includes(value)) post('theme', { theme: value })
    },
    prefill(values: Record<string, string>) {
      prefill = { ...prefill, ...values }
      post('prefill', { values: prefill })
    },
    remove() {
      removeEventListener('message', receive)
      frame.remove()
    },
  }
}

function follow(url: unknown): void {
  if (typeof url === 'string' && /^https?:\/\//i.test(url)) location.assign(url)
}

function pageLocale(): string | undefined {
  return document.documentElement.lang || undefined
}

function textsFor({ locale = pageLocale() ?? navigator.language }: Options) {
  return EMBED_TEXTS[locale.split('-', 1)[0]?.toLowerCase() ?? ''] ?? EMBED_TEXTS.en ?? { title: '', close: '' }
}

/** Shows the booking page inside this element, as high as its content. */
function inline(element: HTMLElement, options: Options): Embedded {
  const { frame, ...rest } = frameFor(options, element, {
    close() {},
    resize(height) {
      frame.style.height = `${height}px`
    },
  })
  Object.assign(frame.style, { display: 'block', width: '100%', height: '640px', border: '0', colorScheme: 'auto' })
  element.append(frame)
  return { element, ...rest }
}

/** Shows the booking page in a dialog over the page. The browser keeps the focus inside and returns it afterwards. */
function popup(element: HTMLElement, options: Options): Popup {
  const host = document.createElement('div')
  const root = host.attachShadow({ mode: 'open' })
  root.adoptedStyleSheets = [styleSheet()]
  const dialog = document.createElement('dialog')
  const texts = textsFor(options)
  dialog.setAttribute('aria-label', texts.title)
  const button = document.createElement('button')
  button.type = 'button'
  button.setAttribute('aria-label', texts.close)
  button.textContent = '\u00d7'
  dialog.append(button)
  root.append(dialog)
  let current: ReturnType<typeof frameFor> | undefined
  let pageOverflow = ''
  let theme = options.theme
  let values = options.prefill ?? {}

  const close = () => dialog.close()
  const open = () => {
    if (dialog.open) return
    if (!host.isConnected) document.body.append(host)
    current = frameFor({ ...options, ...(theme !== undefined && { theme }), prefill: values }, element, {
      close,
      resize(height) {
        if (current !== undefined) current.frame.style.height = `${height}px`
      },
    })
    dialog.append(current.frame)
    dialog.showModal()
    pageOverflow = document.documentElement.style.overflow
    document.documentElement.style.overflow = 'hidden'
  }
  dialog.addEventListener('close', () => {
    document.documentElement.style.overflow = pageOverflow
    current?.remove()
    current = undefined
    element.dispatchEvent(new CustomEvent('posthorn:close', { bubbles: true }))
  })
  dialog.addEventListener('click', (event) => {
    // The dialog has no padding, so a click on itself is one beside it.
    if (event.target === dialog) close()
  })
  button.addEventListener('click', close)
  return {
    element,
    open,
    close,
    theme(value) {
      theme = value
      current?.theme(value)
    },
    prefill(more) {
      values = { ...values, ...more }
      current?.prefill(more)
    },
    remove() {
      close()
      host.remove()
    },
  }
}

/** A button in the corner of the page that opens the popup. */
function floating(options: Options & { label: string }): Popup {
  const host = document.createElement('div')
  const root = host.attachShadow({ mode: 'open' })
  root.adoptedStyleSheets = [styleSheet()]
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'floating'
  button.textContent = options.label
  root.append(button)
  document.body.append(host)
  const opened = popup(host, options)
  button.addEventListener('click', opened.open)
  return {
    ...opened,
    remove() {
      opened.remove()
      host.remove()
    },
  }
}

function styleSheet(): CSSStyleSheet {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(EMBED_STYLE)
  return sheet
}

/** Elements with `data-posthorn-slug`: a button opens the popup, anything else contains the frame. */
function start(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-posthorn-slug]')) {
    if (element.dataset.posthornStarted !== undefined) continue
    element.dataset.posthornStarted = ''
    const options = readOptions(element.dataset)
    const { posthornMode: mode, posthornLabel: label } = element.dataset
    if (mode === 'floating') floating({ ...options, label: label ?? textsFor(options).title })
    else if (mode === 'popup') element.addEventListener('click', popup(element, options).open)
    else inline(element, options)
  }
}

const PREFILL = 'posthornPrefill'

function readOptions(data: DOMStringMap): Options {
  const prefill: Record<string, string> = {}
  for (const [name, value] of Object.entries(data)) {
    if (name.startsWith(PREFILL) && value !== undefined) prefill[name.slice(PREFILL.length)] = value
  }
  const { posthornSlug: slug = '', posthornTheme: theme, posthornLocale: locale, posthornTimezone: timezone } = data
  const minutes = Number(data.posthornDurationMinutes)
  return {
    slug,
    prefill,
    ...(theme !== undefined && { theme }),
    ...(locale !== undefined && { locale }),
    ...(timezone !== undefined && { timezone }),
    ...(minutes > 0 && { durationMinutes: minutes }),
  }
}

Object.assign(window, { Posthorn: { inline, popup, floating, start } })
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start)
else start()
