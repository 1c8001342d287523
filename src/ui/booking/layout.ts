import { type Html, html, trustedHtml } from '../../platform/formats/html.ts'
import { type Brand, brandLinks, brandLogo, styleSheet } from '../hosted/index.ts'
import type { BookingTranslate } from './texts/index.ts'

/** Values that every booking page is rendered with. */
export interface BookingContext {
  brand: Brand
  /** New for each response; the Content-Security-Policy lists it. Only the style sheet needs it: scripts are files. */
  nonce: string
  t: BookingTranslate
  /** The service as seen from the page: `..` or deeper. The path at which a proxy serves it may be unknown. */
  root: string
  /** The scripts of the page, by name, as the service serves them. */
  scripts: Readonly<Record<'widget' | 'frame', string>> & { preloads: readonly string[] }
}

interface BookingParts {
  title: string
  body: Html
  description?: string
  /** For the calendar; other pages are a narrow card. */
  isWide?: boolean
  /** Pages of a booking are for the holder of its link only. */
  isPrivate?: boolean
  hasWidget?: boolean
}

/** A complete HTML document without inline scripts. The brand's logo is the only external resource. */
export function bookingDocument(context: BookingContext, parts: BookingParts): string {
  const { brand, nonce, t } = context
  const page = html`<!doctype html>
<html lang="${t.language}" dir="${t.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${parts.isPrivate && html`<meta name="robots" content="noindex, nofollow">`}
<meta name="color-scheme" content="light dark">
<title>${parts.title}${brand.name !== undefined && ` · ${brand.name}`}</title>
${parts.description && html`<meta name="description" content="${parts.description}">`}
<link rel="icon" href="data:,">
<style nonce="${nonce}">${trustedHtml(styleSheet(brand) + STYLE)}</style>
${parts.hasWidget && moduleScript(context, 'widget')}
</head>
<body>
<main${parts.isWide && html` class="wide"`}>
${parts.isWide ? html`${brandMark(brand)}${parts.body}` : html`<div class="card">${brandMark(brand)}${parts.body}</div>`}
</main>
${footer(context)}
</body>
</html>
`
  return page.markup
}

export function moduleScript({ root, scripts }: BookingContext, name: 'widget' | 'frame'): Html {
  const preloads = name === 'widget' ? scripts.preloads : []
  return html`${preloads.map((file) => html`<link rel="modulepreload" href="${root}/embed/v1/${file}">`)}<script type="module" src="${root}/embed/v1/${scripts[name]}"></script>`
}

function brandMark(brand: Brand): Html | undefined {
  return (
    brandLogo(brand) ??
    (brand.name === undefined ? undefined : html`<div class="brand"><span>${brand.name}</span></div>`)
  )
}

function footer({ brand, t }: BookingContext): Html | undefined {
  const links = brandLinks(brand, t)
  return links && html`<footer>${links}</footer>`
}

const STYLE = `
main.wide{max-width:1012px;padding:40px 16px 32px}
.wide>.brand{margin:0 4px 18px}
posthorn-scheduler{--posthorn-shadow:var(--shadow)}
posthorn-scheduler:not(:defined){display:block;min-height:480px;padding:32px 28px;background:var(--card);border:1px solid var(--line);border-radius:16px;box-shadow:var(--shadow)}
posthorn-scheduler:not(:defined):not(:has(noscript p))::after{content:"";display:block;max-width:445px;height:230px;margin-top:28px;background:radial-gradient(circle 20px,var(--line) 98%,transparent) 0 0/calc(100%/7) 46px}
posthorn-scheduler .lead{white-space:pre-line}
noscript p{max-width:46ch;margin:20px 0 0;padding:12px 14px;border-radius:10px;background:var(--tint)}
.state{display:inline-flex;align-items:center;gap:6px;margin:0 0 10px;padding:3px 11px 3px 9px;border-radius:99px;background:var(--tint);color:var(--accent-text);font-size:13px;font-weight:600}
.state.good{background:var(--good-tint);color:var(--good)}
.state.bad{background:var(--danger-tint);color:var(--danger)}
.state svg{width:15px;height:15px}
.facts{display:grid;gap:10px;margin:20px 0 0;padding:0;list-style:none}
.facts li{display:grid;grid-template-columns:20px minmax(0,1fr);gap:10px;overflow-wrap:anywhere}
.facts li:first-child{font-weight:600}
.facts svg{width:20px;height:20px;margin-top:1px;color:var(--accent-text)}
.facts s{color:var(--soft)}
.facts+.button,.lead+.button{margin-top:24px}
.facts+.lead{margin-top:20px}
form+.button{margin-top:12px}
.calendars{margin:20px 0 0}
.calendars h2{margin:0;font-size:14px;font-weight:550}
.calendars p{display:grid;grid-template-columns:1fr 1fr;gap:8px;margin:10px 0 0}
.calendars a{direction:ltr;padding:8px 4px;text-align:center;border:1px solid var(--edge);border-radius:10px;font-size:14px;font-weight:550;text-decoration:none}
.calendars a:hover{border-color:var(--ring);background:var(--tint)}
.calendars+.button{margin-top:24px}
.card>details{margin:18px 0 0;border-bottom:0}
.card>details form{margin:4px 0 0}
.danger{background:transparent;border-color:var(--danger);color:var(--danger)}
.danger:hover{background:var(--danger-tint)}
.above{display:inline-flex;align-items:center;gap:6px;margin:0 4px 14px;padding:4px 0;font-size:14px}
.above svg{width:16px;height:16px}
[dir=rtl] .above svg{transform:scaleX(-1)}
@media (max-width:600px){main.wide{padding:12px 8px 20px}.wide>.brand{margin:6px 8px 14px}}
`
