import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Formats } from './formats.ts'
import type { Locale, Translate } from './texts/index.ts'

/** Values that every part of the widget is rendered with. */
export interface View {
  t: Translate
  locale: Locale
  formats: Formats
}

export const ViewContext = createContext<View | undefined>(undefined)

export function useView(): View {
  const view = useContext(ViewContext)
  if (view === undefined) throw new Error('There is no view.')
  return view
}
