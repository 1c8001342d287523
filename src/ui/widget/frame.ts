/** The script of `/embed/{slug}`: connects the widget with the embedding page. Messages of other origins are ignored. */
import { buildMessage, FROM_PAGE, type FrameMessage, readMessage, THEMES } from './protocol.ts'

const MAX_FIELDS = 50
const MAX_VALUE_LENGTH = 1000

interface Widget extends HTMLElement {
  prefill(values: Record<string, string>): void
}

const widget = document.querySelector<Widget>('posthorn-scheduler')
/** The server names it only if the experience allows it. */
const pageOrigin = widget?.dataset.pageOrigin

if (widget !== null && pageOrigin !== undefined && parent !== window) connect(widget, pageOrigin)

function connect(element: Widget, origin: string): void {
  const post = (name: FrameMessage, members?: object) => parent.postMessage(buildMessage(name, members), origin)

  for (const name of ['ready', 'slot-selected', 'booked', 'error', 'redirect'] as const) {
    element.addEventListener(`posthorn:${name}`, (event) => {
      const { detail } = event as CustomEvent<object>
      // The page navigates: another page in the frame would probably refuse to be framed.
      if (name === 'redirect') event.preventDefault()
      post(name, name === 'ready' ? {} : detail)
    })
  }
  new ResizeObserver(() => post('resize', { height: Math.ceil(document.body.getBoundingClientRect().height) })).observe(
    document.body,
  )
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.defaultPrevented) post('close')
  })
  addEventListener('message', (event) => {
    if (event.source !== parent || event.origin !== origin) return
    const message = readMessage(event.data, FROM_PAGE)
    if (message?.name === 'prefill') element.prefill(pickTexts(message.members.values))
    if (message?.name === 'theme') setTheme(element, message.members.theme)
  })
}

function pickTexts(values: unknown): Record<string, string> {
  const entries = Object.entries(Object(values)).slice(0, MAX_FIELDS)
  return Object.fromEntries(
    entries.flatMap(([name, value]) =>
      typeof value === 'string' && value.length <= MAX_VALUE_LENGTH ? [[name, value] as const] : [],
    ),
  )
}

function setTheme(element: HTMLElement, theme: unknown): void {
  if (typeof theme === 'string' && THEMES.includes(theme)) element.setAttribute('theme', theme)
}
