import { type Html, html, trustedHtml } from '../../platform/formats/html.ts'

/** Line icons on a 24 px grid. They are decoration only: the text beside them carries the meaning. */
function icon(paths: string): Html {
  return trustedHtml(
    `<svg viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${paths}</svg>`,
  )
}

export const ICONS = {
  mail: icon('<rect x="3" y="5" width="18" height="14" rx="3"/><path d="m4 8 6.6 5a2.3 2.3 0 0 0 2.8 0L20 8"/>'),
  check: icon('<path d="m5 12.5 4.5 4.5L19 7.5"/>'),
  lock: icon('<rect x="5" y="10.5" width="14" height="9.5" rx="2.5"/><path d="M8.5 10.5V7.5a3.5 3.5 0 0 1 7 0v3"/>'),
  clock: icon('<circle cx="12" cy="12" r="8.5"/><path d="M12 7.5V12l3 2"/>'),
  link: icon(
    '<path d="M10 14a4 4 0 0 0 5.7 0l2.6-2.6a4 4 0 0 0-5.7-5.7l-.9.9"/><path d="M14 10a4 4 0 0 0-5.7 0l-2.6 2.6a4 4 0 0 0 5.7 5.7l.9-.9"/>',
  ),
  alert: icon('<circle cx="12" cy="12" r="8.5"/><path d="M12 8v4.5"/><path d="M12 15.9v.1"/>'),
  arrow: icon('<path d="M5 12h14"/><path d="m13 6 6 6-6 6"/>'),
  back: icon('<path d="M19 12H5"/><path d="m11 6-6 6 6 6"/>'),
  chevron: icon('<path d="m9 6 6 6-6 6"/>'),
} as const

/** Our own drawings, not the providers' logos, in the colour of the text like every icon. */
const MARKS: Readonly<Record<string, Html>> = {
  Google: icon('<rect x="3" y="5" width="18" height="14" rx="3"/><path d="M7 15.5v-6l5 3.8 5-3.8v6"/>'),
  Microsoft: icon(
    '<rect x="4" y="4" width="7" height="7" rx="1.5"/><rect x="13" y="4" width="7" height="7" rx="1.5"/><rect x="4" y="13" width="7" height="7" rx="1.5"/><rect x="13" y="13" width="7" height="7" rx="1.5"/>',
  ),
  iCloud: icon('<path d="M7.2 18.5a4.2 4.2 0 0 1-.5-8.4 5.4 5.4 0 0 1 10.5 1.2 3.7 3.7 0 0 1-.4 7.2z"/>'),
  Proton: icon(
    '<path d="M12 3.5 19 6v5.5c0 4.3-2.9 7.4-7 9-4.1-1.6-7-4.7-7-9V6z"/><path d="M9.5 16V8.5H13a2.4 2.4 0 0 1 0 4.8H9.5"/>',
  ),
}
const DRAWN_AS: Readonly<Record<string, string>> = { Gmail: 'Google', Outlook: 'Microsoft' }

/** The mark of a mail provider: drawn for the largest, its initial for others, an envelope for an unknown one. */
export function providerMark(name: string | undefined): Html {
  if (name === undefined) return ICONS.mail
  const [first = ''] = name.split(' ')
  const drawn = DRAWN_AS[first] ?? first
  return Object.hasOwn(MARKS, drawn)
    ? (MARKS[drawn] ?? ICONS.mail)
    : html`<span class="initial" aria-hidden="true">${[...name][0] ?? ''}</span>`
}

export type IconName = keyof typeof ICONS
