// The template tag of the service's own pages: it escapes every value that is not HTML already.
import { importSource } from './source.mjs'

const { html, trustedHtml } = await importSource('src/platform/formats/html.ts')

export { html, trustedHtml }
