import { type Html, html } from '../../lib/html.ts'
import { ICONS } from './icons.ts'
import type { PageContext } from './layout.ts'

/** What the application can do with the mailbox once it is connected, in display order. */
export type Grant = 'read' | 'change' | 'send' | 'calendarRead' | 'calendarChange'

export function grantList({ brand, t }: PageContext, grants: readonly Grant[]): Html | false {
  if (grants.length === 0) return false
  const title = brand.name === undefined ? t('grants.title') : t('grants.titleTo', { app: brand.name })
  return html`<div class="grants"><p>${title}</p><ul>${grants.map((grant) => html`<li>${ICONS.check}${t(`grants.${grant}`)}</li>`)}</ul></div>`
}
