import { type Html, html } from '../../platform/formats/html.ts'
import { ICONS } from './icons.ts'
import type { PageContext } from './layout.ts'

/** Actions of the application in a connected mailbox, in display order. */
export type Grant =
  | 'read'
  | 'change'
  | 'send'
  | 'calendarRead'
  | 'calendarChange'
  | 'contactsRead'
  | 'contactsChange'
  | 'shared'

/** Lists the `added` grants first: those that a connected mailbox did not grant before. */
export function grantList(
  { brand, t }: PageContext,
  grants: readonly Grant[],
  added: readonly Grant[] = [],
): Html | false {
  if (grants.length === 0) return false
  const { name: app } = brand
  const list = (shown: readonly Grant[]) =>
    html`<ul>${shown.map((grant) => html`<li>${ICONS.check}${t(`grants.${grant}`)}</li>`)}</ul>`
  const titled = (key: 'grants.title' | 'grants.new') => (app === undefined ? t(key) : t(`${key}To`, { app }))
  const kept = grants.filter((grant) => !added.includes(grant))
  if (added.length === 0 || kept.length === 0) {
    return html`<div class="grants"><p>${titled('grants.title')}</p>${list(grants)}</div>`
  }
  return html`<div class="grants"><p>${titled('grants.new')}</p>${list(added)}<p>${t('grants.kept')}</p>${list(kept)}</div>`
}
