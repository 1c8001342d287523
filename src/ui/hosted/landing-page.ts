import { type Html, html } from '../../platform/formats/html.ts'
import { ICONS } from './icons.ts'
import { document, type PageContext } from './layout.ts'
import type { Translate } from './texts/index.ts'

/** Relative to the page, so that the links work at any address of the service. */
const LINKS = [
  { href: 'docs', name: 'docs' },
  { href: 'docs/errors', name: 'errors' },
  { href: 'openapi.json', name: 'openapi' },
  { href: 'health', name: 'health' },
] as const

export interface LandingPage {
  /** The page is the end of a sign-in that sent the browser here. */
  outcome?: 'connected' | 'notConnected' | undefined
  /** Undefined while the portal is off. */
  portal?: { signIn?: PortalSignIn | undefined } | undefined
}

/** Only for a service that no stranger can open. */
interface PortalSignIn {
  username: string
  /** Where the password is; never the password. */
  passwordIn: string
}

/** Shows visitors that the service runs, and where its portal and its documentation are. */
export function landingPage(context: PageContext, { outcome, portal }: LandingPage): string {
  const { t } = context
  return document(context, {
    title: t('site.title'),
    isOwn: true,
    body: html`<h1>${t('site.title')}</h1>
<p class="lead">${t('site.lead')}</p>
${outcome !== undefined && html`<p class="note" role="status">${t(`site.${outcome}`)}</p>`}
<ul class="links">${portal !== undefined && link('admin', t('site.portal'), portalHint(t, portal.signIn))}${LINKS.map(
      ({ href, name }) => link(href, t(`site.${name}`), t(`site.${name}Hint`)),
    )}</ul>`,
    footnote: html`<p>${t('site.visitor')}</p>`,
  })
}

function portalHint(t: Translate, signIn: PortalSignIn | undefined): string {
  if (signIn === undefined) return t('site.portalHint')
  return t('site.portalSignIn', { user: signIn.username, place: signIn.passwordIn })
}

function link(href: string, name: string, hint: string): Html {
  return html`<li><a href="${href}"><span><span>${name}</span> <small>${hint}</small></span>${ICONS.chevron}</a></li>`
}
