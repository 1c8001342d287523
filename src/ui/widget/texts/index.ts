/**
 * The texts of the widget by language. Each language is two scripts, of which a page loads one at once, and that of the later steps
 * (`steps/index.ts`) with them.
 */
import type { texts as firstTexts } from './en.ts'
import type { texts as stepTexts } from './steps/steps-en.ts'

export type FirstTexts = Readonly<Record<keyof typeof firstTexts, string>>
export type StepTexts = Readonly<Record<keyof typeof stepTexts, string>>
export type Texts = FirstTexts & StepTexts
export type TextKey = keyof Texts

/** By primary language subtag. */
export type Languages<Part> = Readonly<Record<string, () => Promise<{ texts: Part }>>>

/** Add a language here, in `steps/index.ts`, and in files of its own. */
export const LANGUAGES: Languages<FirstTexts> = {
  en: () => import('./en.ts'),
  de: () => import('./de.ts'),
  fr: () => import('./fr.ts'),
  es: () => import('./es.ts'),
  it: () => import('./it.ts'),
  pt: () => import('./pt.ts'),
  nl: () => import('./nl.ts'),
  ja: () => import('./ja.ts'),
  ar: () => import('./ar.ts'),
}

const DEFAULT_LOCALE = 'en'

export interface Locale {
  /** Primary language subtag of the texts. */
  language: string
  /** BCP 47 tag for dates, times and numbers. */
  tag: string
  direction: 'ltr' | 'rtl'
  /** 1 for Monday to 7 for Sunday. */
  firstDayOfWeek: number
}

/** Loads the texts of a language. `languages` contains the language of every `Locale`. */
export async function loadTexts<Part>({ language }: Locale, languages: Languages<Part>): Promise<Part | undefined> {
  return (await languages[language]?.())?.texts
}

/**
 * The first of these tags whose language has texts, else English. A tag without a region takes that of a later tag, because
 * English pages write dates as the visitor does.
 */
export function chooseLocale(tags: readonly (string | null | undefined)[]): Locale {
  const locales = tags.map((tag) => (tag == null ? undefined : parsed(tag))).filter((locale) => locale !== undefined)
  const first = locales.find(({ language }) => Object.hasOwn(LANGUAGES, language)) ?? new Intl.Locale(DEFAULT_LOCALE)
  if (first.region !== undefined) return toLocale(first)
  return toLocale(locales.find(({ language, region }) => language === first.language && region !== undefined) ?? first)
}

function parsed(tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag.trim().replaceAll('_', '-'))
  } catch {
    return undefined
  }
}

const RIGHT_TO_LEFT = new Set(['ar', 'fa', 'he', 'ur'])
/** Regions whose weeks begin on Sunday or Saturday, for browsers without `getWeekInfo`. The others begin on Monday. */
const SUNDAY = new Set(['US', 'CA', 'MX', 'BR', 'JP', 'IL', 'IN', 'SA'])
const SATURDAY = new Set(['EG', 'AE', 'DZ', 'IQ', 'JO', 'KW', 'QA', 'SY'])

function toLocale(locale: Intl.Locale): Locale {
  const { language } = locale
  return {
    language,
    tag: locale.toString(),
    direction: RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr',
    firstDayOfWeek: findFirstDay(locale),
  }
}

/** `getWeekInfo` is not in the type definitions yet. */
interface WeekLocale extends Intl.Locale {
  getWeekInfo?(): { firstDay: number }
}

function findFirstDay(locale: WeekLocale): number {
  const info = locale.getWeekInfo?.()
  if (info !== undefined) return info.firstDay
  const region = locale.maximize().region ?? ''
  if (SUNDAY.has(region)) return 7
  return SATURDAY.has(region) ? 6 : 1
}

export type Translate = (key: TextKey, values?: Readonly<Record<string, string>>) => string

/** Texts of an experience replace those of the widget: `ui.copy` by key, or by language and key. */
export function translate(
  texts: Partial<Texts>,
  language: string,
  copy: Readonly<Record<string, unknown>> = {},
): Translate {
  const own = copy[language]
  const replaced = { ...copy, ...(typeof own === 'object' && own !== null && (own as Record<string, unknown>)) }
  return (key, values = {}) => {
    const text = replaced[key]
    return (typeof text === 'string' && text !== '' ? text : (texts[key] ?? '')).replaceAll(
      /\{(\w+)\}/g,
      (whole, name: string) => values[name] ?? whole,
    )
  }
}
