import { type Html, html, trustedHtml } from '../../platform/formats/html.ts'
import { type BookingContext, bookingDocument, moduleScript } from './layout.ts'

interface BookPage {
  slug: string
  name: string
  description: string
  /** The attributes of the link, by name of the widget's attribute. Omitted ones are left to the widget. */
  attributes: Readonly<Record<string, string>>
}

/** The page of an experience: title and description for everybody, and the widget. */
export function bookPage(context: BookingContext, page: BookPage): string {
  const { t } = context
  const title = t('book.title', { name: page.name })
  return bookingDocument(context, {
    title,
    description: page.description,
    isWide: true,
    hasWidget: true,
    body: widget(context, page),
  })
}

interface EmbedPage extends BookPage {
  /** The origin of the embedding page, if the experience allows it. Only then messages are sent and read. */
  pageOrigin: string | undefined
}

/** The widget draws the rest. No colour scheme: a frame with another one than its page has an opaque background. */
const FRAME_STYLE = `html,body,h1,p{margin:0}
body{display:flow-root;padding:2px}
h1{font-size:22px;font-weight:650;line-height:1.25;letter-spacing:-.018em;overflow-wrap:anywhere}
p{margin-top:8px;white-space:pre-line;overflow-wrap:anywhere;opacity:.82}`

/** The widget alone, for a frame. Its background is that of the embedding page. */
export function embedPage(context: BookingContext, page: EmbedPage): string {
  const { t, nonce } = context
  return html`<!doctype html>
<html lang="${t.language}" dir="${t.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${t('book.title', { name: page.name })}</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${trustedHtml(FRAME_STYLE)}</style>
${moduleScript(context, 'widget')}
${moduleScript(context, 'frame')}
</head>
<body>
<main>
${widget(context, page)}
</main>
</body>
</html>
`.markup
}

function widget({ t, root }: BookingContext, page: BookPage & Partial<EmbedPage>): Html {
  const attributes = { ...page.attributes, 'data-page-origin': page.pageOrigin }
  return html`<posthorn-scheduler api-base-url="${root}" experience-slug="${page.slug}"${Object.entries(attributes).map(
    ([name, value]) => value !== undefined && html` ${name}="${value}"`,
  )}>
<div slot="heading"><h1><bdi>${page.name}</bdi></h1>${page.description !== '' && html`<p class="lead"><bdi>${page.description}</bdi></p>`}</div>
<noscript><p>${t('book.noscript')}</p></noscript>
</posthorn-scheduler>`
}
