import { type Html, html } from '../../platform/formats/html.ts'
import { ICONS } from './icons.ts'
import type { TextKey, Translate } from './texts/index.ts'

/** How a user gets what the provider requires before another app can sign in. */
export interface Guide {
  title: TextKey
  steps: readonly GuideStep[]
}

export interface GuideStep {
  /** With `{menu}` and `{link}` as places for the values below. */
  text: TextKey
  menu?: readonly MenuName[]
  /** A page of the provider, which opens in a new tab. */
  link?: string
}

/** A name in the provider's menus: translated where the provider translates its menus, else as it is there. */
type MenuName = { key: TextKey } | string

export function guideList(t: Translate, { title, steps }: Guide, isOpen: boolean): Html {
  return html`<details class="guide"${isOpen && html` open`}><summary>${ICONS.chevron}${t(title)}</summary>
<ol>${steps.map(({ text, menu = [], link }) => html`<li>${t.html(text, { menu: menuPath(t, menu), link: linkTo(t, link) })}</li>`)}</ol>
</details>`
}

function menuPath(t: Translate, names: readonly MenuName[]): Html {
  const parts = names.map((name) => html`<b>${typeof name === 'string' ? html`<bdi>${name}</bdi>` : t(name.key)}</b>`)
  return html`${parts.map((part, index) => (index === 0 ? part : html` &rsaquo; ${part}`))}`
}

function linkTo(t: Translate, link: string | undefined): Html | string {
  if (link === undefined) return ''
  const label = link.replace(/^https:\/\//, '')
  return html`<a href="${link}" target="_blank" rel="noopener noreferrer"><bdi>${label}</bdi><span class="unseen"> (${t('guide.newTab')})</span></a>`
}
