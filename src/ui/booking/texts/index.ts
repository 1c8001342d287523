/** The texts of the booking pages by language. Those of the widget are its own. */
import { chooseLanguage, type Translate, translateWith } from '../../hosted/index.ts'
import { ar } from './ar.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { ja } from './ja.ts'
import { nl } from './nl.ts'
import { pt } from './pt.ts'

export type BookingTextKey = keyof typeof en
export type BookingTexts = Readonly<Record<BookingTextKey, string>>
export type BookingTranslate = Translate<BookingTextKey>

/** By primary language subtag: those of the widget. */
export const BOOKING_LANGUAGES: Readonly<Record<string, BookingTexts>> = { en, de, fr, es, it, pt, nl, ja, ar }

/** In the language of the link, else the best of `Accept-Language`, else English. */
export function bookingTexts(locale: string | undefined, acceptLanguage: string | undefined): BookingTranslate {
  const language = chooseLanguage(locale, acceptLanguage, BOOKING_LANGUAGES)
  return translateWith(language, BOOKING_LANGUAGES[language] ?? en)
}
