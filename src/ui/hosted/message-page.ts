import { type Html, html } from '../../lib/html.ts'
import { ICONS, type IconName } from './icons.ts'
import { document, type PageContext } from './layout.ts'

export interface ContinuePage {
  title: string
  /** One sentence below the title. */
  text: Html | string
  href: string
  label: string
  /** Success, or only a step on the way. */
  done: boolean
}

/** Leads on to `href`: by itself at once, or by the link. Never an HTTP redirect, which `form-action` would stop. */
export function continuePage(context: PageContext, page: ContinuePage): string {
  return document(context, {
    title: page.title,
    centred: true,
    refreshTo: page.href,
    body: html`<div class="badge${page.done ? ' good' : ''}">${page.done ? ICONS.check : ICONS.arrow}</div>
<h1>${page.title}</h1>
<p class="lead" role="status">${page.text}</p>
<a class="button primary" href="${page.href}" rel="noreferrer">${page.label}</a>`,
  })
}

export interface ErrorPage {
  icon: IconName
  /** Something is wrong, rather than over. Default false. */
  alarming?: boolean
  title: string
  text: string
  /** For whoever is asked for help. */
  code: string
  requestId: string
  action?: { href: string; label: string } | undefined
}

/** What went wrong and what to do about it. */
export function errorPage(context: PageContext, page: ErrorPage): string {
  return document(context, {
    title: page.title,
    centred: true,
    body: html`<div class="badge${page.alarming ? ' bad' : ''}">${ICONS[page.icon]}</div>
<h1>${page.title}</h1>
<p class="lead" role="alert" data-code="${page.code}">${page.text}</p>
${page.action !== undefined && html`<a class="button primary" href="${page.action.href}" rel="noreferrer">${page.action.label}</a>`}
<p class="small">${page.code} · ${page.requestId}</p>`,
  })
}
