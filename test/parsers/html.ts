import { sanitizeHtml } from '../../src/mail/messages/sanitizing/sanitize.ts'
import { trackedHtml } from '../../src/mail/tracking/tracked-html.ts'
import { buildCases, type HostileCase } from './hostile-case.ts'
import { HTML } from './mime.ts'

const LONG = 256 * 1024

export const HTML_BODIES: HostileCase[] = [
  ...buildCases(
    'HTML to show',
    { totalMs: 300 },
    HTML.map(([shape, text]) => ({
      shape,
      size: LONG,
      prepare(size: number) {
        const html = text(size)
        return () => sanitizeHtml(html)
      },
    })),
  ),
  ...buildCases(
    'HTML to track',
    { totalMs: 300 },
    HTML.map(([shape, text]) => ({
      shape,
      size: LONG,
      prepare(size: number) {
        const html = text(size)
        return () => trackedHtml(html, { pixel: '<img>', linkUrl: (number) => `https://t.example/${number}` })
      },
    })),
  ),
]
