import { type Html, html } from '../../platform/formats/html.ts'
import { ICONS, type IconName } from './icons.ts'
import { document, type PageContext } from './layout.ts'

interface ContinuePage {
  title: string
  /** One sentence below the title. */
  text: Html | string
  href: string
  label: string
  /** True shows a check mark; false shows an arrow, for a step on the way. */
  done: boolean
}

/**
 * Sends the browser to `href` at once; a link is the fallback. It is never an HTTP redirect, because browsers apply the
 * `form-action` directive to redirects that follow a form post.
 */
export function continuePage(context: PageContext, page: ContinuePage): string {
  return document(context, {
    title: page.title,
    centred: true,
    refreshTo: page.href,
    body: html`<div class="badge${page.done ? ' good' : ' arrow'}">${page.done ? ICONS.check : ICONS.arrow}</div>
<h1>${page.title}</h1>
<p class="lead" role="status">${page.text}</p>
<a class="button primary" href="${page.href}" rel="noreferrer">${page.label}</a>`,
  })
}

export interface ErrorPage {
  icon: IconName
  /** Shows the icon in red: a failure, rather than a link that was used or has expired. Default false. */
  alarming?: boolean
  title: string
  text: string
  /** Error code and request id, which the user can quote to support. */
  code: string
  requestId: string
  action?: PageLink | undefined
  /** Leads back to the application. */
  returnTo?: PageLink | undefined
}

interface PageLink {
  href: string
  label: string
}

/** Explains what failed and what the user can do. */
export function errorPage(context: PageContext, page: ErrorPage): string {
  return document(context, {
    title: page.title,
    centred: true,
    body: html`<div class="badge${page.alarming ? ' bad' : ''}">${ICONS[page.icon]}</div>
<h1>${page.title}</h1>
<p class="lead" role="alert" data-code="${page.code}">${page.text}</p>
${page.action !== undefined && link(page.action, 'primary')}${
  page.returnTo !== undefined && link(page.returnTo, page.action === undefined ? 'primary' : 'secondary')
}
<p class="small"><span>${page.code}</span> <span>${page.requestId}</span></p>`,
  })
}

function link({ href, label }: PageLink, rank: 'primary' | 'secondary'): Html {
  return html`<a class="button ${rank}" href="${href}" rel="noreferrer">${label}</a>`
}
