/** The texts of the hosted pages by language, and the choice of the language. */
import { type Html, html } from '../../../platform/formats/html.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { ja } from './ja.ts'
import { nl } from './nl.ts'
import { pt } from './pt.ts'

export type TextKey = keyof typeof en
export type Texts = Readonly<Record<TextKey, string>>

/** Returns the text of a key with its values filled in. `html` accepts values with markup, and escapes everything else. */
export interface Translate<Key extends string = TextKey> {
  (key: Key, values?: Readonly<Record<string, string>>): string
  html(key: Key, values: Readonly<Record<string, Html | string>>): Html
  /** BCP 47 tag, for the `lang` attribute. */
  language: string
  direction: 'ltr' | 'rtl'
}

/** By primary language subtag. Add a language here and in a file of its own. */
export const LANGUAGES: Readonly<Record<string, Texts>> = { en, de, fr, es, it, pt, nl, ja }

const DEFAULT_LANGUAGE = 'en'
const PLACEHOLDER = /\{(\w+)\}/
const RIGHT_TO_LEFT = new Set(['ar', 'fa', 'he', 'ur'])
/** A browser sends about five. */
const MAX_RANGES = 20

export function translate(language: string, texts: Texts = LANGUAGES[language] ?? en): Translate {
  return translateWith(language, texts)
}

/** As `translate`, with texts of other pages. */
export function translateWith<Key extends string>(
  language: string,
  texts: Readonly<Record<Key, string>>,
): Translate<Key> {
  const t = (key: Key, values: Readonly<Record<string, string>> = {}) =>
    splitText(texts[key])
      .map((part, index) => (index % 2 === 0 ? part : (values[part] ?? '')))
      .join('')
  return Object.assign(t, {
    html: (key: Key, values: Readonly<Record<string, Html | string>>) =>
      html`${splitText(texts[key]).map((part, index) => (index % 2 === 0 ? part : (values[part] ?? '')))}`,
    language,
    direction: RIGHT_TO_LEFT.has(language) ? ('rtl' as const) : ('ltr' as const),
  })
}

/** Texts at even positions, names of placeholders at odd ones. */
function splitText(text: string): string[] {
  return text.split(PLACEHOLDER)
}

/** The language of a page: the session's locale, else the best of `Accept-Language`, else English. */
export function chooseLanguage(
  locale: string | null | undefined,
  acceptLanguage: string | undefined,
  languages: object = LANGUAGES,
): string {
  const wanted = [...(locale == null ? [] : [locale]), ...acceptedLanguages(acceptLanguage)]
  return wanted.map(primarySubtag).find((language) => Object.hasOwn(languages, language)) ?? DEFAULT_LANGUAGE
}

/** Language ranges by quality, the best first (RFC 9110, section 12.5.4). */
function acceptedLanguages(header: string | undefined): string[] {
  return (header ?? '')
    .split(',', MAX_RANGES)
    .map((range) => {
      const [tag = '', ...parameters] = range.split(';').map((part) => part.trim())
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
      return { tag, quality: quality === undefined ? 1 : Number(quality) || 0 }
    })
    .filter(({ quality }) => quality > 0)
    .sort((left, right) => right.quality - left.quality)
    .map(({ tag }) => tag)
}

const primarySubtag = (tag: string) => tag.split(/[-_]/, 1)[0]?.toLowerCase() ?? ''
