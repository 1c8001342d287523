/** The texts of the steps that follow the choice of a slot. A module of the later script, so that the first one does not list the files. */
import type { Languages, StepTexts } from '../index.ts'

/** Those of `LANGUAGES`. */
export const STEP_LANGUAGES: Languages<StepTexts> = {
  en: () => import('./steps-en.ts'),
  de: () => import('./steps-de.ts'),
  fr: () => import('./steps-fr.ts'),
  es: () => import('./steps-es.ts'),
  it: () => import('./steps-it.ts'),
  pt: () => import('./steps-pt.ts'),
  nl: () => import('./steps-nl.ts'),
  ja: () => import('./steps-ja.ts'),
  ar: () => import('./steps-ar.ts'),
}
