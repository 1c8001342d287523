/**
 * `<posthorn-scheduler>`: books a slot of an experience on any page. The guide, docs/embedding.md, lists its attributes, events
 * and CSS variables. It stores nothing in the browser, sends no credentials, and needs no inline style or script.
 */
import { render } from 'preact'
import { asApiError, asRecord, type Experience, schedulerApi } from './api.ts'
import type { Emit } from './flow.ts'
import { knownZone } from './formats.ts'
import { loadCalendar } from './month.tsx'
import { Scheduler, type SchedulerProps } from './scheduler.tsx'
import { STYLE } from './style/index.ts'
import { chooseLocale, LANGUAGES, type Locale, loadTexts, type Texts, translate } from './texts/index.ts'
import { applyTheme } from './theme.ts'
import { Loading, Unavailable } from './unavailable.tsx'

/** The service that served this file. */
const OWN_SERVICE = new URL('../../', import.meta.url).href
const ATTRIBUTES = ['api-base-url', 'experience-slug', 'duration-minutes', 'timezone', 'locale']
const PREFILL = 'prefill-'
const MIN_DURATION = 5
/** If not even the texts can be loaded: what is wrong, and the button. */
const OFFLINE: Readonly<Record<string, readonly [string, string]>> = {
  en: ['There is no connection.', 'Try again'],
  de: ['Es besteht keine Verbindung.', 'Erneut versuchen'],
  fr: ['Aucune connexion.', 'Réessayer'],
  es: ['No hay conexión.', 'Intentar de nuevo'],
  it: ['Nessuna connessione.', 'Riprova'],
  pt: ['Sem conexão.', 'Tentar de novo'],
  nl: ['Er is geen verbinding.', 'Opnieuw proberen'],
  ja: ['接続できません。', 'もう一度試す'],
  ar: ['لا يوجد اتصال.', 'حاول مرة أخرى'],
}

class PosthornScheduler extends HTMLElement {
  static readonly observedAttributes = ATTRIBUTES
  readonly #theme = new CSSStyleSheet()
  readonly #box: HTMLElement
  readonly #styles = new Set<string>()
  #loading: AbortController | undefined
  #show: (() => void) | undefined
  #starts = 0
  readonly #given: Record<string, string> = {}

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open' })
    root.adoptedStyleSheets = [this.#theme]
    this.#addStyle(STYLE)
    this.#box = document.createElement('div')
    this.#box.className = 'root'
    root.append(this.#box)
  }

  connectedCallback(): void {
    this.#start()
  }

  disconnectedCallback(): void {
    this.#loading?.abort()
    this.#show = undefined
    render(null, this.#box)
  }

  attributeChangedCallback(_name: string, before: string | null, now: string | null): void {
    if (this.isConnected && before !== now) this.#start()
  }

  /** Begins anew. Attributes that a script sets one after the other cause one start. */
  #start(): void {
    this.#loading?.abort()
    const controller = new AbortController()
    this.#loading = controller
    this.#starts += 1
    queueMicrotask(() => {
      if (!controller.signal.aborted) void this.#load(controller.signal)
    })
  }

  async #load(signal: AbortSignal): Promise<void> {
    const locale = chooseLocale([this.getAttribute('locale'), pageLanguage(this), ...navigator.languages])
    const slug = this.getAttribute('experience-slug') ?? ''
    const base = new URL(`${(this.getAttribute('api-base-url') ?? OWN_SERVICE).replace(/\/+$/, '')}/`, document.baseURI)
    const api = schedulerApi(base.href, slug)
    this.#box.dir = locale.direction
    this.#box.lang = locale.language
    applyTheme(this.#theme, this, undefined)
    render(<Loading />, this.#box)
    try {
      // Most experiences show a month, so that its elements are loaded at once.
      const [first, experience] = await Promise.all([
        loadTexts(locale, LANGUAGES),
        api.experience(signal),
        loadCalendar(),
      ])
      const texts = { ...first }
      const week = experience.ui?.layout === 'week' ? await this.#loadWeek() : undefined
      if (signal.aborted) return
      applyTheme(this.#theme, this, experience.ui?.theme)
      const t = translate(texts, locale.language, asRecord(experience.ui?.copy))
      const loadSteps = () => this.#loadSteps(locale, texts)
      this.#show = () => this.#render({ api, experience, t, locale, week, loadSteps })
      this.#show()
      this.#emit('ready', { experience })
    } catch (thrown) {
      if (signal.aborted) return
      const error = asApiError(thrown)
      const texts = await loadTexts(locale, LANGUAGES).catch(() => {
        const [offline = '', retry = ''] = OFFLINE[locale.language] ?? []
        return { offline, failed: offline, retry }
      })
      const t = translate(texts ?? {}, locale.language)
      render(<Unavailable error={error} t={t} retry={() => this.#start()} />, this.#box)
      this.#emit('error', { code: error.code, message: error.message })
    }
  }

  /** Fills in fields that the visitor has not changed, by name. The attributes `prefill-*` do the same. */
  prefill(values: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(values)) this.#given[name] = value
    this.#show?.()
  }

  #render(parts: Pick<SchedulerProps, 'api' | 'experience' | 't' | 'locale' | 'week' | 'loadSteps'>): void {
    const zone = this.getAttribute('timezone')
    const prefill = { ...readPrefill(this), ...this.#given }
    render(
      <Scheduler
        key={this.#starts}
        {...parts}
        prefill={prefill}
        emit={this.#emit}
        move={readMove(this)}
        zone={chooseZone(zone, parts.experience)}
        durationMinutes={parseDuration(this.getAttribute('duration-minutes'))}
      />,
      this.#box,
    )
  }

  async #loadWeek() {
    const { Week, WEEK_STYLE } = await import('./week.tsx')
    this.#addStyle(WEEK_STYLE)
    return Week
  }

  /** Once each, however often the widget begins anew. */
  #addStyle(css: string): void {
    if (this.#styles.has(css)) return
    this.#styles.add(css)
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
    this.shadowRoot?.adoptedStyleSheets.push(sheet)
  }

  /** Adds the texts of the later steps to those of the first one. */
  async #loadSteps(locale: Locale, texts: Partial<Texts>) {
    const { LaterSteps, STEP_LANGUAGES, STEPS_STYLE } = await import('./steps.tsx')
    Object.assign(texts, await loadTexts(locale, STEP_LANGUAGES))
    this.#addStyle(STEPS_STYLE)
    return LaterSteps
  }

  readonly #emit: Emit = (name, detail) => {
    const event = new CustomEvent(`posthorn:${name}`, { detail, bubbles: true, composed: true, cancelable: true })
    return this.dispatchEvent(event)
  }
}

function readPrefill({ attributes }: Element): Record<string, string> {
  const prefills = [...attributes].filter(({ name }) => name.startsWith(PREFILL))
  return Object.fromEntries(prefills.map(({ name, value }) => [name.slice(PREFILL.length), value]))
}

/** The page of a booking sets these. */
function readMove({ dataset }: HTMLElement): SchedulerProps['move'] {
  const { bookingId, bookingToken: token, bookingStart: start, bookingEnd: end } = dataset
  if (bookingId === undefined || token === undefined || start === undefined || end === undefined) return undefined
  return { bookingId, token, slot: { start, end } }
}

function pageLanguage(element: Element): string | null {
  return element.closest('[lang]')?.getAttribute('lang') ?? null
}

function chooseZone(wanted: string | null, { timezone }: Experience): string {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return knownZone(wanted) ?? knownZone(own) ?? knownZone(timezone) ?? 'UTC'
}

function parseDuration(text: string | null): number | undefined {
  const minutes = Number(text)
  return text !== null && Number.isFinite(minutes) && minutes >= MIN_DURATION ? minutes : undefined
}

if (customElements.get('posthorn-scheduler') === undefined) {
  customElements.define('posthorn-scheduler', PosthornScheduler)
}
