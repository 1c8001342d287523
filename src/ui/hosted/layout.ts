import { type Html, html, trustedHtml } from '../../platform/formats/html.ts'
import type { Brand } from './brand.ts'
import { ICONS } from './icons.ts'
import { hornFavicon, hornIcon } from './mark.ts'
import { SCRIPT } from './script.ts'
import { styleSheet } from './style.ts'
import type { Translate } from './texts/index.ts'

/** Values that every page is rendered with. */
export interface PageContext {
  brand: Brand
  /** New for each response; the Content-Security-Policy lists it. */
  nonce: string
  t: Translate
  /** Leads back to the application without a mailbox. Undefined on pages without an open session. */
  cancelHref?: string | undefined
}

interface PageParts {
  title: string
  body: Html
  /** For a message without a form. */
  centred?: boolean
  /** A page of Posthorn, which shows its mark unless there is another brand. */
  isOwn?: boolean
  /** The page sends the browser to this URL at once. */
  refreshTo?: string
  /** A line under the card. */
  footnote?: Html
}

/** A complete HTML document. The brand's logo is the only external resource. */
export function document(context: PageContext, parts: PageParts): string {
  const { brand, nonce, t } = context
  const page = html`<!doctype html>
<html lang="${t.language}" dir="${t.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${parts.title}${brand.name === undefined ? '' : ` · ${brand.name}`}</title>
${parts.refreshTo !== undefined && html`<meta http-equiv="refresh" content="0;url=${parts.refreshTo}">`}
<link rel="icon" href="${parts.isOwn ? hornFavicon() : 'data:,'}">
<style nonce="${nonce}">${trustedHtml(styleSheet(brand))}</style>
</head>
<body>
<main>
<div class="card${parts.centred ? ' centred' : ''}">
${heading(brand, parts)}
${parts.body}
</div>
</main>
${footer(context, parts.footnote)}
<script nonce="${nonce}">${trustedHtml(SCRIPT)}</script>
</body>
</html>
`
  return page.markup
}

/** The way back to the application, below a form. */
export function cancelLink({ cancelHref, t }: PageContext): Html | false {
  return (
    cancelHref !== undefined && html`<a class="cancel" href="${cancelHref}" rel="noreferrer">${t('page.cancel')}</a>`
  )
}

function heading(brand: Brand, { centred, isOwn }: PageParts): Html | undefined {
  // A message page already shows an icon.
  if (centred && brand.logo === undefined && brand.name === undefined) return undefined
  return (
    brandLogo(brand) ??
    html`<div class="brand"><span class="tile">${isOwn && brand.name === undefined ? trustedHtml(hornIcon()) : ICONS.mail}</span>${brand.name !== undefined && html`<span>${brand.name}</span>`}</div>`
  )
}

/** Undefined without a logo. */
export function brandLogo({ logo, logoDark, name }: Brand): Html | undefined {
  return (
    logo &&
    html`<div class="brand"><picture>${logoDark !== undefined && html`<source media="(prefers-color-scheme: dark)" srcset="${logoDark.url}">`}<img src="${logo.url}" alt="${name ?? ''}" referrerpolicy="no-referrer"></picture></div>`
  )
}

/** To the help and the privacy policy of the operator; undefined without any. */
export function brandLinks(brand: Brand, text: (key: 'page.help' | 'page.privacy') => string): Html | undefined {
  const links = [
    { href: brand.supportUrl, text: text('page.help') },
    { href: brand.privacyUrl, text: text('page.privacy') },
  ].filter((link) => link.href !== undefined)
  if (links.length === 0) return undefined
  return html`<p class="links">${links.map((link) => html`<a href="${link.href}" target="_blank" rel="noreferrer noopener">${link.text}</a>`)}</p>`
}

function footer({ brand, t }: PageContext, footnote: Html | undefined): Html | undefined {
  const links = brandLinks(brand, t)
  if (footnote === undefined && links === undefined) return undefined
  return html`<footer>${footnote}${links}</footer>`
}
