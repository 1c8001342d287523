import * as Type from 'typebox'
import { html, trustedHtml } from '../../../platform/formats/html.ts'
import type { App } from '../../../platform/http/index.ts'

export interface PreviewDeps {
  /** The message with its HTML made safe. Throws not_found. */
  readSanitized(accountId: string, messageId: string): Promise<{ body: { html: string | null; text: string | null } }>
}

const params = Type.Object({ accountId: Type.String(), messageId: Type.String() })

/** Nothing runs, and nothing is loaded but what the message itself contains. It also holds when the address is opened by itself. */
const POLICY = [
  'sandbox allow-popups allow-popups-to-escape-sandbox',
  `default-src 'none'`,
  `style-src 'unsafe-inline'`,
  'img-src data:',
  `form-action 'none'`,
  `base-uri 'none'`,
  `frame-ancestors 'self'`,
].join('; ')

/** A message as a page for a sandboxed frame of the portal: a frame with the text of the page itself would have the portal's policy. */
export function previewRoutes(app: App, { readSanitized }: PreviewDeps): void {
  app.get(
    '/admin/previews/:accountId/:messageId',
    { config: { access: 'key:read' }, schema: { hide: true, params } },
    async ({ params: { accountId, messageId } }, reply) => {
      const { body } = await readSanitized(accountId, messageId)
      const content =
        body.html === null ? html`<pre>${body.text ?? ''}</pre>` : trustedHtml(withoutRemoteImages(body.html))
      reply
        .type('text/html; charset=utf-8')
        .headers({
          'cache-control': 'no-store',
          'content-security-policy': POLICY,
          'referrer-policy': 'no-referrer',
          'cross-origin-resource-policy': 'same-origin',
        })
        .serializer((text: string) => text)
      return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Message</title>
<style>
html { background: #fff; color: #1c1d21; color-scheme: light }
body { margin: 16px; font: 14px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
pre { white-space: pre-wrap; font: inherit; margin: 0 }
img { max-width: 100%; height: auto }
img:not([src]) { padding: 4px 8px; border: 1px dashed #9aa0a8; border-radius: 4px; color: #5a6169 }
table { max-width: 100% }
</style>
</head>
<body>${content}</body>
</html>`.toString()
    },
  )
}

/**
 * Images of other hosts would show the sender that the message was read; the policy refuses them, and without this each would also be
 * an error in the console. The sanitiser writes every attribute in this form and escapes quotes inside.
 */
function withoutRemoteImages(safe: string): string {
  return safe.replaceAll(/<img([^>]*?) src="(?!data:)[^"]*"/g, '<img$1')
}
