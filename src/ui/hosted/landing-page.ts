import { html } from '../../platform/formats/html.ts'
import { ICONS } from './icons.ts'
import { document, type PageContext } from './layout.ts'

/** Relative to the page, so that the links work at any address of the service. */
const LINKS = [
  { href: 'docs', name: 'reference' },
  { href: 'docs/errors', name: 'errors' },
  { href: 'openapi.json', name: 'openapi' },
  { href: 'health', name: 'health' },
] as const

/** Shows visitors that the service runs, and where its documentation is. */
export function landingPage(context: PageContext): string {
  const { t } = context
  return document(context, {
    title: t('site.title'),
    body: html`<h1>${t('site.title')}</h1>
<p class="lead">${t('site.lead')}</p>
<ul class="links">${LINKS.map(
      ({ href, name }) =>
        html`<li><a href="${href}"><span><span>${t(`site.${name}`)}</span> <small>${t(`site.${name}Hint`)}</small></span>${ICONS.chevron}</a></li>`,
    )}</ul>`,
    footnote: html`<p>${t('site.visitor')}</p>`,
  })
}
